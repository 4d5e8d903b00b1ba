"""Figures as SVG: pure drawing, one figure a file.

Each module has one function that takes numbers and gives an SVG document.  What a figure shows in
words (caption, alternative text) is written by the section that asks for it.
"""

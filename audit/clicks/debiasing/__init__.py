"""Relevance from clicks, with what position did to them taken out."""

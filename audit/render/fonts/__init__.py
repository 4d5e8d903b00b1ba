"""The fonts of the PDF and the figures: see README.md."""

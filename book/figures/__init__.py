"""Still pictures and tables of the book's own pages.

Each function takes plain numbers (from `sim`, never typed here) and returns an object that a notebook or
Sphinx shows: an inline SVG that follows the page's light or dark colours, or an HTML table. No function in
this package computes anything that the simulation could state.
"""

from book.figures.svg import Picture
from book.figures.table import Table

__all__ = ["Picture", "Table"]

"""The book's pages, and the two packages beside them: ``build`` makes the book, ``course`` checks notebooks."""

"""The course: assignments from one source, their checks, a sandbox for what students hand in, and grades.

Run ``python -m book.course`` for what it can do.
"""

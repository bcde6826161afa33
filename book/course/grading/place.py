"""A course directory: who handed in what, and where grading keeps things."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from sim.exercises.identity import NoStudent, tidy

from ...build.report import Refusal
from .. import config


@dataclass(frozen=True)
class Course:
    """Folders of a course; all but `submitted` and the gradebook can be made again.

    Attributes
    ----------
    root
        The folder with ``nbgrader_config.py``.
    """

    root: Path

    @classmethod
    def at(cls, folder: Path) -> Course:
        """The course in a folder.

        Raises
        ------
        Refusal
            if there is none, with how to make one.
        """
        if not (folder / config.NAME).exists():
            raise Refusal(f"{folder} is no course: python -m book.course generate {folder} makes one")
        return cls(folder.resolve())

    @property
    def submitted(self) -> Path:
        """What was handed in, as nbgrader collects it; never written to."""
        return self.root / "submitted"

    @property
    def prepared(self) -> Path:
        """Of each hand-in a notebook that nbgrader can read, whatever was handed in."""
        return self.root / "grading" / "prepared"

    @property
    def store(self) -> Path:
        """Runs and verdicts, by what they follow from."""
        return self.root / "grading" / "store"

    @property
    def receipts(self) -> Path:
        """What has been graded for good."""
        return self.root / "grading" / "receipts"

    def students(self, assignment: str) -> list[str]:
        """Names of the folders that hold a hand-in, as they are spelled there; sorted.

        A folder whose name no student can have is passed over by `strangers`.
        """
        return [name for name in self._folders(assignment) if _possible(name)]

    def strangers(self, assignment: str) -> list[str]:
        """Folders with a hand-in whose name cannot be a student's id, and links to other places."""
        links = [path.name for path in self.submitted.glob("*") if path.is_symlink()]
        return [name for name in self._folders(assignment) if not _possible(name)] + sorted(links)

    def _folders(self, assignment: str) -> list[str]:
        if not self.submitted.is_dir():
            return []
        places = (path for path in self.submitted.iterdir() if path.is_dir() and not path.is_symlink())
        return sorted(path.name for path in places if (path / assignment).is_dir() or (path / assignment).is_symlink())

    def released(self, assignment: str) -> NotebookNode:
        """The student version.

        Raises
        ------
        Refusal
            if the assignment has not been released, with those that have.
        """
        path = self.root / "release" / assignment / f"{assignment}.ipynb"
        if not path.exists():
            there = ", ".join(sorted(each.name for each in (self.root / "release").glob("*"))) or "none yet"
            raise Refusal(f"{assignment} has not been released; released: {there}")
        return nbformat.read(path, as_version=4)


def identity(folder: str) -> str:
    """The student's id by the name of a folder: it draws the numbers, whatever the notebook says."""
    return tidy(folder)


def _possible(name: str) -> bool:
    try:
        name.encode("utf-8")
        # nbgrader takes folders for shell patterns, and commas for lists of students
        return bool(identity(name)) and not name.startswith(".") and not set(name) & set("*?[],") and _printable(name)
    except (NoStudent, UnicodeEncodeError):
        return False


def _printable(name: str) -> bool:
    return all(unicodedata.category(character)[0] != "C" for character in name)

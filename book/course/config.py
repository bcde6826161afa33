"""The ``nbgrader_config.py`` of a course directory.

Its paths are absolute: nbgrader runs commands and kernels in other folders, and a kernel that does not find ``sim``
gives everybody nothing.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
NAME: Final = "nbgrader_config.py"
STUB: Final = "# Write your code here."
TEXT_STUB: Final = "*Write your answer here.*"

_TEMPLATE: Final = '''\
"""Written by python -m book.course new; change what you like below the line, it stays.

Anything of nbgrader can be set here: https://nbgrader.readthedocs.io/en/stable/configuration/config_options.html
"""

import os
import sys

PROJECT = {project!r}
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (PROJECT, os.environ.get("PYTHONPATH", ""))))
sys.path.insert(0, PROJECT)

c = get_config()  # noqa: F821
c.CourseDirectory.course_id = {course!r}
c.CourseDirectory.root = {root!r}
c.ClearSolutions.code_stub = {{"python": {stub!r}}}
c.ClearSolutions.text_stub = {text_stub!r}
c.HTMLExporter.mathjax_url = ""  # feedback names no other host

from book.course import grading  # noqa: E402

grading.configure(c)  # autograde takes runs from the sandbox and verdicts from the checks

# ---- your own settings ----
'''


def text(root: Path, course: str = "receive-path") -> str:
    """The configuration for a course directory."""
    return _TEMPLATE.format(
        project=str(ROOT), root=str(root.resolve()), course=course, stub=STUB, text_stub=TEXT_STUB
    )

"""nbgrader in everybody's server; the teacher's course directory adds its own nbgrader_config.py."""

import os
import sys
import tomllib
from pathlib import Path

SETTINGS = tomllib.loads((Path(os.environ["RECEIVE_PATH_HUB"]) / "settings.toml").read_text(encoding="utf-8"))

c = get_config()  # noqa: F821
c.CourseDirectory.course_id = SETTINGS["course"]
c.Exchange.root = SETTINGS["exchange"]
if os.environ["JUPYTERHUB_USER"] in SETTINGS["teachers"]:
    c.CourseDirectory.root = str(Path(SETTINGS["course_folder"]).expanduser())
    if SETTINGS["clone"]:
        # the formgrader keeps what it read when the server started, which may be before there was a course directory:
        # without this its button Autograde would run students' code in the teacher's own account
        sys.path.insert(0, SETTINGS["clone"])
        from book.course import grading

        grading.configure(c)
else:
    # the hub's name is what a hand-in is filed under, and what draws a student's numbers
    c.CourseDirectory.student_id = os.environ["JUPYTERHUB_USER"]

"""nbgrader in everybody's server; the teacher's course directory adds its own nbgrader_config.py.

What differs comes from the hub, in the environment: settings.toml names students and is the hub's alone.
"""

import os
import sys
from pathlib import Path

c = get_config()  # type: ignore[name-defined]  # noqa: F821
c.CourseDirectory.course_id = os.environ["RECEIVE_PATH_COURSE"]
c.Exchange.root = os.environ["RECEIVE_PATH_EXCHANGE"]
if os.environ["RECEIVE_PATH_ROLE"] == "teacher":
    c.CourseDirectory.root = str(Path(os.environ["RECEIVE_PATH_FOLDER"]).expanduser())
    if os.environ["RECEIVE_PATH_CLONE"]:
        # the formgrader keeps what it read when the server started, which may be before there was a course directory:
        # without this its button Autograde would run students' code in the teacher's own account
        sys.path.insert(0, os.environ["RECEIVE_PATH_CLONE"])
        from book.course import grading

        grading.configure(c)
else:
    # the hub's name is what a hand-in is filed under, and what draws a student's numbers
    c.CourseDirectory.student_id = os.environ["JUPYTERHUB_USER"]

"""nbgrader in every server of a cluster: hand-ins go to ngshare, since no folder is shared."""

import os

from ngshare_exchange import configureExchange

c = get_config()  # noqa: F821
configureExchange(c)
c.CourseDirectory.course_id = "receive-path"
if os.environ.get("RECEIVE_PATH_ROLE") == "teacher":
    c.CourseDirectory.root = os.path.expanduser("~/course")  # noqa: PTH111
else:
    c.CourseDirectory.student_id = os.environ["JUPYTERHUB_USER"]

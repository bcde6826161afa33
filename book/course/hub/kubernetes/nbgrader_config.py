"""nbgrader in every server of a cluster: hand-ins go to ngshare, since no folder is shared.

ngshare takes the student from the hub's token, and refuses a hand-in that names one.
"""

import os
from pathlib import Path

from ngshare_exchange import configureExchange

c = get_config()  # type: ignore[name-defined]  # noqa: F821
configureExchange(c, os.environ.get("NGSHARE_ADDRESS"))  # none: where the chart puts it
c.CourseDirectory.course_id = "receive-path"
if os.environ.get("RECEIVE_PATH_ROLE") == "teacher":
    c.CourseDirectory.root = str(Path("~/course").expanduser())

"""The hub of one server; `make hub` copies this beside settings.toml, which holds what you change.

Anything of JupyterHub can be set below or in another file that loads this one:
https://jupyterhub.readthedocs.io/en/5.5.0/reference/config-reference.html
"""

import os
import sys
import tomllib
from pathlib import Path

HERE = Path(__file__).resolve().parent
SETTINGS = tomllib.loads((HERE / "settings.toml").read_text(encoding="utf-8"))

c = get_config()  # type: ignore[name-defined]  # noqa: F821
c.JupyterHub.bind_url = SETTINGS["address"]
c.JupyterHub.db_url = f"sqlite:///{HERE / 'state' / 'jupyterhub.sqlite'}"
c.JupyterHub.cookie_secret_file = str(HERE / "state" / "cookie_secret")
c.ConfigurableHTTPProxy.command = [str(HERE / "proxy" / "node_modules" / ".bin" / "configurable-http-proxy")]
c.ConfigurableHTTPProxy.pid_file = str(HERE / "state" / "proxy.pid")

# who may come in; who they are is the authenticator's business, PAM unless you choose another
teachers, students = set(SETTINGS["teachers"]), set(SETTINGS["students"])
c.Authenticator.allowed_users = teachers | students
c.Authenticator.allow_all = SETTINGS["everybody"]

c.Spawner.cmd = [sys.executable, str(HERE / "singleuser.py")]
c.Spawner.default_url = "/lab"
c.Spawner.start_timeout = 120
c.Spawner.http_timeout = 120
c.Spawner.environment = {
    # nbgrader calls alembic by its name
    "PATH": os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath))),
}
if SETTINGS["spawner"] == "systemd":
    c.JupyterHub.spawner_class = "systemd"
    c.SystemdSpawner.mem_limit = SETTINGS["memory"]
    c.SystemdSpawner.cpu_limit = SETTINGS["cpus"]
    c.SystemdSpawner.isolate_tmp = True
    c.SystemdSpawner.isolate_devices = True
    c.SystemdSpawner.disable_user_sudo = True


def before_start(spawner):
    """Give a teacher's server the teacher's configuration, everybody else's the students'."""
    role = "teacher" if spawner.user.name in teachers else "student"
    told = {
        "JUPYTER_CONFIG_PATH": str(HERE / "etc" / role), "RECEIVE_PATH_ROLE": role,
        "RECEIVE_PATH_COURSE": SETTINGS["course"], "RECEIVE_PATH_EXCHANGE": SETTINGS["exchange"],
    }
    if role == "teacher":
        told |= {"RECEIVE_PATH_FOLDER": SETTINGS["course_folder"], "RECEIVE_PATH_CLONE": SETTINGS["clone"]}
        if SETTINGS["clone"]:
            told["PYTHONPATH"] = SETTINGS["clone"]
    spawner.environment = {**spawner.environment, **told}


c.Spawner.pre_spawn_hook = before_start

c.JupyterHub.load_roles = [
    {
        "name": "idle-culler",
        "scopes": ["list:users", "read:users:activity", "read:servers", "delete:servers"],
        "services": ["idle-culler"],
    },
]
c.JupyterHub.services = [
    {
        "name": "idle-culler",
        "command": [sys.executable, "-m", "jupyterhub_idle_culler", f"--timeout={int(SETTINGS['idle_minutes'] * 60)}"],
    },
]

"""The exchange of a cluster, on one machine: ngshare as a service of a hub on the loopback device.

Roles, tokens and nbgrader's configuration are those of the values for Kubernetes; pods, volumes and network policies
are not here.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from book.build.places import ROOT

from . import loopback
from .classroom import needs_sandbox
from .test_hub import ASSIGNMENT, COURSE, INSTALLED, change_hands, formgrader, listed, shell

CLUSTER = ROOT / "book" / "course" / "hub" / "kubernetes"
#: ngshare 0.6.0 adds rows in a way that SQLAlchemy 2 ignores in silence: what was released is then in nobody's list.
SERVICE = ("ngshare==0.6.0", "SQLAlchemy==1.4.54", "alembic==1.13.3")
EXCHANGE = ("ngshare_exchange==0.5.3",)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not INSTALLED, reason="no hub is installed: make hub"),
    needs_sandbox,
]

_MORE = '''
import os
c.JupyterHub.services.append({
    "name": "ngshare", "url": "http://127.0.0.1:@port",
    "command": [PYTHON, "-m", "ngshare", "--admins", "teacher", "--database", "sqlite:///@folder/ngshare.db",
                "--storage", "@folder/ngshare/"],
    "environment": {"PYTHONPATH": "@folder/service"},
})
c.JupyterHub.load_roles.append({"name": "user", "scopes": USER_SCOPES})
EXTRA
hook = c.KubeSpawner.pre_spawn_hook

def both(spawner):
    before_ours(spawner)
    hook(spawner)
    spawner.environment["JUPYTER_CONFIG_PATH"] = "@folder/etc/" + spawner.environment["RECEIVE_PATH_ROLE"]
    paths = [spawner.environment.get("PYTHONPATH"), "@folder/exchange"]
    spawner.environment["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    spawner.environment["NGSHARE_ADDRESS"] = "@address/services/ngshare"

c.Spawner.pre_spawn_hook = both
'''


def fetch(folder: Path, packages: tuple[str, ...]) -> None:
    done = subprocess.run(
        [loopback.PYTHON, "-m", "pip", "install", "--quiet", "--no-deps", "--target", folder, *packages],
        capture_output=True, text=True, check=False,
    )
    if done.returncode:
        pytest.skip(f"{packages[0]} cannot be installed: {done.stderr.strip().splitlines()[-1]}")


def test_hand_ins_go_through_ngshare_as_the_values_configure_it(tmp_path: Path) -> None:
    fetch(tmp_path / "service", SERVICE)
    fetch(tmp_path / "exchange", EXCHANGE)
    (tmp_path / "ngshare").mkdir()
    values = yaml.safe_load((CLUSTER / "values.yaml").read_text(encoding="utf-8"))["hub"]
    extra = values["extraConfig"]["10-roles"].replace('"TEACHER"', '"teacher"')
    more = _MORE.replace("USER_SCOPES", repr(values["loadRoles"]["user"]["scopes"]))
    more = "before_ours = c.Spawner.pre_spawn_hook\n" + more.replace("EXTRA", extra).replace(
        "PYTHON,", f"{str(loopback.PYTHON)!r},"
    )
    with loopback.hub(tmp_path, ["ada"], more) as hub:
        for role in ("teacher", "student"):
            shutil.copyfile(CLUSTER / "nbgrader_config.py", tmp_path / "etc" / role / "nbgrader_config.py")
        teacher, ada = hub.server("teacher"), hub.server("ada")
        made = teacher.run(
            "import os, requests\n"
            f"there = '{hub.address}/services/ngshare'\n"
            "key = {'Authorization': 'token ' + os.environ['JUPYTERHUB_API_TOKEN']}\n"
            f"print(requests.post(there + '/course/{COURSE}', headers=key, "
            "data={'instructors': '[\"teacher\"]'}).text)\n"
            f"print(requests.post(there + '/student/{COURSE}/ada', headers=key, "
            "data={'first_name': '', 'last_name': '', 'email': ''}).text)"
        )
        assert made.count('"success": true') == 2, made
        written = shell(teacher, f"python -m book.course generate course {ASSIGNMENT} --no-test")
        assert written.split()[-1] == "0", written
        formgrader(teacher, f"assignment/{ASSIGNMENT}/release")
        assert [each["assignment_id"] for each in listed(ada, "released")] == [ASSIGNMENT]
        change_hands(ada, "fetch")
        change_hands(ada, "submit")
        formgrader(teacher, f"assignment/{ASSIGNMENT}/collect")
        assert [path.name for path in (hub.homes / "teacher/course/submitted").iterdir()] == ["ada"]
        graded = shell(teacher, f"python -m book.course grade course {ASSIGNMENT}")
        assert graded.split()[-1] == "0", graded
        formgrader(teacher, f"assignment/{ASSIGNMENT}/release_feedback")
        change_hands(ada, "fetch_feedback")
        assert listed(ada, "submitted")[0]["submissions"][0]["has_local_feedback"]

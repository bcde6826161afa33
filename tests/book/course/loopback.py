"""A hub on the loopback device, its users' servers, and what a browser would ask of them."""

from __future__ import annotations

import json
import os
import secrets
import signal
import socket
import subprocess
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import requests
import websocket

from book.build.places import BUILD, ROOT
from book.course.hub import install

INSTALLED: Final = BUILD / "hub"
PYTHON: Final = INSTALLED / "venv" / "bin" / "python"
START_S: Final = 60

_SETTINGS: Final = """\
course = "receive-path"
teachers = ["teacher"]
students = {students}
everybody = false
course_folder = "{course}"
clone = "{clone}"
exchange = "{exchange}"
spawner = "local"
memory = "1500M"
cpus = 1.0
idle_minutes = 60
address = "http://127.0.0.1:{port}"
"""

#: What a trial on one machine does otherwise than a server: names without accounts, and a service that acts for them.
_TRIAL: Final = """\
import os
c = get_config()
load_subconfig({config!r})
c.JupyterHub.authenticator_class = "dummy"
c.JupyterHub.spawner_class = "simple"
c.SimpleLocalProcessSpawner.home_dir_template = {homes!r} + "/{{username}}"
c.JupyterHub.hub_port = {hub_port}
c.ConfigurableHTTPProxy.api_url = "http://127.0.0.1:{api_port}"
c.Spawner.args = ["--allow-root"] if os.getuid() == 0 else []
c.JupyterHub.services.append({{"name": "browser", "api_token": {token!r}}})
c.JupyterHub.load_roles.append({{
    "name": "browser", "services": ["browser"],
    "scopes": ["admin:users", "admin:servers", "access:servers", "tokens"],
}})
"""


@dataclass
class Server:
    """One user's server, asked with that user's token."""

    address: str
    token: str

    def ask(self, method: str, path: str, **words: Any) -> Any:
        """One request; what it answers as data."""
        done = requests.request(
            method, f"{self.address}/{path}", headers={"Authorization": f"token {self.token}"}, timeout=120, **words
        )
        assert done.ok, f"{method} {path}: {done.status_code} {done.text[:2000]}"
        return done.json() if done.text else None

    def status(self, path: str) -> int:
        """The status of a GET."""
        headers = {"Authorization": f"token {self.token}"}
        return requests.get(f"{self.address}/{path}", headers=headers, timeout=60).status_code

    def run(self, code: str, seconds: float = 120) -> str:
        """Run code in a kernel of that server; what it prints."""
        kernel = self.ask("POST", "api/kernels", json={"name": "python3"})["id"]
        channel = websocket.create_connection(
            f"{self.address}/api/kernels/{kernel}/channels".replace("http", "ws", 1), timeout=seconds,
            header=[f"Authorization: token {self.token}"], suppress_origin=True,
        )
        asked = uuid.uuid4().hex
        channel.send(_message(asked, code))
        printed = []
        while True:
            told = _read(channel.recv())
            if told["parent_header"].get("msg_id") != asked:
                continue
            content = told["content"]
            if told["msg_type"] == "stream":
                printed.append(content["text"])
            elif told["msg_type"] == "error":
                printed.append(f"{content['ename']}: {content['evalue']}")
            elif told["msg_type"] == "status" and content["execution_state"] == "idle":
                break
        channel.close()
        self.ask("DELETE", f"api/kernels/{kernel}")
        return "".join(printed)


def _message(number: str, code: str) -> str:
    return json.dumps({
        "channel": "shell", "buffers": [], "metadata": {}, "parent_header": {},
        "header": {
            "msg_id": number, "msg_type": "execute_request", "session": "test", "username": "", "version": "5.3",
            "date": "2026-01-15T12:00:00Z",
        },
        "content": {
            "code": code, "silent": False, "store_history": False, "user_expressions": {}, "allow_stdin": False,
        },
    })


def _read(text: str | bytes) -> dict[str, Any]:
    return dict(json.loads(text))


@dataclass
class Hub:
    """A running hub."""

    address: str
    token: str
    folder: Path

    @property
    def homes(self) -> Path:
        """Where users' files are."""
        return self.folder / "homes"

    def server(self, name: str) -> Server:
        """Start a user's server, as a login would, and wait for it."""
        self.ask("POST", f"users/{name}", allowed=(201, 409))
        self.ask("POST", f"users/{name}/server", allowed=(201, 202))
        until = time.monotonic() + START_S
        while not self.ask("GET", f"users/{name}").json()["servers"].get("", {}).get("ready"):
            assert time.monotonic() < until, f"the server of {name} did not start:\n{self.log()}"
            time.sleep(0.3)
        token = self.ask("POST", f"users/{name}/tokens", allowed=(200, 201)).json()["token"]
        return Server(f"{self.address}/user/{name}", token)

    def ask(self, method: str, path: str, allowed: tuple[int, ...] = (200,)) -> requests.Response:
        """One request of the hub's own API."""
        done = requests.request(
            method, f"{self.address}/hub/api/{path}", headers={"Authorization": f"token {self.token}"}, timeout=60
        )
        assert done.status_code in allowed, f"{method} {path}: {done.status_code} {done.text[:1000]}"
        return done

    def log(self) -> str:
        """The end of what the hub and its servers said."""
        return "\n".join((self.folder / "log").read_text(errors="replace").splitlines()[-40:])


@contextmanager
def hub(folder: Path, students: list[str], more: str = "") -> Iterator[Hub]:
    """A hub with everything of its own in a folder, but for what `make hub` has installed.

    Parameters
    ----------
    more
        Configuration behind all other; ``@folder`` in it stands for the folder, ``@port`` for a free port,
        ``@address`` for the hub's.
    """
    for name in ("venv", "proxy", "shared", "compiled"):
        (folder / name).symlink_to(INSTALLED / name)
    port, hub_port, api_port = (_free() for _ in range(3))
    homes = folder / "homes"
    for name in ("teacher", *students):
        (homes / name).mkdir(parents=True)
    (folder / "settings.toml").write_text(_SETTINGS.format(
        students=students, course=homes / "teacher" / "course", clone=ROOT, exchange=folder / "exchange", port=port
    ))
    install.configure(folder)
    token = secrets.token_hex(16)
    trial = folder / "trial.py"
    trial.write_text(_TRIAL.format(
        config=str(folder / "jupyterhub_config.py"), homes=str(homes), hub_port=hub_port, api_port=api_port, token=token
    ))
    for word, value in {"@folder": folder, "@port": _free(), "@address": f"http://127.0.0.1:{port}"}.items():
        more = more.replace(word, str(value))
    with trial.open("a") as end:
        end.write(more)
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [PYTHON, "-m", "jupyterhub", "-f", str(trial)], cwd=folder / "state", stdout=log, stderr=subprocess.STDOUT,
            env={**kept, "HOME": str(folder), "CONFIGPROXY_AUTH_TOKEN": secrets.token_hex(16)}, start_new_session=True,
        )
    started = Hub(f"http://127.0.0.1:{port}", token, folder)
    try:
        until = time.monotonic() + START_S
        while not _answers(f"{started.address}/hub/api/"):
            assert process.poll() is None, f"the hub ended:\n{started.log()}"
            assert time.monotonic() < until, f"the hub does not answer:\n{started.log()}"
            time.sleep(0.3)
        yield started
    finally:
        process.send_signal(signal.SIGINT)  # it stops its proxy and the servers, too
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        _sweep(folder)


def _sweep(folder: Path) -> None:
    """End what a hub that died left behind: processes whose command or working directory is in its folder."""
    for place in Path("/proc").glob("[0-9]*"):
        try:
            inside = str(folder).encode() in (place / "cmdline").read_bytes()
            if inside or (place / "cwd").readlink().is_relative_to(folder):
                os.kill(int(place.name), signal.SIGTERM)
        except OSError:
            continue


def _answers(address: str) -> bool:
    try:
        return requests.get(address, timeout=5).ok
    except requests.ConnectionError:
        return False


def _free() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])

"""Processes that do not outlive the one that started them, however it ends."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
from collections.abc import Sequence
from typing import Any, Final

#: What a child is before it becomes its program: it has asked the kernel for SIGKILL at its parent's end, and then
#: looks whether that end came first. A command of its own does it, since Python may have threads by now, with which
#: no code of ours may run between fork and exec.
DIES_WITH: Final = ("setpriv", "--pdeathsig", "KILL", "--", "sh", "-c", '[ "$PPID" = "$0" ] && exec "$@"')
SAYS_WITHIN_S: Final = 10.0


class Failed(RuntimeError):
    """A command that ended with an error; the message holds the command and what it said."""


def start(command: Sequence[str], **options: Any) -> subprocess.Popen[str]:
    """Start a command; it gets no terminal, its output is kept apart, and Ctrl-C reaches it only through us.

    It ends with the thread that started it. Raises `Failed` if it cannot be started.
    """
    settings: dict[str, Any] = {
        "stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, **options,
    }
    try:
        return subprocess.Popen(
            [*DIES_WITH, str(os.getpid()), *command], start_new_session=True, env=_plain(), **settings
        )
    except OSError as error:
        raise Failed(f"{' '.join(command)}: {error}") from None


def run(command: Sequence[str], timeout_s: float = 20) -> str:
    """Run a command and return what it printed. Raises `Failed` for an error or when it takes too long."""
    process = start(command)
    try:
        out, err = process.communicate(timeout=timeout_s)
    except subprocess.TimeoutExpired:
        raise Failed(f"{' '.join(command)}: no end after {timeout_s:g} s") from None
    finally:
        stop(process)
    if process.returncode:
        said = (err or out).strip().splitlines() or ["it said nothing"]
        raise Failed(f"{' '.join(command)}: status {process.returncode}: {said[-1]}")
    return out


def line(process: subprocess.Popen[str], what: str, timeout_s: float = SAYS_WITHIN_S) -> str:
    """The next line of a process that prints one at a time. Raises `Failed` if it ends or is silent for too long."""
    assert process.stdout is not None
    if not select.select([process.stdout], [], [], timeout_s)[0]:
        raise Failed(f"{what} said nothing for {timeout_s:g} s")
    text = process.stdout.readline()
    if not text:
        raise ended_early(process, what)
    return text.strip()


def ended_early(process: subprocess.Popen[str], what: str) -> Failed:
    """The error for a process that has ended, or is about to, when it should not: with the last that it said."""
    try:
        _, err = process.communicate(timeout=SAYS_WITHIN_S)
    except subprocess.TimeoutExpired:
        err = ""
    return Failed(f"{what} ended early: {(err.strip().splitlines() or ['it said nothing'])[-1]}")


def stop(process: subprocess.Popen[Any]) -> None:
    """End a process and all that it started; returns when it is gone."""
    if process.poll() is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            stream.close()


def _plain() -> dict[str, str]:
    """The environment, in a language whose numbers our readers know."""
    return {**os.environ, "LC_ALL": "C"}

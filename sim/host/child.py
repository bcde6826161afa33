"""Processes that do not outlive the one that started them, however it ends."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
from collections.abc import Callable, Sequence
from typing import Any, Final

PR_SET_PDEATHSIG: Final = 1


class Failed(RuntimeError):
    """A command that ended with an error; the message holds the command and what it said."""


def dies_with(parent: int) -> Callable[[], None]:
    """What a child does before it becomes its program: ask the kernel for SIGKILL when the parent's thread ends.

    The request survives exec.  A parent that died in between would be missed, so the child looks once.
    """
    libc = ctypes.CDLL(None, use_errno=True)

    def prepare() -> None:
        if libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0) or os.getppid() != parent:
            os._exit(1)

    return prepare


def start(command: Sequence[str], **options: Any) -> subprocess.Popen[str]:
    """Start a command; it gets no terminal, its output is kept apart, and Ctrl-C reaches it only through us."""
    settings: dict[str, Any] = {
        "stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, **options,
    }
    return subprocess.Popen(
        list(command), preexec_fn=dies_with(os.getpid()), start_new_session=True, env=_plain(), **settings
    )


def run(command: Sequence[str], timeout_s: float = 20) -> str:
    """Run a command and return what it printed. Raises `Failed` for an error or when it takes too long."""
    process = start(command)
    try:
        out, err = process.communicate(timeout=timeout_s)
    except subprocess.TimeoutExpired:
        stop(process)
        raise Failed(f"{' '.join(command)}: no end after {timeout_s:g} s") from None
    except BaseException:
        stop(process)
        raise
    if process.returncode:
        said = (err or out).strip().splitlines() or ["it said nothing"]
        raise Failed(f"{' '.join(command)}: status {process.returncode}: {said[-1]}")
    return out


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

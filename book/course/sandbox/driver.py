"""Inside the sandbox: starts a kernel, runs cells one by one, and says on standard output how each went.

A job comes as JSON on standard input; a line of JSON goes out for each thing that happens, so that what was done is
known whenever this process ends, by itself or by a student's hand. Nothing here is trusted by its reader.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from pathlib import Path
from typing import Any

MB = 1 << 20


#: What every assignment needs; where it fails the grader is to blame, and nobody may get a zero for it.
PROBE = """
import sim.compiled, sim.exercises
if not sim.compiled.ready():
    raise RuntimeError("the engine is not compiled")
del sim
"""


def become(uid: int) -> None:
    """Give up root for good, if we have it: a limit on processes does not bind root."""
    if os.getuid() == 0 and uid:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)


def limit(limits: dict[str, Any]) -> None:
    """Set what the operating system limits for this process and all that come from it."""
    for what, size in (
        (resource.RLIMIT_DATA, limits["memory_mb"] * MB),
        (resource.RLIMIT_NPROC, limits["processes"]),
        (resource.RLIMIT_FSIZE, limits["disk_mb"] * MB),
        (resource.RLIMIT_CPU, int(limits["total_seconds"]) + 5),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NOFILE, 1024),
    ):
        resource.setrlimit(what, (size, size))


def link(compiled: str, into: str) -> None:
    """Show the compiled engine in a folder that can be written, which is all that Numba takes for a cache."""
    for path in Path(compiled).rglob("*"):
        if path.is_file():
            here = Path(into) / path.relative_to(compiled)
            here.parent.mkdir(parents=True, exist_ok=True)
            here.symlink_to(path)


def say(**record: Any) -> None:
    """Write one record."""
    sys.stdout.write(json.dumps(record) + "\n")
    sys.stdout.flush()


class Outputs:
    """A cell's outputs, up to a size; what comes after is counted and dropped."""

    def __init__(self, most: int) -> None:
        self.most, self.size, self.dropped = most, 0, 0
        self.kept: list[dict[str, Any]] = []

    def take(self, message: dict[str, Any]) -> None:
        """Add what a message of the kernel puts out."""
        kind, content = message["header"]["msg_type"], message["content"]
        if kind == "clear_output":
            self.kept, self.size = [], 0
        elif kind == "stream":
            self.stream(content["name"], content["text"])
        elif kind in ("display_data", "execute_result"):
            self.add({"output_type": kind, "data": content["data"]})
        elif kind == "error":
            self.add({"output_type": kind, **{name: content[name] for name in ("ename", "evalue", "traceback")}})

    def stream(self, name: str, text: str) -> None:
        """Add text to the last stream of that name, or begin one."""
        room = max(0, self.most - self.size)
        self.dropped += max(0, len(text) - room)
        text = text[:room]
        self.size += len(text)
        if not text:
            return
        if self.kept and self.kept[-1].get("name") == name:
            self.kept[-1]["text"] += text
        else:
            self.kept.append({"output_type": "stream", "name": name, "text": text})

    def add(self, output: dict[str, Any]) -> None:
        """Add an output that cannot be cut."""
        size = len(json.dumps(output))
        # an error is short and says what happened: it is kept even after a flood
        if self.size + size > self.most + (20_000 if output["output_type"] == "error" else 0):
            self.dropped += size
            return
        self.size += size
        self.kept.append(output)


class Kernel:
    """A running kernel and the one client that talks to it."""

    def __init__(self, limits: dict[str, Any]) -> None:
        from jupyter_client.manager import KernelManager

        self.limits = limits
        # sockets that are files: where no network is, and none is wanted
        self.manager: Any = KernelManager(kernel_name="python3", transport="ipc", ip=f"{os.environ['HOME']}/kernel")
        self.manager.start_kernel(extra_arguments=["--HistoryManager.enabled=False"])
        self.client: Any = self.manager.blocking_client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=limits["start_seconds"])

    def run(self, source: str, seconds: float, cpu_seconds: float) -> dict[str, Any]:
        """Run a cell; says how it ended: ok, error, timeout, dead or stuck (an interrupt did not stop it)."""
        from queue import Empty

        outputs = Outputs(self.limits["output_kb"] * 1000)
        asked = self.client.execute(source, store_history=False, allow_stdin=False, stop_on_error=False)
        began, cpu = time.monotonic(), self.cpu()
        deadline, status, reply, idle, replied = began + seconds, "", "", False, 0.0
        while True:
            try:
                message = self.client.get_iopub_msg(timeout=0.05)
                if message["parent_header"].get("msg_id") == asked:
                    idle = idle or message["content"].get("execution_state") == "idle"
                    outputs.take(message)
            except Empty:
                pass
            if not reply:
                try:
                    answer = self.client.get_shell_msg(timeout=0)
                    if answer["parent_header"].get("msg_id") == asked:
                        reply, replied = answer["content"]["status"], time.monotonic()
                except Empty:
                    pass
            now = time.monotonic()
            # a flood of output may lose the message that says idle, so it is not waited for long
            if reply and (idle or now > replied + 2):
                status = status or ("ok" if reply == "ok" else "error")
                break
            if not self.manager.is_alive():
                status = "dead"
                break
            if status and now > deadline:
                status = "stuck"
                break
            if not status and (now > deadline or self.cpu() > cpu + cpu_seconds):
                status, deadline = "timeout", now + self.limits["grace_seconds"]
                self.manager.interrupt_kernel()
        return {
            "status": status, "seconds": round(time.monotonic() - began, 3), "outputs": outputs.kept,
            "dropped": outputs.dropped, "signal": self.signal() if status == "dead" else 0,
        }

    def used(self) -> float:
        """Seconds of CPU of this process and of the kernel, which ends."""
        self.manager.shutdown_kernel(now=True)
        both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        return round(sum(each.ru_utime + each.ru_stime for each in both), 2)

    def cpu(self) -> float:
        """Seconds of CPU that the kernel has had; 0 when it has ended."""
        try:
            fields = Path(f"/proc/{self.manager.provisioner.pid}/stat").read_text().rpartition(")")[2].split()
        except (OSError, AttributeError):
            return 0.0
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def signal(self) -> int:
        """The signal that ended the kernel; 0 if none did."""
        process = getattr(self.manager.provisioner, "process", None)
        return max(0, -(getattr(process, "returncode", 0) or 0))


def main() -> None:
    """Run a job."""
    job = json.loads(sys.stdin.buffer.read())
    become(job["uid"])
    limit(job["limits"])
    work = Path(os.environ["HOME"]) / "work"
    work.mkdir(exist_ok=True)
    os.chdir(work)
    link("/compiled", os.environ["NUMBA_CACHE_DIR"])
    kernel = Kernel(job["limits"])
    tried = kernel.run(PROBE, job["limits"]["start_seconds"], job["limits"]["start_seconds"])
    if tried["status"] != "ok":
        raise SystemExit(f"sim does not work in the sandbox: {[o.get('evalue', '') for o in tried['outputs']]}")
    say(event="ready")
    until = time.monotonic() + job["seconds"]
    for cell in job["cells"]:
        left = until - time.monotonic()
        if left <= 0.2:
            say(event="late", cell=cell["index"])
            break
        say(event="begin", cell=cell["index"])
        seconds = min(job["limits"]["clock_seconds"], left)
        ended = kernel.run(cell["source"], seconds, job["limits"]["cell_seconds"])
        say(event="end", cell=cell["index"], **ended)
        if ended["status"] in ("dead", "stuck"):
            break
    else:
        say(event="done", cpu=kernel.used())
    # what still runs in here dies with this process, the first of its namespace
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()

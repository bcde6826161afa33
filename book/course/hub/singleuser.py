"""Starts one user's server; runs as that user.

Numba takes no cache that it cannot write, and compiling takes every student up to half a minute. So the engine that
was compiled once is shown in a folder of the user's own: links to files that everybody can read.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

SHARED = Path(__file__).resolve().parent / "compiled"


def show(shared: Path, own: Path, copied: bool = False) -> int:
    """Link or copy what is in a folder of compiled code into another one; returns how many files are new there."""
    new = 0
    for path in shared.rglob("*"):
        here = own / path.relative_to(shared)
        if not path.is_file() or here.exists():
            continue
        here.parent.mkdir(parents=True, exist_ok=True)
        here.unlink(missing_ok=True)  # a link to code of a release that is gone
        if copied:
            shutil.copyfile(path, here)
        else:
            here.symlink_to(path)
        new += 1
    return new


def main() -> None:
    """Show the compiled engine, then become the server."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    try:
        # a teacher's goes into sandboxes, where a link would lead nowhere
        show(SHARED, cache / "receive-path", copied=os.environ.get("RECEIVE_PATH_ROLE") == "teacher")
    except OSError as error:  # a full home still gets a server, to tidy up in
        print(f"the compiled engine is not shown: {error}", file=sys.stderr)
    program = Path(sys.executable).parent / "jupyterhub-singleuser"
    os.execv(program, [str(program), *sys.argv[1:]])


if __name__ == "__main__":
    main()

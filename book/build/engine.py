"""Compiles the simulation's engine ahead, so that no notebook cell and no test waits for it."""

from __future__ import annotations

import subprocess
import sys

from .places import ROOT
from .report import Refusal, run


def main() -> None:
    """Ask the simulation to compile what is not in its cache; it says itself what it does."""
    done = subprocess.run([sys.executable, "-m", "sim", "compile"], cwd=ROOT, check=False)
    if done.returncode:
        raise Refusal(f"python -m sim compile ended with status {done.returncode}")


if __name__ == "__main__":
    run(main)

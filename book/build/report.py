"""What a make target says: one line for each thing it does, one line when it cannot."""

from __future__ import annotations

import errno
import sys
from collections.abc import Callable


class Refusal(Exception):
    """Something outside the project is missing; the message is the one line that the reader gets."""


def say(line: str) -> None:
    """Print one line at once: a pipe would otherwise hold it back until the end of a long step."""
    print(line, flush=True)


def run(main: Callable[[], None]) -> None:
    """Run a target's main function; a refusal or a full disk becomes one line and exit status 1."""
    try:
        main()
    except Refusal as refusal:
        sys.exit(f"error: {refusal}")
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        sys.exit(
            f"error: the disk is full, at {error.filename or 'the clone'}: free some space, run make again"
        )
    except KeyboardInterrupt:
        sys.exit("error: interrupted; run make again, it goes on from there")

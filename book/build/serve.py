"""Serves the built pages to this machine only."""

from __future__ import annotations

import errno
import functools
import http.server
import sys

from .places import HTML
from .report import Refusal, run, say


def main() -> None:
    """Serve until interrupted."""
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 8000
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(HTML))
    try:
        server = http.server.ThreadingHTTPServer(("127.0.0.1", port), handler)
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise
        raise Refusal(f"port {port} is in use: make serve PORT={port + 1}") from None
    with server:
        say(f"http://localhost:{server.server_address[1]}/  (Ctrl-C stops)")
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            say("stopped")


if __name__ == "__main__":
    run(main)

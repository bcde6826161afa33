#!/bin/sh
# Prints a Python that can make the environment: 3.11 to 3.13, with its venv module.
# Each candidate is run, not only looked up: a version manager's shim may be on the path and refuse.
# usage: find_python.sh [PYTHON]      a name or path given there is the only candidate
candidates=${1:-"python3 python3.13 python3.12 python3.11 python"}
seen=
lacking=
for candidate in $candidates; do
    version=$("$candidate" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null) || continue
    seen="$seen $version"
    case $version in 3.11 | 3.12 | 3.13) ;; *) continue ;; esac
    if "$candidate" -c 'import ensurepip, venv' 2>/dev/null; then
        echo "$candidate"
        exit 0
    fi
    lacking=$version
done
if [ -n "$lacking" ]; then
    echo "error: Python $lacking has no venv module: install it (Debian and Ubuntu: apt-get install python$lacking-venv)" >&2
elif [ -n "$seen" ]; then
    echo "error: Python 3.11, 3.12 or 3.13 is needed; found only$seen (name another with make PYTHON=/path/to/python3.12)" >&2
else
    echo "error: no Python found: install Python 3.11, 3.12 or 3.13 (or name it with make PYTHON=/path/to/python3.12)" >&2
fi
exit 1

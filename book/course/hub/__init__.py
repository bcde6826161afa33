"""A JupyterHub for the course on one server, of existing parts: hub, proxy, nbgrader's exchange, an idle culler.

`install` makes a folder with all that students may read: an environment, `sim` and `widgets`, the compiled engine.
The clone with the checks, and the course directory, stay the teacher's alone.
"""

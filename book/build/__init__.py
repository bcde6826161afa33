"""What ``make`` calls: the environment, the browser, the pages, the notebook twins.

``environment``, ``report`` and ``places`` run on a bare Python, before anything is installed, so they
use the standard library only.
"""

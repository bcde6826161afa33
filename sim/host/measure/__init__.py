"""What this machine's own parts cost, as a machine file that scenarios take.

>>> from sim.host.measure import machine_file, readings
>>> found = readings.take()                                              # doctest: +SKIP
>>> machine_file.document(found)["costs"]["same_socket_ps"]["value"]     # doctest: +SKIP

Nothing is imported here: the loops need Numba and a C library, which is no matter for ``host --help``.
"""

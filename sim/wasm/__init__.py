"""The engine as WebAssembly: made from the Numba source by llvmlite alone, for pages and for tests.

`compile` is the command, `lower` turns a compiled Numba function into a WebAssembly object, `object` turns
the object into a module, `stamp` says what a committed module was made from, `host` runs it in Python.
The page's host is `widgets/js/engine.mjs`.
"""

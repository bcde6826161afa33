"""The book's switches on a real Linux: experiments between network namespaces, and what a machine's own parts cost.

Nothing here simulates.  `experiment` runs a question in both arms on this kernel, `tools` says what this system
lacks for it.  All traffic stays inside namespaces that end with the process that made them.
"""

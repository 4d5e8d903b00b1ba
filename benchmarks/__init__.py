"""How long an audit takes, beside what else could be run on the same files.

``python -m benchmarks --help`` says what can be asked; ``benchmarks/README.md`` what was found.

The process that starts the others imports only the standard library: a child's peak memory starts from
the size of the process that forked it.
"""

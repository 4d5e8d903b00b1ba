"""Each module is one process: ``python -m benchmarks.workers.<name> …``; its last line is a JSON object."""

"""One way to rerank a file."""

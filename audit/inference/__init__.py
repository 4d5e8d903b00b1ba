"""Compare: from sums and vectors per bucket to differences, intervals and p-values."""

"""How often an audit errs: audits drawn from large simulated populations whose truth is known.

``python -m benchmarks.simulation --help`` says what can be asked; ``docs/statistics.md`` what was found.
What is simulated is the product's own code, from the sums of single users to the verdict; only files are
left out.
"""

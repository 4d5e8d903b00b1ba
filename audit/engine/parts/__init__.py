"""An audit in parts: users dealt into parts that are measured anywhere, and merged.

Nothing here knows where the work runs.  :mod:`audit.engine.parts.cluster` says what an engine has to
offer; :mod:`audit.engine.parts.audit` goes through the steps.
"""

"""Encoding in passing: big tables go from their files to integer arrays chunk by chunk, on threads.

What is plainly in order is proved to be so on the way; whatever is not (:class:`~audit.inputs.chunks.NotClean`)
is left to the thorough path of :mod:`audit.inputs`, whose words the user reads.
"""

"""Errors that a person caused and can mend: one sentence that says what, where and what to do."""

from __future__ import annotations


class UsageError(Exception):
    """Shown as it stands, without a traceback; the program ends with exit code 2."""

"""Text that strangers wrote, made safe to store and to show: no control characters, nothing that hides.

Learners choose their names, their code and what it prints. A terminal obeys escape sequences, a
page can be turned around by bidirectional marks, and UTF-8 cannot hold a lone surrogate.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from autograder.words import say

# Whole sequences first, so that "\x1b[31m" goes and not only its first character. A string sequence ends
# at the next escape at the latest: one that is never closed hides nothing, and a megabyte of them stays quick.
_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b\n]*(?:\x07|\x1b\\)|[ -/]*[0-~])")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_HIDING = re.compile("[\ud800-\udfff\u202a-\u202e\u2066-\u2069\u2028\u2029\ufeff\ufffe\uffff]")
_ODD = re.compile(r"[\x00-\x1f\x7f-\x9f]|\\(?=x[0-9a-f]{2}|u[0-9a-f]{4})")
_SPACE = re.compile(r"\s+")


def plain(text: str) -> str:
    r"""The text without escape sequences and control characters; only "\n" and "\t" stay.

    "\r\n" and a lone "\r" count as "\n". What would hide or turn around its neighbours (bidirectional
    overrides, lone surrogates) becomes U+FFFD, so that a reader sees that something stood there.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _HIDING.sub("\ufffd", _CONTROL.sub("", _ESCAPE.sub("", text)))


def one_line(text: str, limit: int | None = None) -> str:
    """`plain` text on one line, at most `limit` characters long ("…" stands for the rest)."""
    line = _SPACE.sub(" ", plain(text)).strip()
    return line if limit is None or len(line) <= limit else line[: max(limit - 1, 0)] + "…"


def identifier(text: str) -> str:
    """A student's or notebook's id with its odd characters spelled out ("\\x00", "\\udc80").

    Other than `plain` it never makes two ids equal: it drops nothing, and a backslash that begins what only
    looks spelled out is itself spelled out (any other stays, as in DOMAIN\\kim). So never apply it twice.
    """
    spelled = _ODD.sub(lambda match: f"\\x{ord(match[0]):02x}", text)
    return _HIDING.sub(lambda match: f"\\u{ord(match[0]):04x}", spelled)


def points(value: float) -> str:
    """A number of points as people write it: 3, 2.5, 0.83."""
    return f"{value + 0.0:.2f}".rstrip("0").rstrip(".")  # + 0.0: no "-0"


def listed(texts: Sequence[str], shown: int = 20) -> str:
    """The first of some texts on one line, and how many more there are."""
    more = [say("list.more", count=len(texts) - shown)] if len(texts) > shown else []
    return ", ".join([*map(one_line, texts[:shown]), *more])

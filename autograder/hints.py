"""Hints: what a learner reads when an answer is not right yet.

`explain` is called in a check cell's assert. It tells what came and what was expected, and when the
answer makes a known mistake it adds that mistake's sentence. The known mistakes stand in
`hints.json` beside the notebook, as numbers. Needs NumPy alone, and also runs in the browser (`shipped.py`).
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from autograder.differences import describe_difference
from autograder.examples import example
from autograder.fingerprints import Fingerprints, Mistake, observe_all
from autograder.observations import steady
from autograder.probes import EMPTY
from autograder.words import say

HINTS_FILE = "hints.json"


@dataclass
class _Said:
    """What this process knows: the table in use, and how often each mistake was named."""

    table: dict[str, Fingerprints] | None = None  # None: look beside the notebook
    times: Counter[tuple[str, str]] = field(default_factory=Counter)
    read: tuple[Path, int, dict[str, Fingerprints]] | None = None  # the file beside the notebook, as last read


_said = _Said()
_hidden: ContextVar[bool] = ContextVar("hidden", default=False)
_before: ContextVar[Callable[[str, str], int] | None] = ContextVar("before", default=None)
_probing: ContextVar[bool] = ContextVar("probing", default=False)
_left_out: ContextVar[set[str] | None] = ContextVar("left_out", default=None)  # None: further mistakes are told
_NOTHING = object()


def explain(answer: Callable[..., Any], got: Any = _NOTHING, want: Any = _NOTHING) -> str:
    """Why `answer` is not right yet, in a few sentences: shapes, kinds, values, the known mistake.

    Never raises. Within `hide_expected()` no expected value is written.
    """
    name = _name(answer) or "answer"
    parts = []
    if got is not _NOTHING and want is not _NOTHING:
        try:
            parts.append(describe_difference(got, want, hide_expected=_hidden.get()))
        except Exception:  # a hint that fails must not hide that the check said no
            parts.append("")
    namespace = sys._getframe(1).f_globals  # the notebook's: what a probe may build stands there
    mistake = find_mistake(answer, namespace)
    failure = "value" if any(parts) else ""
    if mistake and is_told(mistake, failure):
        before = (_before.get() or _count)(name, mistake.id)
        parts.append(fitting(mistake, failure, tell(answer, mistake, before, namespace)))
    text = " ".join(part for part in parts if part)
    return say("hint.about", name=name, text=text) if text else say("hint.wrong", name=name)


def find_mistake(answer: Callable[..., Any], namespace: Mapping[str, Any] = EMPTY) -> Mistake | None:
    """The known mistake that `answer` makes on the probes of the exercise `answer.__name__`; None for none.

    Calls the answer, at most twice on each probe. Raises nothing for what it does. `namespace` holds the
    notebook's own classes, for probes with a module as an argument.
    """
    token = _probing.set(True)
    try:
        fingerprints = _table().get(_name(answer))
        if fingerprints is None or not fingerprints.mistakes:
            return None
        once = observe_all(answer, fingerprints.probes, namespace, calls=1)
        if fingerprints.is_steady and fingerprints.recognise(once) is None:
            return None  # most answers end here: a second call could only speak against a mistake
        again = observe_all(answer, fingerprints.probes, namespace, calls=1)
        return fingerprints.recognise([steady(*pair) for pair in zip(once, again, strict=True)])
    except Exception:  # a table of another version, or damaged: the check works, and says less
        return None
    finally:
        _probing.reset(token)


def is_probing() -> bool:
    """Whether an answer that is called now is called to find its mistake, and not by a check."""
    return _probing.get()


def use(table: str | Path | dict[str, Any] | None) -> None:
    """Take the known mistakes from `table`: a hints.json file, its content, or None for the one beside the notebook.

    Also forgets what was said before. Raises OSError or ValueError for a file that cannot be read.
    """
    if isinstance(table, str | Path):
        table = json.loads(Path(table).read_text(encoding="utf-8"))
    use_known(None if table is None else read_table(table))


def use_known(known: dict[str, Fingerprints] | None) -> None:
    """As `use`, for a table that was read before."""
    _said.table = known
    _said.times.clear()


def read_table(content: dict[str, Any]) -> dict[str, Fingerprints]:
    """The fingerprints of each exercise, from the content of a hints.json file."""
    return {name: Fingerprints.from_plain(plain) for name, plain in content["exercises"].items()}


def tell(answer: Callable[..., Any], mistake: Mistake, before: int, namespace: Mapping[str, Any] = EMPTY) -> str:
    """What a learner reads of a mistake that was named `before` times: its sentences, one each time.

    When they are all said, the last one comes with a call that shows the mistake.
    """
    sentence = mistake.sentences[min(before, len(mistake.sentences) - 1)]
    if before < len(mistake.sentences):
        return sentence
    token = _probing.set(True)
    try:
        seen = example(answer, _table()[_name(answer)], mistake, namespace)
    except Exception:  # as in `find_mistake`: a hint that fails says less
        seen = ""
    finally:
        _probing.reset(token)
    return f"{sentence}\n{seen}".strip()


@contextmanager
def telling(before: Callable[[str, str], int]) -> Iterator[None]:
    """Within it `before(exercise, mistake)` says how often a mistake was named, and `explain` counts nothing."""
    token = _before.set(before)
    try:
        yield
    finally:
        _before.reset(token)


@contextmanager
def hide_expected() -> Iterator[None]:
    """Within it `explain` writes no expected value: for tests that a learner does not see."""
    token = _hidden.set(True)
    try:
        yield
    finally:
        _hidden.reset(token)


@contextmanager
def leave_out_further() -> Iterator[None]:
    """Within it a mistake that does not account for the failure is not told: the cause stands in another answer."""
    token = _left_out.set(set())
    try:
        yield
    finally:
        _left_out.reset(token)


def _name(answer: object) -> str:
    try:
        return str(getattr(answer, "__name__", ""))
    except Exception:
        return ""


def is_told(mistake: Mistake, failure: str) -> bool:
    """Whether the mistake is told where a failure was seen: always, but for a further one in `leave_out_further()`.

    `failure`: see `Mistake.accounts_for`. What was left out once stays so: who asks again may know less of the failure.
    """
    left_out = _left_out.get()
    if left_out is None or (mistake.accounts_for(failure) and mistake.id not in left_out):
        return True
    left_out.add(mistake.id)
    return False


def fitting(mistake: Mistake, failure: str, sentence: str) -> str:
    """The mistake's sentence, brought in as a further one where it does not account for the failure that was seen.

    `failure`: see `Mistake.accounts_for`.
    """
    return sentence if mistake.accounts_for(failure) else say("hint.also", sentence=sentence)


def _count(name: str, mistake: str) -> int:
    """How often the mistake was named before, in this process; this time counts from now on."""
    before = _said.times[name, mistake]
    _said.times[name, mistake] += 1
    return before


def _table() -> dict[str, Fingerprints]:
    if _said.table is not None:
        return _said.table
    path = Path(HINTS_FILE).resolve()
    if not path.is_file():
        return {}
    stamp = path.stat().st_mtime_ns
    if _said.read is None or _said.read[:2] != (path, stamp):
        _said.read = (path, stamp, read_table(json.loads(path.read_text(encoding="utf-8"))))
    return _said.read[2]

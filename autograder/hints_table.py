"""The content of hints.json, which lies beside the released notebooks.

It holds each exercise's probes and fingerprints, the learner's sentences, the notebooks' cells as
released, so that `autograder check` knows a changed check cell from a released one, and a digest of
the source it was made of.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any, NamedTuple

from autograder.course import Assignment
from autograder.misconceptions import MISCONCEPTIONS_FILE, Misconceptions, fingerprints
from autograder.notebooks import Cell, parse_cells

FORMAT = 1
_WIDTH = 110  # characters of a line that is not broken


class KnownMistake(NamedTuple):
    """What names a known mistake in the whole course."""

    assignment: str
    exercise: str
    mistake: str  # its id


def make_table(assignment: Assignment, misconceptions: Misconceptions, notebooks: dict[str, bytes]) -> bytes:
    """The file's bytes. `notebooks`: the released ones by file name. Raises UsageError as `fingerprints` does."""
    exercises = {}
    for notebook in assignment.notebooks:
        for name, made in fingerprints(notebook, misconceptions).items():
            exercises[name] = made.plain()
    table = {
        "format": FORMAT,
        "assignment": assignment.name,
        "source": _digest(assignment),
        "exercises": exercises,
        "notebooks": {
            file.removesuffix(".ipynb"): [_cell(cell) for cell in parse_cells(content) if cell.grade_id]
            for file, content in notebooks.items()
        },
    }
    return (readable(table) + "\n").encode()


def _digest(assignment: Assignment) -> str:
    """Of all that the release is made of: a change of hidden tests alone is a change too, to be proven again."""
    digest = hashlib.sha256()
    for path in sorted([*assignment.folder.glob("*.ipynb"), *assignment.folder.glob(MISCONCEPTIONS_FILE)]):
        content = path.read_bytes()
        digest.update(f"{path.name} {len(content)}\n".encode() + content)
    return digest.hexdigest()


def _cell(cell: Cell) -> dict[str, Any]:
    """The cell's fields, those left out that have their usual value."""
    usual = Cell(id="", kind="", source="")
    return {name: value for name, value in asdict(cell).items() if value != getattr(usual, name)}


def readable(value: Any, indent: int = 0) -> str:
    """JSON in which what is short, and every list of numbers, stands on one line."""
    line = json.dumps(value, ensure_ascii=False)
    if len(line) + indent <= _WIDTH or not isinstance(value, dict | list) or _is_numbers(value):
        return line
    inner = " " * (indent + 1)
    if isinstance(value, dict):
        items = [f"{json.dumps(key, ensure_ascii=False)}: {readable(part, indent + 1)}" for key, part in value.items()]
        opening, closing = "{", "}"
    else:
        items = [readable(part, indent + 1) for part in value]
        opening, closing = "[", "]"
    return f"{opening}\n{inner}" + f",\n{inner}".join(items) + f"\n{' ' * indent}{closing}"


def _is_numbers(value: Any) -> bool:
    """A list of numbers, with the words that stand for NaN and infinity."""
    return isinstance(value, list) and all(
        isinstance(part, int | float) or part in ("nan", "inf", "-inf") for part in value
    )


def sentences_of(tables: Iterable[dict[str, Any] | None]) -> dict[KnownMistake, tuple[str, ...]]:
    """Every known mistake's sentences, from the contents of several hints.json files (None: not released)."""
    return {
        KnownMistake(table["assignment"], exercise, mistake["id"]): tuple(mistake["sentences"])
        for table in tables
        if table is not None
        for exercise, made in table["exercises"].items()
        for mistake in made["mistakes"]
    }


def same_but_for_rounding(one: bytes, other: bytes) -> bool:
    """Whether two files differ at most in the last digits of what the mistakes give.

    Another processor sums in another order; that alone must not make a release look changed.
    """
    try:
        mine, others = json.loads(one), json.loads(other)
    except ValueError:
        return False
    return _same(mine, others, in_mistakes=False)


def _same(one: Any, other: Any, *, in_mistakes: bool) -> bool:
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return list(one) == list(other) and all(
            _same(one[key], other[key], in_mistakes=in_mistakes or key == "mistakes") for key in one
        )
    if isinstance(one, list):
        return len(one) == len(other) and all(
            _same(a, b, in_mistakes=in_mistakes) for a, b in zip(one, other, strict=True)
        )
    if isinstance(one, float) and in_mistakes:
        return math.isclose(one, other, rel_tol=1e-6, abs_tol=1e-9)  # nine digits are written
    return bool(one == other)

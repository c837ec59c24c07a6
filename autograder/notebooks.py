"""Notebook files as plain cells.

Read with `json` alone: importing nbformat costs a second (its JSON-schema format checkers), and
grading needs nothing of it.
"""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass
from pathlib import Path

from autograder.limits import LIMITS
from autograder.plaintext import one_line
from autograder.words import say

VERSION_CHARS = 40  # of a format that is none, in a message


class Unreadable(Exception):
    """The file is not a notebook; the message says in one sentence why."""


@dataclass(frozen=True)
class Cell:
    """One cell: its ids, its text, and what nbgrader's metadata says of it."""

    id: str  # the notebook format's cell id; "" where the file has none
    kind: str  # "code", "markdown" or "raw"
    source: str
    grade_id: str = ""  # nbgrader's name for the cell; "" where it has none
    is_answer: bool = False  # nbgrader: solution, without grade
    is_check: bool = False  # nbgrader: grade, without solution
    is_by_hand: bool = False  # nbgrader: grade and solution, or task: a teacher reads it and gives the points
    is_locked: bool = False
    points: float = 0.0


def read_cells(path: Path) -> tuple[Cell, ...]:
    """The cells of the notebook at `path`, in order. Raises Unreadable, with the reason."""
    return parse_cells(path.read_bytes())


@functools.lru_cache(maxsize=1)  # whose it is, whether it can be read, what its code is: all ask in turn
def parse_cells(content: bytes) -> tuple[Cell, ...]:
    """The cells of a notebook file's bytes, in order. Raises Unreadable, with the reason."""
    raw = load_notebook(content)["cells"]
    if len(raw) > LIMITS.cells:
        raise Unreadable(say("notebook.cells", limit=LIMITS.cells))
    cells = tuple(_cell(cell) for cell in raw if isinstance(cell, dict))
    if sum(len(cell.source) for cell in cells if cell.kind == "code") > LIMITS.code_chars:
        raise Unreadable(say("notebook.code", limit=LIMITS.code_chars >> 10))
    return cells


def load_notebook(content: bytes) -> dict:
    """A notebook file's bytes as JSON data with a list of cells. Raises Unreadable, with the reason."""
    if len(content) > LIMITS.notebook_bytes:
        raise Unreadable(say("notebook.large", limit=LIMITS.notebook_bytes >> 20))
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise Unreadable(say("notebook.encoding")) from None
    text = text.strip()
    if not text:
        raise Unreadable(say("notebook.empty"))
    if text.startswith("<<<<<<<") or "\n<<<<<<< " in text:
        raise Unreadable(say("notebook.conflict"))
    if text.startswith("<"):
        raise Unreadable(say("notebook.html"))
    try:
        notebook = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Unreadable(say("notebook.not_json", reason=str(error) or type(error).__name__)) from None
    if not isinstance(notebook, dict):
        raise Unreadable(say("notebook.no_cells"))
    version = notebook.get("nbformat", 4)
    if version != 4:
        raise Unreadable(say("notebook.format", version=one_line(json.dumps(version), VERSION_CHARS)))
    if not isinstance(notebook.get("cells"), list):
        raise Unreadable(say("notebook.no_cells"))
    return notebook


def _cell(raw: dict) -> Cell:
    nbgrader = _mapping(_mapping(raw.get("metadata")).get("nbgrader"))
    grade_id = nbgrader.get("grade_id")
    answers, graded = nbgrader.get("solution") is True, nbgrader.get("grade") is True
    return Cell(
        id=raw["id"] if isinstance(raw.get("id"), str) else "",
        kind=str(raw.get("cell_type", "raw")),
        source=text_of(raw),
        grade_id=grade_id if isinstance(grade_id, str) else "",
        is_answer=answers and not graded,
        is_check=graded and not answers,
        is_by_hand=(answers and graded) or nbgrader.get("task") is True,
        is_locked=nbgrader.get("locked") is True,
        points=_number(nbgrader.get("points", 0)),
    )


def _number(value: object) -> float:
    """A number as it is; 0 for what is none, or too large to be one."""
    try:
        return float(value) if isinstance(value, int | float) else 0.0
    except OverflowError:
        return 0.0


def _mapping(value: object) -> dict:
    return value if isinstance(value, dict) else {}


def text_of(cell: dict) -> str:
    """A raw cell's source: the file has a string, or a list of lines."""
    source = cell.get("source", "")
    if isinstance(source, str):
        return source
    if isinstance(source, list):
        return "".join(line for line in source if isinstance(line, str))
    return ""

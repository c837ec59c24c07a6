"""What is wrong with a chapter's source before anything is made of it, a sentence for each fault.

nbgrader goes wrong silently on most of these: a hidden test in an unmarked cell is released, an
answer without a region loses its signature, two cells with one id overwrite each other's points.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

from autograder.course import Assignment, SourceNotebook, exercise_of
from autograder.notebooks import Cell, Unreadable, load_notebook, text_of
from autograder.words import say

_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")  # the notebook format's rule for cell ids
_MARKER = re.compile(r"(BEGIN|END) (SOLUTION|HIDDEN TESTS)")
_WRITTEN = re.compile(r"[ \t]*### (BEGIN|END) (SOLUTION|HIDDEN TESTS)[ \t]*")


def faults(assignment: Assignment) -> list[str]:
    """All faults of the chapter's notebooks, each with its notebook and cell; empty where there is none."""
    found = []
    for notebook in assignment.notebooks:
        path = assignment.folder / f"{notebook.name}.ipynb"
        found += [f"{path}: {fault}" for fault in _of_notebook(notebook, path)]
    ids = Counter(cell.grade_id for notebook in assignment.notebooks for cell in notebook.cells if cell.grade_id)
    found += [f"{assignment.folder}: {say('lint.grade_id_twice', id=id)}" for id, count in ids.items() if count > 1]
    return found


def _of_notebook(notebook: SourceNotebook, path: Path) -> Iterator[str]:
    yield from _stored(path)
    ids = Counter(cell.id for cell in notebook.cells)
    for cell in notebook.cells:
        where = say("lint.cell", id=cell.grade_id or cell.id or "?")
        if not _ID.fullmatch(cell.id):
            yield where + say("lint.no_id")
        elif ids[cell.id] > 1:
            yield where + say("lint.id_twice")
        elif cell.grade_id and cell.id != cell.grade_id:
            yield where + say("lint.ids_differ", id=cell.id)
        for fault in _of_cell(cell):
            yield where + fault
    yield from _of_exercises(notebook)


def _stored(path: Path) -> Iterator[str]:
    """Outputs, counts and editors' metadata: they change with every run, and may hold an answer."""
    try:
        raw = load_notebook(path.read_bytes())
    except Unreadable as error:
        yield str(error)
        return
    if raw.get("nbformat_minor", 0) < 5:
        yield say("lint.minor")
    for cell in raw["cells"]:
        where = say("lint.cell", id=cell.get("id", "?"))
        if cell.get("outputs") or cell.get("execution_count") is not None:
            yield where + say("lint.outputs")
        if cell.get("attachments"):
            yield where + say("lint.attachments")
        yield from (where + fault for fault in _of_metadata(cell.get("metadata", {}), text_of(cell)))


def _of_metadata(metadata: dict[str, Any], source: str) -> Iterator[str]:
    nbgrader = metadata.get("nbgrader")
    if nbgrader is None:
        return
    if nbgrader.get("schema_version") != 3:
        yield say("lint.schema", version=nbgrader.get("schema_version"))
    if nbgrader.get("task") or (nbgrader.get("grade") and nbgrader.get("solution")):
        yield say("lint.manual")
    points = nbgrader.get("points")
    if nbgrader.get("grade") and (isinstance(points, bool) or not isinstance(points, int) or points < 1):
        yield say("lint.points", points=points)


def _of_cell(cell: Cell) -> Iterator[str]:
    lines = cell.source.splitlines()
    places = [(number, match) for number, line in enumerate(lines) if (match := _MARKER.search(line))]
    for number, match in places:
        if not _WRITTEN.fullmatch(lines[number]):
            yield say("lint.marker", line=number + 1, marker=match[0])
    yield from _pairs([match[0] for _, match in places])
    kinds = {match[2] for _, match in places}
    if "SOLUTION" in kinds and not cell.is_answer:
        yield say("lint.solution_outside")
    if "HIDDEN TESTS" in kinds and not cell.is_check:
        yield say("lint.hidden_outside")
    if cell.is_answer and "SOLUTION" not in kinds:
        yield say("lint.no_solution")
    if cell.is_check and "HIDDEN TESTS" in kinds:
        yield from _of_hidden(lines)
    if cell.kind != "code":
        if cell.grade_id:
            yield say("lint.not_code")
        return
    if not cell.grade_id:
        yield say("lint.no_nbgrader")
    elif not cell.is_locked and not cell.is_answer:
        yield say("lint.unlocked")
    elif cell.is_locked and cell.is_answer:
        yield say("lint.locked_answer")
    yield from _of_code(cell)


def _pairs(markers: list[str]) -> Iterator[str]:
    """Regions that are left open, closed without a beginning, or one in another."""
    for marker, following in pairwise([*markers, ""]):
        kind = marker.partition(" ")[2]
        if marker.startswith("BEGIN") and following != f"END {kind}":
            yield say("lint.open", kind=kind)
    for before, marker in pairwise(["", *markers]):
        kind = marker.partition(" ")[2]
        if marker.startswith("END") and before != f"BEGIN {kind}":
            yield say("lint.closed", kind=kind)


def _of_hidden(lines: list[str]) -> Iterator[str]:
    marked = [number for number, line in enumerate(lines) if "HIDDEN TESTS" in line]
    if len(marked) > 2:
        yield say("lint.hidden_twice")
    if any(lines[number].startswith((" ", "\t")) for number in marked):
        yield say("lint.hidden_indented")
    if "".join(lines[marked[-1] + 1 :]).strip():
        yield say("lint.hidden_not_last")
    if not "".join(line for line in lines[: marked[0]] if not line.lstrip().startswith("#")).strip():
        yield say("lint.nothing_visible")


def _of_code(cell: Cell) -> Iterator[str]:
    """The cell, and what is left of a test cell in the release, must be Python."""
    visible = cell.source.partition("### BEGIN HIDDEN TESTS")[0]
    for source in (cell.source, visible) if cell.is_check else (cell.source,):
        try:
            tree = ast.parse(source)
        except SyntaxError as error:
            yield say("lint.syntax", line=error.lineno, reason=error.msg)
            return
    if cell.is_answer:
        defined = {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
        if cell.grade_id not in defined:
            yield say("lint.defines", name=cell.grade_id)


def _of_exercises(notebook: SourceNotebook) -> Iterator[str]:
    order = [cell.grade_id for cell in notebook.cells]
    names = [exercise.name for exercise in notebook.exercises]
    for cell in notebook.cells:
        checks = cell.grade_id.startswith("test_") and (exercise_of(cell, names) or notebook.is_of_run(cell))
        if cell.is_check and not checks:
            yield say("lint.cell", id=cell.grade_id) + say("lint.checks_nothing", known=", ".join(names))
    for exercise in notebook.exercises:
        where = say("lint.cell", id=exercise.name)
        if not exercise.checks:
            yield where + say("lint.unchecked", name=exercise.name)
        for check in exercise.checks:
            if order.index(check.name) < order.index(exercise.name):
                yield where + say("lint.check_first", check=check.name)

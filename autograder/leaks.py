"""Does the release hold what learners must not see? A second look at what was made, file by file.

nbgrader does the cutting; this trusts nothing of it. Every cell must be exactly the public part of its
source, and no line of a solution, a hidden test or a misconception may stand anywhere else either.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from autograder.course import Assignment, SourceNotebook, check_of, stub_of
from autograder.misconceptions import Misconceptions
from autograder.notebooks import Cell, parse_cells
from autograder.words import say

MARKERS = ("BEGIN SOLUTION", "END SOLUTION", "BEGIN HIDDEN TESTS", "END HIDDEN TESTS", "BEGIN MARK SCHEME")
_SHORT = 10  # characters; a shorter line ("return a", "else:") tells nothing


def leaks(
    assignment: Assignment, misconceptions: Misconceptions, made: dict[str, bytes], beside: tuple[str, ...]
) -> list[str]:
    """What is wrong with the made files, a sentence each; empty where nothing is.

    `made`: the chapter's files by name; beside the notebooks only those named in `beside` may be there.
    """
    expected = {f"{notebook.name}.ipynb": notebook for notebook in assignment.notebooks}
    found = [say("leak.stray", file=file) for file in sorted(set(made) - set(expected) - set(beside))]
    found += [say("leak.missing", file=file) for file in sorted(set(expected) - set(made))]
    public = {line for cell in _public_cells(assignment) for line in _lines(cell)}
    secrets = {line: what for line, what in _secrets(assignment, misconceptions) if line not in public}
    for file, content in made.items():
        if file in expected:
            found += _not_public(expected[file], file, content)
        found += _holds(file, content, public, secrets)
    return found


def public_part(cell: Cell) -> str:
    """What a learner gets of a source cell."""
    if cell.is_answer:
        return stub_of(cell.source)
    return check_of(cell).visible.rstrip("\n") if cell.is_check else cell.source


def _public_cells(assignment: Assignment) -> Iterator[str]:
    return (public_part(cell) for notebook in assignment.notebooks for cell in notebook.cells)


def _not_public(notebook: SourceNotebook, file: str, content: bytes) -> Iterator[str]:
    released = parse_cells(content)
    if len(released) != len(notebook.cells):
        yield say("leak.cells", file=file, made=len(released), source=len(notebook.cells))
        return
    for source, cell in zip(notebook.cells, released, strict=True):
        if public_part(source).rstrip("\n") != cell.source.rstrip("\n"):
            yield say("leak.cell", file=file, id=source.grade_id or source.id)


def _secrets(assignment: Assignment, misconceptions: Misconceptions) -> Iterator[tuple[str, str]]:
    """Each line that must not be released, with what it is a line of."""
    for exercise in assignment.exercises:
        stub = set(_lines(exercise.stub))
        for line in _lines(exercise.reference):
            if line not in stub:
                yield line, say("leak.solution", name=exercise.name)
        for check in exercise.checks:
            for line in _lines(check.hidden):
                yield line, say("leak.hidden", name=check.name)
    for variant in misconceptions.variants:
        for line in _lines(variant.source):
            yield line, say("leak.variant", name=variant.id)


def _holds(file: str, content: bytes, public: set[str], secrets: dict[str, str]) -> Iterator[str]:
    """Secret lines and markers in any text of the file: cells, metadata, outputs, sentences."""
    for text in _texts(json.loads(content)):
        for marker in MARKERS:
            if marker in text:
                yield say("leak.marker", file=file, marker=marker)
        for line in _lines(text):
            if line in public:
                continue
            for secret, what in secrets.items():
                if secret in line:
                    yield say("leak.line", file=file, what=what, line=secret)


def _texts(value: Any) -> Iterator[str]:
    """Every string in JSON data, a list of lines as one."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list) and value and all(isinstance(part, str) for part in value):
        yield "".join(value) if value[0].endswith("\n") else "\n".join(value)
    elif isinstance(value, list):
        for part in value:
            yield from _texts(part)
    elif isinstance(value, dict):
        for key, part in value.items():
            yield key
            yield from _texts(part)


def _lines(text: str) -> list[str]:
    return [line for line in map(str.strip, text.splitlines()) if len(line) >= _SHORT]

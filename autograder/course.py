"""The course as written in `solutions/`: assignments, notebooks, exercises and their checks.

This is the only source of points, tests and order; nothing of a submission can change them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from autograder.errors import UsageError
from autograder.hints import HINTS_FILE
from autograder.notebooks import Cell, Unreadable, parse_cells
from autograder.words import say

SOURCE_FOLDER = "solutions"
RELEASE_FOLDER = "exercises"
MODEL = "Seq2SeqTransformer"  # the class into which a run is loaded
RUN = "run"  # the exercise that is answered by files beside the notebook, and not by a cell: see `run_files`

_SOLUTION = re.compile(r"^([ \t]*)### BEGIN SOLUTION[^\n]*\n.*?^[ \t]*### END SOLUTION[^\n]*$", re.S | re.M)
_HIDDEN = re.compile(r"^### BEGIN HIDDEN TESTS[^\n]*\n(.*?)^### END HIDDEN TESTS[^\n]*$", re.S | re.M)
_MARKER = re.compile(r"^[ \t]*### (?:BEGIN|END) SOLUTION[^\n]*\n?", re.M)


@dataclass(frozen=True)
class Check:
    """One test cell: what a learner sees of it, and what runs at grading alone."""

    name: str  # its grade_id: test_<exercise> or test_<exercise>_<what>
    points: float
    visible: str
    hidden: str  # "" where nothing is hidden; its line numbers go on from `visible`


@dataclass(frozen=True)
class Exercise:
    """One function or class to answer: its stub, the reference answer, its checks."""

    name: str
    stub: str
    reference: str
    checks: tuple[Check, ...]

    @property
    def is_class(self) -> bool:
        """Whether the answer is a class (a PyTorch module)."""
        return re.search(rf"^class {self.name}\b", self.reference, re.M) is not None

    @property
    def max_score(self) -> float:
        return sum(check.points for check in self.checks)


@dataclass(frozen=True)
class SourceNotebook:
    """One notebook of `solutions/`, its cells in order."""

    name: str  # without .ipynb
    cells: tuple[Cell, ...]
    content: bytes = field(default=b"", repr=False)  # the file's: it may be another one by the time results are written

    @cached_property
    def exercises(self) -> tuple[Exercise, ...]:
        """The exercises, in the order of their answer cells."""
        answers = [cell for cell in self.cells if cell.is_answer]
        names = [cell.grade_id for cell in answers]
        return tuple(
            Exercise(
                name=cell.grade_id,
                stub=stub_of(cell.source),
                reference=_MARKER.sub("", cell.source),
                checks=tuple(
                    check_of(check)
                    for check in self.cells
                    if check.is_check and exercise_of(check, names) == cell.grade_id
                ),
            )
            for cell in answers
        )

    @cached_property
    def run(self) -> Exercise | None:
        """What is asked of a trained model's files: the checks `test_run` and `test_run_<what>`; None where none is asked."""
        checks = tuple(check_of(cell) for cell in self.cells if self.is_of_run(cell))
        return Exercise(RUN, stub="", reference="", checks=checks) if checks else None

    def is_of_run(self, cell: Cell) -> bool:
        """Whether a test cell asks something of the run, and of no answer."""
        names = [exercise.name for exercise in self.exercises]
        return cell.is_check and exercise_of(cell, [*names, RUN]) == RUN and RUN not in names

    @property
    def graded(self) -> tuple[Exercise, ...]:
        """All that gives points: the exercises, and the run."""
        return (*self.exercises, self.run) if self.run else self.exercises


@dataclass(frozen=True)
class Assignment:
    """One chapter's exercises."""

    name: str  # the folder's name, e.g. "03_scores"
    folder: Path
    notebooks: tuple[SourceNotebook, ...]
    hints: bytes | None = field(default=None, repr=False)  # the released hints.json; None where nothing is released

    @property
    def exercises(self) -> tuple[Exercise, ...]:
        return tuple(exercise for notebook in self.notebooks for exercise in notebook.exercises)

    @property
    def graded(self) -> tuple[Exercise, ...]:
        """All that gives points: the exercises, and a run."""
        return tuple(exercise for notebook in self.notebooks for exercise in notebook.graded)


@dataclass(frozen=True)
class Course:
    """A course's folder."""

    root: Path

    @property
    def chapters(self) -> tuple[str, ...]:
        """The names of all assignments, in order."""
        folders = [folder for folder in (self.root / SOURCE_FOLDER).iterdir() if not folder.name.startswith(".")]
        return tuple(sorted(folder.name for folder in folders if any(folder.glob("*.ipynb"))))

    def assignment(self, chapter: str) -> Assignment:
        """The assignment `chapter`, read once. Raises UsageError where there is none, or a file of it cannot be read."""
        folder = self.root / SOURCE_FOLDER / chapter
        if chapter not in self.chapters:
            raise UsageError(
                say("course.no_chapter", chapter=chapter, folder=folder.parent, known=", ".join(self.chapters))
            )
        notebooks = []
        for path in sorted(folder.glob("*.ipynb")):
            content = _read(path)
            try:
                notebooks.append(SourceNotebook(path.stem, parse_cells(content), content))
            except Unreadable as error:
                raise UsageError(f"{path}: {error}") from None
        hints = self.root / RELEASE_FOLDER / chapter / HINTS_FILE
        return Assignment(chapter, folder, tuple(notebooks), _read(hints) if hints.is_file() else None)

    def readable(self) -> tuple[dict[str, Assignment], dict[str, str]]:
        """The assignments by name; and why the others cannot be read, one sentence each."""
        assignments, broken = {}, {}
        for chapter in self.chapters:
            try:
                assignments[chapter] = self.assignment(chapter)
            except UsageError as error:
                broken[chapter] = str(error)
        return assignments, broken


def model_cells(notebooks: Iterable[SourceNotebook]) -> tuple[str, ...]:
    """The given cells of the notebook in which the run's model is given, which is what grades it; none where none is."""
    for notebook in notebooks:
        given = [cell.source for cell in notebook.cells if cell.kind == "code" and not cell.is_answer | cell.is_check]
        if any(re.search(rf"^class {MODEL}\b", source, re.M) for source in given):
            return tuple(given)
    return ()


def find_course(start: Path) -> Course:
    """The course that holds `start`: the nearest folder above it with `solutions/`. Raises UsageError."""
    start = start.resolve()
    for folder in (start, *start.parents):
        if (folder / SOURCE_FOLDER).is_dir():
            return Course(folder)
    raise UsageError(say("course.not_found", start=start))


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise UsageError(say("course.no_file", path=path, reason=error.strerror or error)) from None


def stub_of(source: str) -> str:
    """What nbgrader leaves of an answer cell in the release."""
    return _SOLUTION.sub(lambda match: f"{match[1]}# YOUR CODE HERE\n{match[1]}raise NotImplementedError()", source)


def exercise_of(check: Cell, exercises: list[str]) -> str:
    """The exercise that a test cell checks: `test_<name>` or `test_<name>_<what>`; "" where there is none."""
    name = check.grade_id.removeprefix("test_")
    matches = [exercise for exercise in exercises if name == exercise or name.startswith(f"{exercise}_")]
    return max(matches, key=len, default="")


def check_of(cell: Cell) -> Check:
    """Split a test cell into its visible and its hidden part."""
    hidden = _HIDDEN.search(cell.source)
    return Check(
        name=cell.grade_id,
        points=cell.points,
        visible=cell.source[: hidden.start()] if hidden else cell.source,
        hidden=hidden[1] if hidden else "",
    )

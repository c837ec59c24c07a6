"""A learner's own notebook, on their own machine: each exercise right or not yet, with a hint.

The same plan, the same two processes and the same tests as in grading; only the hidden tests stay
with the teacher, and there is no sandbox around one's own code.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from autograder import hints
from autograder.attempts import Attempts
from autograder.course import check_of
from autograder.errors import UsageError
from autograder.examiner import Examination
from autograder.intake import make_plan
from autograder.link import Link, Stopped, connect
from autograder.notebooks import Cell, Unreadable, read_cells
from autograder.plaintext import plain
from autograder.released import Released, find_released
from autograder.results import ExerciseResult
from autograder.run_files import run_beside
from autograder.run_grading import judge_here, score_run
from autograder.sandbox import no_sandbox, start
from autograder.scoring import score_exercises
from autograder.statuses import PASSED, UNANSWERED
from autograder.words import say

MARKS = {PASSED.name: "✓", UNANSWERED.name: "·"}

Start = Callable[[bool, Path], Link]  # (with PyTorch?, the folder to work in) → a learner's process. Raises Stopped.


@dataclass(frozen=True)
class Checked:
    """What a check of one notebook found."""

    path: Path
    exercises: tuple[ExerciseResult, ...]
    released: Released
    with_torch: bool
    notes: tuple[str, ...] = ()

    @property
    def right(self) -> int:
        """How many exercises pass their visible checks."""
        return sum(exercise.status == PASSED.name for exercise in self.exercises)

    @property
    def all_right(self) -> bool:
        return self.right == len(self.exercises)


def check_notebook(path: Path, course: Path, attempts: Attempts) -> Checked:
    """Run the visible checks of the notebook at `path`. Raises UsageError.

    `course`: a folder in the course, for the hints. `attempts` says how far hints have grown, and is counted on.
    """
    if not path.is_file():
        raise UsageError(say("check.no_file", path=path))
    try:
        cells = read_cells(path)
    except Unreadable as error:
        raise UsageError(f"{path}: {error}") from None
    return check_cells(path, cells, course, attempts)


def start_here(with_torch: bool, folder: Path) -> Link:
    """A learner's process without a sandbox. Raises Stopped."""
    return connect(partial(start, no_sandbox(), folder=folder), with_torch)


def check_cells(
    path: Path, cells: Sequence[Cell], course: Path, attempts: Attempts, begin: Start = start_here
) -> Checked:
    """As `check_notebook`, of cells that are read already. Raises UsageError."""
    released = find_released(path, cells, course)
    if not released.notebook.exercises:
        raise UsageError(say("check.no_exercises", path=path))
    hints.use_known(released.known)
    plan = make_plan(released.notebook, cells)
    examination = Examination(
        plan,
        released.notebook.exercises,
        partial(begin, plan.with_torch, path.parent.resolve()),
        lambda exercise, mistake: attempts.before(exercise, mistake, plan.answers[exercise]),
    )
    try:
        with examination:
            examination.run()
    except Stopped as stopped:  # not the answers': they have results of their own
        raise UsageError(say("check.no_start", reason=stopped.message)) from None
    results = score_exercises("", released.chapter, released.notebook.exercises, examination)
    if released.notebook.run:
        verdict = judge_here(run_beside(path.parent.resolve()), released.model)
        results += (score_run("", released.chapter, released.notebook.name, released.notebook.run, verdict),)
    attempts.record(results)
    notes = (*_notes(released, cells), *plan.repairs, *examination.repairs, *examination.flags)
    return Checked(path, results, released, plan.with_torch, notes)


def _notes(released: Released, cells: Sequence[Cell]) -> list[str]:
    """What in the learner's copy is not as it was released; or that nothing says how it was."""
    if not released.has_hints:
        return [say("check.no_hints")]
    own = {cell.grade_id or cell.id: cell.source for cell in cells}
    changed = [
        cell.grade_id
        for cell in released.notebook.cells
        if cell.is_check and own.get(cell.grade_id, "").strip() != check_of(cell).visible.strip()
    ]
    return [say("check.changed", checks=", ".join(changed))] if changed else []


def report(checked: Checked) -> str:
    """What a learner reads on the terminal."""
    key = "check.all" if checked.all_right else "check.some"
    return "\n".join(
        [
            f"{checked.path}",
            *lines_of(checked, checked.exercises),
            *notes_of(checked),
            say(key, right=checked.right, total=len(checked.exercises)),
        ]
    )


def lines_of(checked: Checked, exercises: Sequence[ExerciseResult]) -> list[str]:
    """What a learner reads of some of the exercises, each with its mark and in full."""
    width = max(len(exercise.exercise) for exercise in checked.exercises)
    lines = []
    for exercise in exercises:
        mark = MARKS.get(exercise.status, "✗")
        # What an answer wrote into its errors must not steer the terminal.
        first, *rest = plain(exercise.message).splitlines() or [""]
        lines.append(f"  {mark} {exercise.exercise:<{width}}  {first}".rstrip())
        lines += [f"    {'':<{width}}  {line}" for line in rest]
    return lines


def notes_of(checked: Checked) -> list[str]:
    return [f"  ({plain(note)})" for note in checked.notes]

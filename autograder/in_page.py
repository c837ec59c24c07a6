"""A page's exercises in the page itself: `autograder check`, in Python compiled for the browser.

The same plan, the same tests, the same sentences. The page sends requests and takes replies as JSON
(`Door.serve`), and stops Python from outside when something runs too long: `watch` tells it what runs.
"""

from __future__ import annotations

import contextlib
import io
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from autograder.attempts import Attempts
from autograder.check import check_cells
from autograder.learner import Printed
from autograder.limits import LIMITS
from autograder.link import Link
from autograder.notebooks import Cell, read_cells
from autograder.plaintext import plain
from autograder.results import ExerciseResult
from autograder.same_process import NOTHING, SameProcessLink, Shell, told
from autograder.statuses import PASSED
from autograder.words import say

Tell = Callable[[str, str, float], None]  # (the exercise that runs, or "", what to say when time is up, its seconds)


class Door:
    """One notebook as it was released, with its hints.json beside it, and the answers that a page sends."""

    def __init__(self, notebook: Path, tell: Tell = lambda exercise, sentence, seconds: None) -> None:
        """Raises Unreadable."""
        self._path = notebook
        self._cells = read_cells(notebook)
        self._tell = tell
        self._attempts = Attempts()

    def serve(self, request: str) -> str:
        """Reply to `{"do": "run", "exercise": …, "answers": …}` or `{"do": "check", "answers": …, "times": …}`.

        `answers`: the source of each answered exercise, by its name; `times`: how far hints have grown, as the
        last check gave it.
        """
        wanted = json.loads(request)
        if wanted["do"] == "run":
            return json.dumps(self.run(wanted["exercise"], wanted["answers"]))
        return json.dumps(self.check(wanted["answers"], wanted["times"]))

    def run(self, exercise: str, answers: Mapping[str, str]) -> dict[str, Any]:
        """Run the cell of `exercise`, after the given cells and the answers above it: what it printed, and its error.

        An error of another answer stays unsaid: it shows where that one is run.
        """
        shell = Shell()
        for cell in self._cells:
            if cell.kind != "code" or cell.is_check:
                continue
            if cell.grade_id == exercise:
                return self._run_aloud(shell, cell, answers)
            with contextlib.redirect_stdout(io.StringIO()), self._watched(cell):
                shell.run_cell(answers.get(cell.grade_id, cell.source))
        raise KeyError(exercise)

    def check(self, answers: Mapping[str, str], times: dict[str, dict[str, int]]) -> dict[str, Any]:
        """What `autograder check` finds in the notebook with these answers: each exercise, and the `times` to send next."""
        self._attempts.times = times
        cells = [replace(cell, source=answers.get(cell.grade_id, cell.source)) for cell in self._cells]
        checked = check_cells(self._path, cells, self._path.parent, self._attempts, self._begin)
        return {
            "exercises": {result.exercise: _told(result) for result in checked.exercises},
            "times": self._attempts.times,
        }

    def _run_aloud(self, shell: Shell, cell: Cell, answers: Mapping[str, str]) -> dict[str, Any]:
        printed = Printed()
        stream = io.TextIOWrapper(io.BufferedWriter(printed), "utf-8", "replace")
        with contextlib.redirect_stdout(stream), contextlib.redirect_stderr(stream), self._watched(cell):
            ran = shell.run_cell(answers.get(cell.grade_id, cell.source))
        stream.flush()
        error = ran.error_before_exec or ran.error_in_exec
        return {"printed": plain(printed.take()), "error": plain(told(error)) if error else ""}

    def _begin(self, with_torch: bool, folder: Path) -> Link:
        """The learner's side of a check; the exercises' names for what runs."""
        names = [cell.grade_id for cell in self._cells if cell.is_answer]
        exercise = {say("link.call", name=name): name for name in names}
        exercise |= {say("intake.answer_cell", exercise=name): name for name in names}
        return SameProcessLink(watch=lambda what, *more: self._tell(exercise.get(what, ""), *more))

    @contextlib.contextmanager
    def _watched(self, cell: Cell) -> Any:
        """Tell the page that a cell runs, if it is an answer's."""
        what = say("intake.answer_cell", exercise=cell.grade_id)
        seconds = LIMITS.cell_seconds
        if cell.is_answer:
            self._tell(cell.grade_id, say("link.timeout", what=what, seconds=f"{seconds:g}"), seconds)
        try:
            yield
        finally:
            self._tell(*NOTHING)


def _told(result: ExerciseResult) -> dict[str, Any]:
    """What a page shows of one exercise."""
    return {
        "passed": result.status == PASSED.name,
        "status": result.status,
        "message": plain(result.message),
        "printed": plain(result.printed),
    }

"""What the workers of a run do: grade one submission after the other, with everything that lasts kept warm."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from autograder import tensors
from autograder.course import Assignment
from autograder.errors import UsageError
from autograder.hints import read_table
from autograder.intake import imports_torch
from autograder.results import SubmissionResult
from autograder.sandbox import Sandbox
from autograder.statuses import PASSED
from autograder.submission import Submission, examine, grade_submission
from autograder.warm import WarmServers
from autograder.words import say


@dataclass
class GradeJob:
    """Plain data until it is opened, so that it can travel to its worker."""

    assignments: Mapping[str, Assignment]
    tables: Mapping[str, dict[str, Any] | None]  # assignment -> the known mistakes, as in hints.json
    sandbox: Sandbox

    def open(self) -> None:
        """In the worker, once. Raises UsageError where a reference answer does not pass on this machine."""
        self._servers = WarmServers(self.sandbox)
        self._known = {name: read_table(table) if table else {} for name, table in self.tables.items()}
        if any(_needs_torch(assignment) for assignment in self.assignments.values()):
            tensors.get_ready()
        for assignment in self.assignments.values():
            self._try_reference(assignment)

    def prepare(self, submission: Submission) -> None:
        """Have the warm servers ready that the submission's notebooks will ask for."""
        assignment = self.assignments[submission.assignment]
        with_torch = any(imports_torch(_text(content)) for _, content in submission.files)
        self._warm_up(with_torch or _needs_torch(assignment))

    def do(self, submission: Submission) -> SubmissionResult:
        """The submission's result."""
        assignment = self.assignments[submission.assignment]
        known = self._known[submission.assignment]
        return grade_submission(submission, assignment, self._servers.start, self.sandbox.description, known)

    def _warm_up(self, with_torch: bool) -> None:
        self._servers.prepare(with_torch=False)
        if with_torch:
            self._servers.prepare(with_torch=True)

    def _try_reference(self, assignment: Assignment) -> None:
        """Grade the reference: it must pass here too, and what that read and compiled is there for all forks."""
        self._warm_up(_needs_torch(assignment))
        for notebook in assignment.notebooks:
            answers = {exercise.name: exercise.reference for exercise in notebook.exercises}
            cells = tuple(replace(cell, source=answers.get(cell.grade_id, cell.source)) for cell in notebook.cells)
            examination = examine(notebook, cells, self._servers.start)
            for check, result in examination.results.items():
                if result.status != PASSED.name:
                    raise UsageError(say("job.reference", chapter=assignment.name, check=check, message=result.message))


def _text(content: bytes | None) -> str:
    """A notebook's text, one string of JSON a line: enough to look for a word."""
    return (content or b"").decode("utf-8", "replace").replace('"', "\n")


def _needs_torch(assignment: Assignment) -> bool:
    return any(imports_torch(cell.source) for notebook in assignment.notebooks for cell in notebook.cells)

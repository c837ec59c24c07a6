"""The test process: it runs the source's test cells, and asks the learner's process for each result.

A test cell is run as written. Where it names an answer (`softmax`), it gets a function that calls
into the learner's process; expected values, scores and the hidden tests stay on this side.
"""

from __future__ import annotations

import contextlib
import functools
import io
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import CodeType
from typing import Any

from autograder import failures, hints
from autograder.answer_errors import Trouble
from autograder.course import Check, Exercise
from autograder.intake import Plan, RunCell, RunCheck, called_names
from autograder.limits import LIMITS
from autograder.link import Link, Stopped
from autograder.results import CheckResult
from autograder.statuses import ERROR, FAILED, PASSED, TIMEOUT, UNANSWERED, Status
from autograder.words import say


@dataclass
class Examination:
    """One notebook of one submission, from its plan to the results of its checks.

    `with Examination(plan, exercises, start) as examination: examination.run()`; the learner's
    process ends with the block.
    """

    plan: Plan
    exercises: Sequence[Exercise]
    start: Callable[[], Link]
    named_before: Callable[[str, str], int] = lambda exercise, mistake: 0  # how often; hints grow with it
    keeps_secrets: bool = True  # False: the answers are the author's own, who may see hidden tests
    results: dict[str, CheckResult] = field(default_factory=dict)  # by the check's name
    printed: dict[str, str] = field(default_factory=dict)  # exercise -> what it printed
    repairs: list[str] = field(default_factory=list)
    flags: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._link: Link | None = None
        self._ran: list[RunCell] = []  # what a new process must be told
        self._troubles: dict[str, Trouble] = {}  # exercise -> the error its cell raised
        self._stopped: dict[str, Stopped] = {}  # exercise -> why its cell never came to an end
        self._named: dict[str, str] = {}  # exercise -> the mistake that its check named
        self._recognised: dict[str, hints.Mistake | None] = {}  # exercise -> what its answer shows in this process
        self._namespace: dict[str, Any] = {"__name__": "__main__"}
        self._began = time.monotonic()
        self._saw_hidden = False  # whether the learner's process was called by a hidden test

    def __enter__(self) -> Examination:
        return self

    def __exit__(self, *error: object) -> None:
        if self._link:
            self._link.close()

    def run(self) -> None:
        """Run every step of the plan; afterwards `results` has an entry for each check."""
        for step in self.plan.steps:
            if isinstance(step, RunCheck):
                self.results[step.check.name] = self._check(step)
            else:
                self._cell(step)
        self._try_again_with_cells_below()

    def try_answer(self, exercise: Exercise, source: str) -> tuple[CheckResult, ...]:
        """What another answer to `exercise` would get, put in place of the one that ran; stays in place."""
        self._began = time.monotonic()  # each trial has its own time
        if self._link:
            self._link.until = self._began + LIMITS.submission_seconds
        self._ran = [step for step in self._ran if step.exercise != exercise.name]
        self._troubles.pop(exercise.name, None)
        self._stopped.pop(exercise.name, None)
        self._recognised.clear()  # other answers may call this one
        self._cell(RunCell(source, say("intake.answer_cell", exercise=exercise.name), exercise=exercise.name))
        return tuple(self._check(RunCheck(exercise.name, check)) for check in exercise.checks)

    def wrong_answers_called_by(self, name: str) -> list[str]:
        """The other answers that the answer `name` calls and that do not pass, as far as they have been checked."""
        called = called_names(self.plan.answers.get(name, "")) - {name}
        results = (
            (exercise.name, self.results.get(check.name)) for exercise in self.exercises for check in exercise.checks
        )
        return sorted(called & {other for other, result in results if result and result.status != PASSED.name})

    # Cells

    def _cell(self, step: RunCell) -> None:
        if step.given:
            with _quiet():
                exec(_compiled(step.source, "<given>"), self._namespace)
        for exercise in self.exercises:  # a given cell may not take an answer's name
            self._namespace[exercise.name] = self._answer(exercise.name)
        if self._no_time():
            return  # the checks say so
        if self._link is None:
            self._living_link()  # where no process begins at all, that is no fault of the cell's
        try:
            self._run_cell(self._living_link(), step)
        except Stopped as stopped:
            if step.exercise:
                self._stopped[step.exercise] = stopped
            else:
                self.flags.append(say("exam.extra_cell_stopped", reason=stopped.message))
            return
        self._ran.append(step)

    def _run_cell(self, link: Link, step: RunCell) -> None:
        """Run a cell in a learner's process, and keep what went wrong in an answer's. Raises Stopped."""
        trouble = link.run(step.source, step.label)
        if trouble and step.exercise:
            self._troubles[step.exercise] = trouble

    def _no_time(self) -> bool:
        return time.monotonic() - self._began > LIMITS.submission_seconds

    def _living_link(self) -> Link:
        """The learner's process; a new one, told all that ran before, where the last one is gone."""
        while self._link is None or not self._link.alive:
            if self._link:
                self._link.close()
                if self._no_time():
                    raise Stopped(TIMEOUT, _took_too_long())
            self._link = self.start()
            self._link.until = self._began + LIMITS.submission_seconds
            self._saw_hidden = False
            self._recognised.clear()  # what an answer shows may come from what the last process has seen
            for step in list(self._ran):
                try:
                    self._run_cell(self._link, step)
                except Stopped:  # it went well the first time: leave it out and start once more
                    self._ran.remove(step)
                    break
        return self._link

    def _answer(self, name: str) -> Callable:
        """What stands for the answer `name` in test cells; it outlives a process that ended."""

        def answer(*args: Any, **kwargs: Any) -> Any:
            link = self._living_link()
            before = len(link.printed)
            try:
                return link.call(name, args, kwargs)
            finally:
                if hints.is_probing():  # what it prints then belongs to no line of the check
                    del link.printed[before:]

        answer.__name__ = answer.__qualname__ = name
        return answer

    # Checks

    def _check(self, step: RunCheck) -> CheckResult:
        """Run one test cell and say what came of it."""
        check, name = step.check, step.exercise
        if name in self.plan.unanswered:
            missing = name in self.plan.without_cell
            return _result(check, UNANSWERED, say("exam.no_cell" if missing else "exam.unanswered", exercise=name))
        if name in self._stopped:
            return _result(check, self._stopped[name].status, self._stopped[name].message)
        try:
            with hints.leave_out_further() if self.wrong_answers_called_by(name) else contextlib.nullcontext():
                return self._run_check_unspoilt(step)
        except Stopped:
            if self._no_time():
                return _result(check, TIMEOUT, _took_too_long())
            raise  # no process could be started, which is our fault

    def _run_check_unspoilt(self, step: RunCheck) -> CheckResult:
        """Run it, and show nothing that comes from a process which earlier hidden tests have called.

        An answer could remember their arguments and print them now: where there is something to show, it
        comes from a new process. Most often there is nothing, and none is needed.
        """
        if self._no_time():
            return _result(step.check, TIMEOUT, _took_too_long())
        self._living_link()
        spoilt = self._saw_hidden and self.keeps_secrets
        result = self._run_check(step)
        if spoilt and self._link and (self.printed[step.exercise] or not result.visible_passed):
            self._link.close()
            result = self._run_check(step)
        return result

    def _run_check(self, step: RunCheck) -> CheckResult:
        """The run itself, once nothing stands in its way."""
        check, name = step.check, step.exercise
        link = self._living_link()
        link.changed.clear()
        link.printed.clear()
        link.last = None
        self._named.pop(name, None)
        visible_passed = False
        try:
            with _quiet(), hints.telling(self._tell):
                self._execute(check.visible, check)
                visible_passed = True
                self.printed[name] = "".join(link.printed)
                self._saw_hidden = self._saw_hidden or bool(check.hidden)
                with hints.hide_expected():
                    self._execute(check.hidden, check)
            if name in link.changed:
                return self._failed(step, FAILED, say("exam.changed", name=name), visible_passed)
            return self._look_further(step) or CheckResult(
                check.name, check.points, check.points, PASSED.name, visible_passed=True
            )
        except Stopped as stopped:
            return _result(check, stopped.status, stopped.message, visible_passed)
        except Exception as error:
            trouble = getattr(error, "from_answer", None)
            if trouble:
                return self._failed(
                    step,
                    ERROR,
                    self._of_error(name, error, trouble, visible_passed),
                    visible_passed,
                    type(error).__name__,
                )
            return self._failed(step, FAILED, failures.of_test(error, check, link.last, visible_passed), visible_passed)
        finally:
            if not visible_passed:
                self.printed[name] = "".join(link.printed)

    def _execute(self, source: str, check: Check) -> None:
        exec(_compiled(source, f"<{check.name}>"), self._namespace)

    def _failed(
        self, step: RunCheck, status: Status, message: str, visible_passed: bool, failure: str = ""
    ) -> CheckResult:
        """A check that did not pass, with the known mistake, if it is one. `failure`: see `hints.fitting`."""
        named = self._named.get(step.exercise, "")
        mistake = None if named else self._mistake(step.exercise)
        if mistake and hints.is_told(mistake, failure):
            named = mistake.id
            message = f"{message}\n{hints.fitting(mistake, failure, self._hint(step.exercise, mistake))}"
        if visible_passed and step.check.hidden:
            message = f"{say('exam.hidden')} {message}"
        return _result(step.check, status, message, visible_passed, named)

    def _look_further(self, step: RunCheck) -> CheckResult | None:
        """Where the hidden part stays with the teacher: a known mistake that the visible part does not see."""
        mistake = None if step.check.hidden else self._mistake(step.exercise)
        if mistake is None:
            return None
        message = f"{say('exam.further')}\n{self._hint(step.exercise, mistake)}"
        return _result(step.check, FAILED, message, visible_passed=True, mistake=mistake.id)

    def _mistake(self, name: str) -> hints.Mistake | None:
        """The known mistake that the answer makes on the probes; asked once, for that takes many calls."""
        if name not in self._recognised and self._link and self._link.alive:
            with contextlib.suppress(Stopped), _quiet():
                self._recognised[name] = hints.find_mistake(self._answer(name), self._namespace)
        return self._recognised.get(name)

    def _tell(self, name: str, mistake: str) -> int:
        """`named_before`, for a check that names a mistake now."""
        self._named[name] = mistake
        return self.named_before(name, mistake)

    def _hint(self, name: str, mistake: hints.Mistake) -> str:
        """What the learner reads of the mistake."""
        with contextlib.suppress(Stopped), _quiet():
            return hints.tell(self._answer(name), mistake, self.named_before(name, mistake.id), self._namespace)
        return mistake.sentences[0]

    def _of_error(self, name: str, error: Exception, trouble: Trouble, hidden: bool) -> str:
        """What to say of an error that the answer raised."""
        if hidden:
            return failures.of_error_in_hidden(name, error, trouble, self.plan.answers.get(trouble.exercise, ""))
        if trouble.name == "NameError" and not trouble.line and name in self._troubles:
            trouble = self._troubles[name]  # nothing is defined because its cell failed
        return failures.of_error(name, trouble)

    def _try_again_with_cells_below(self) -> None:
        """An answer may lean on a helper in a cell further down: with all cells run, look once more."""
        self._recognised.clear()
        steps = self.plan.steps
        extras = [
            i for i, step in enumerate(steps) if isinstance(step, RunCell) and not step.given and not step.exercise
        ]
        for position, step in enumerate(steps):
            if not isinstance(step, RunCheck) or position > max(extras, default=-1):
                continue
            if self.results[step.check.name].status in (FAILED.name, ERROR.name):
                again = self._check(step)
                if again.status == PASSED.name:
                    self.results[step.check.name] = again
                    self.repairs.append(say("exam.cells_below", exercise=step.exercise))


@functools.lru_cache(maxsize=1024)  # the source's own cells: the same for every submission
def _compiled(source: str, name: str) -> CodeType:
    return compile(source, name, "exec")


def _took_too_long() -> str:
    return say("exam.no_time", seconds=f"{LIMITS.submission_seconds:g}")


def _result(check: Check, status: Status, message: str, visible_passed: bool = False, mistake: str = "") -> CheckResult:
    return CheckResult(check.name, 0.0, check.points, status.name, message, visible_passed, mistake)


@contextlib.contextmanager
def _quiet() -> Any:
    """Test cells print into nowhere, and their warnings are theirs."""
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield

"""From what a learner handed in to a plan of what to run: their answers, our tests, in the source's order.

Repairs rather than rejects; every repair is a sentence for the feedback page. Nothing of a
learner's file decides points, tests or order: those come from the source notebook.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from autograder.course import Check, Exercise, SourceNotebook
from autograder.notebooks import Cell
from autograder.syntax import parsed
from autograder.words import say


@dataclass(frozen=True)
class RunCell:
    """Run a cell in the learner's process; a given one runs in the test process too."""

    source: str
    label: str  # how messages name it
    given: bool = False
    exercise: str = ""  # the exercise that it answers


@dataclass(frozen=True)
class RunCheck:
    """Run a test cell in the test process."""

    exercise: str
    check: Check


@dataclass(frozen=True)
class Plan:
    """What to run for one notebook of one submission, in order."""

    notebook: str
    steps: tuple[RunCell | RunCheck, ...]
    answers: dict[str, str] = field(default_factory=dict)  # exercise -> the learner's source
    unanswered: frozenset[str] = frozenset()
    without_cell: frozenset[str] = frozenset()  # of the unanswered ones: not even the stub is there
    changed_checks: tuple[str, ...] = ()  # test cells that are not as they were released
    repairs: tuple[str, ...] = ()

    @property
    def with_torch(self) -> bool:
        """Whether a cell imports PyTorch, a test's too, which may hand over tensors: it is then there from the start."""
        sources = (
            step.check.visible + step.check.hidden if isinstance(step, RunCheck) else step.source for step in self.steps
        )
        return any(map(imports_torch, sources))


def imports_torch(source: str) -> bool:
    """Whether some code has a line that imports PyTorch."""
    # Spaces alone, and no line breaks: the search would begin anew at each of many empty lines.
    return re.search(r"^[ \t]*(?:import|from)[ \t]+torch\b", source, re.M) is not None


def make_plan(source: SourceNotebook, cells: Sequence[Cell]) -> Plan:
    """Match the cells of a learner's notebook with the source's, and order what there is to run."""
    matched, extras, repairs = _match(source, [cell for cell in cells if cell.kind == "code"])
    answers: dict[str, str] = {}
    unanswered, without_cell = set(), set()
    for exercise in source.exercises:
        candidates = matched[exercise.name]
        elsewhere = [extra for group in extras.values() for extra in group if _defines(extra, exercise.name)]
        written = [source for source in candidates if not _same_code(source, exercise.stub)]
        if len(written) > 1:
            repairs.append(say("intake.twice", exercise=exercise.name))
        answers[exercise.name] = (written or elsewhere or candidates or [""])[-1]
        matched[exercise.name] = written or candidates[:1]  # a stub pasted below an answer does not undo it
        if not written and not elsewhere:
            unanswered.add(exercise.name)
            if not candidates:
                without_cell.add(exercise.name)
    steps: list[RunCell | RunCheck] = []
    checks = {check.name: RunCheck(exercise.name, check) for exercise in source.exercises for check in exercise.checks}
    for position, cell in enumerate(source.cells):
        if cell.is_answer:
            label = say("intake.answer_cell", exercise=cell.grade_id)
            steps += [RunCell(text, label, exercise=cell.grade_id) for text in matched[cell.grade_id]]
        elif cell.is_check and cell.grade_id in checks:
            steps.append(checks[cell.grade_id])
        elif cell.kind == "code" and not cell.is_by_hand and not source.is_of_run(cell):
            steps.append(RunCell(cell.source, say("intake.given_cell"), given=True))
        steps += [RunCell(text, say("intake.extra_cell")) for text in extras.get(position, [])]
    return Plan(
        source.name,
        tuple(steps),
        answers,
        frozenset(unanswered),
        frozenset(without_cell),
        _changed_checks(source, cells),
        tuple(repairs),
    )


def _match(
    source: SourceNotebook, cells: Sequence[Cell]
) -> tuple[dict[str, list[str]], dict[int, list[str]], list[str]]:
    """The sources of each exercise's answer cells; the extra cells by the source position they follow; repairs."""
    positions = {cell.grade_id: position for position, cell in enumerate(source.cells) if cell.grade_id}
    given = {_bare(cell.source): cell for cell in source.cells if cell.kind == "code" and not cell.is_answer}
    exercises = {exercise.name: exercise for exercise in source.exercises}
    matched: dict[str, list[str]] = {name: [] for name in exercises}
    extras: dict[int, list[str]] = {}
    repairs: list[str] = []
    named = {name for cell in cells if (name := _name(cell, positions)) in exercises}
    first_given = next((i for i, cell in enumerate(source.cells) if cell.kind == "code"), 0)
    after = first_given
    for cell in cells:
        name = _name(cell, positions)
        if not name and _bare(cell.source) in given:  # ours, without its metadata
            name = given[_bare(cell.source)].grade_id
            after = max(first_given, positions.get(name, after))
            continue
        if not name:
            name = next((e.name for e in exercises.values() if e.name not in named and _grew_from(cell, e)), "")
            if name:
                repairs.append(say("intake.no_metadata", exercise=name))
                named.add(name)
        if name in exercises:
            matched[name].append(cell.source)
            after = positions[name]
        elif name:  # a given or test cell: the source's own runs instead
            after = max(first_given, positions[name])
        elif cell.source.strip():
            extras.setdefault(after, []).append(cell.source)
    return matched, extras, repairs


def _changed_checks(source: SourceNotebook, cells: Sequence[Cell]) -> tuple[str, ...]:
    """The test cells that the learner's notebook holds in another form, or not at all."""
    positions = {cell.grade_id: position for position, cell in enumerate(source.cells) if cell.grade_id}
    own: dict[str, set[str]] = {}
    for cell in cells:
        if cell.kind == "code":
            own.setdefault(_name(cell, positions), set()).add(_bare(cell.source))
    bare = set().union(*own.values())  # also a test cell that lost its metadata is as it was released
    checks = (check for exercise in source.exercises for check in exercise.checks)
    return tuple(
        check.name
        for check in checks
        if own.get(check.name, set()) - {_bare(check.visible)} or _bare(check.visible) not in bare
    )


def _name(cell: Cell, positions: dict[str, int]) -> str:
    """The source cell that this one is, by its grade_id, else by its cell id; "" where neither says."""
    return next((name for name in (cell.grade_id, cell.id) if name in positions), "")


def _grew_from(cell: Cell, exercise: Exercise) -> bool:
    """Whether a cell without metadata answers the exercise: it defines its name."""
    return _defines(cell.source, exercise.name)


def _defines(source: str, name: str) -> bool:
    pattern = rf"^(?:(?:async\s+)?def|class)\s+{re.escape(name)}\b|^{re.escape(name)}\s*="
    return re.search(pattern, source, re.M) is not None


def _same_code(one: str, other: str) -> bool:
    """Whether two sources are the same program, whatever their comments and spaces."""
    if _bare(one) == _bare(other):
        return True
    syntax = _syntax(one)
    return syntax is not None and syntax == _syntax(other)


@functools.lru_cache  # the stubs' is asked for again and again
def _syntax(source: str) -> str | None:
    tree = parsed(source)
    try:
        return None if tree is None else ast.dump(tree)
    except RecursionError:
        return None


def _bare(source: str) -> str:
    return "\n".join(line.rstrip() for line in source.strip().splitlines())


@functools.lru_cache  # each check of an answer asks, and then its score
def called_names(source: str) -> frozenset[str]:
    """The names that an answer uses, to see which other answers it leans on."""
    tree = parsed(source)
    return frozenset(node.id for node in ast.walk(tree) if isinstance(node, ast.Name)) if tree else frozenset()


def all_checks(exercises: Iterable[Exercise]) -> tuple[Check, ...]:
    return tuple(check for exercise in exercises for check in exercise.checks)

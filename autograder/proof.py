"""The proof that an exercise is fair: rights pass, wrongs fail and are named, the stub earns nothing.

All answers to an exercise are tried one after the other in one learner's process, which makes the
proof of a whole chapter a matter of seconds. The author's own code runs here: no sandbox.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from autograder import hints
from autograder.course import Assignment, Exercise, SourceNotebook
from autograder.examiner import Examination
from autograder.intake import Plan, RunCell
from autograder.link import connect
from autograder.misconceptions import Misconceptions, Variant
from autograder.results import CheckResult
from autograder.sandbox import no_sandbox, start
from autograder.statuses import PASSED
from autograder.words import say


def unfair(assignment: Assignment, misconceptions: Misconceptions, table: dict[str, Any]) -> Iterator[str]:
    """What is unfair about an assignment, a sentence each; nothing where all is well.

    `table` is the content of its hints.json.
    """
    hints.use(table)
    with_torch = any("torch" in variant.source for variant in misconceptions.variants)
    for notebook in assignment.notebooks:
        plan = reference_plan(notebook)
        begin = partial(connect, partial(start, no_sandbox()), with_torch or plan.with_torch)
        with Examination(plan, notebook.exercises, begin, keeps_secrets=False) as examination:
            examination.run()
            for exercise in notebook.exercises:
                yield from _unfair_exercise(examination, exercise, misconceptions)


def reference_plan(notebook: SourceNotebook) -> Plan:
    """Run the given cells and the reference answers, and no check."""
    references = {exercise.name: exercise.reference for exercise in notebook.exercises}
    steps = tuple(
        RunCell(
            references.get(cell.grade_id, cell.source),
            cell.grade_id,
            not cell.is_answer,
            cell.grade_id if cell.is_answer else "",
        )
        for cell in notebook.cells
        if cell.kind == "code" and not cell.is_check
    )
    return Plan(notebook.name, steps)


def _unfair_exercise(examination: Examination, exercise: Exercise, misconceptions: Misconceptions) -> Iterator[str]:
    for result in examination.try_answer(exercise, exercise.stub):
        if result.score:
            yield say("proof.stub", check=result.check, exercise=exercise.name)
    for variant in misconceptions.wrong(exercise.name):
        yield from _unfair_to_wrong(variant, examination.try_answer(exercise, variant.source))
    for variant in misconceptions.right(exercise.name):
        for result in examination.try_answer(exercise, variant.source):
            if result.status != PASSED.name:
                yield say("proof.right", variant=variant.id, exercise=exercise.name, message=result.message)
    for result in examination.try_answer(exercise, exercise.reference):  # last: it stays for the exercises that follow
        if result.status != PASSED.name:
            yield say("proof.reference", check=result.check, exercise=exercise.name, message=result.message)


def _unfair_to_wrong(variant: Variant, results: tuple[CheckResult, ...]) -> Iterator[str]:
    missed = [result for result in results if result.status != PASSED.name]
    if not missed:
        yield say("proof.wrong_passes", variant=variant.id, exercise=variant.exercise)
    elif not any(result.misconception == variant.id for result in missed):
        named = missed[0].misconception or say("proof.nothing")
        yield say("proof.wrong_unnamed", variant=variant.id, exercise=variant.exercise, named=named)
    elif not any(sentence in result.message for result in missed for sentence in variant.sentences):
        yield say("proof.wrong_unsaid", variant=variant.id, exercise=variant.exercise, message=missed[0].message)

"""Every exercise of the course is fair, and the tools agree on it."""

from __future__ import annotations

import json

import pytest
from conftest import ROOT

from autograder.course import Course
from autograder.misconceptions import load
from autograder.proof import unfair

COURSE = Course(ROOT)
LEAST_WRONG, LEAST_RIGHT = 4, 3


@pytest.fixture(params=COURSE.chapters)
def assignment(request):
    return COURSE.assignment(request.param)


def released_table(assignment):
    return json.loads((ROOT / "exercises" / assignment.name / "hints.json").read_text(encoding="utf-8"))


@pytest.mark.slow
def test_rights_pass_wrongs_fail_and_are_named_and_stubs_earn_nothing(assignment):
    assert list(unfair(assignment, load(assignment.folder), released_table(assignment))) == []


def test_each_exercise_has_enough_wrong_and_right_answers(assignment):
    misconceptions = load(assignment.folder)
    for exercise in assignment.exercises:
        assert len(misconceptions.wrong(exercise.name)) >= LEAST_WRONG, exercise.name
        assert len(misconceptions.right(exercise.name)) >= LEAST_RIGHT, exercise.name


def test_each_exercise_has_hidden_checks(assignment):
    for exercise in assignment.exercises:
        assert any(check.hidden.strip() for check in exercise.checks), exercise.name


def test_no_sentence_says_what_the_answer_is(assignment):
    """A hint quotes no line of the reference."""
    misconceptions = load(assignment.folder)
    for exercise in assignment.exercises:
        lines = {line.strip() for line in exercise.reference.splitlines() if len(line.strip()) > 24}
        for variant in misconceptions.wrong(exercise.name):
            assert not any(line in sentence for line in lines for sentence in variant.sentences), variant.id

"""What really gets handed in, and what is made of it."""

from __future__ import annotations

import ast
import json
import time

import pytest
from made_up import answer_cell, check_cell, handed_in, made_up, make_course, notebook, own_cell

from autograder.intake import RunCell, RunCheck, called_names, imports_torch, make_plan
from autograder.notebooks import Unreadable, parse_cells
from autograder.recognise import Recogniser
from autograder.suspicions import suspicions


@pytest.fixture
def source(tmp_path):
    return made_up(tmp_path)[1]


def plan_of(source, content):
    return make_plan(source, parse_cells(content))


def order(plan):
    return [step.exercise or step.source for step in plan.steps if not getattr(step, "given", False)]


ANSWER = "def double(x):\n    return x + x"


def test_answers_and_checks_are_run_in_the_sources_order(source):
    plan = plan_of(source, handed_in(double=ANSWER))
    kinds = [type(step) for step in plan.steps]
    assert kinds == [RunCell, RunCell, RunCheck, RunCell, RunCheck]
    assert plan.answers["double"] == ANSWER
    assert plan.unanswered == {"quadruple"}


def test_an_unchanged_stub_is_unanswered_whatever_its_comments(source):
    stub = source.exercises[0].stub.replace("# YOUR CODE HERE", "# my notes\n\n")
    assert "double" in plan_of(source, handed_in(double=stub)).unanswered


def test_tests_points_and_order_of_a_learners_file_count_for_nothing(source):
    forged = notebook(
        check_cell("test_double", "pass", points=1000),
        answer_cell("double", ANSWER),
        check_cell("test_quadruple", "pass", points=1000),
    )
    plan = plan_of(source, json.dumps(forged).encode())
    checks = [step.check for step in plan.steps if isinstance(step, RunCheck)]
    assert [check.points for check in checks] == [2, 3]
    assert all("assert" in check.visible for check in checks)


def test_an_answer_without_metadata_is_found_by_its_cell_id_and_then_by_its_name(source):
    cells = json.loads(handed_in(double=ANSWER))
    for cell in cells["cells"]:
        cell["metadata"] = {}
    assert plan_of(source, json.dumps(cells).encode()).answers["double"] == ANSWER
    for cell in cells["cells"]:
        del cell["id"]
    plan = plan_of(source, json.dumps(cells).encode())
    assert plan.answers["double"] == ANSWER
    assert any("double" in repair for repair in plan.repairs)


def test_a_cell_that_lost_only_half_its_metadata_is_found(source):
    cells = json.loads(handed_in(double=ANSWER))
    for cell in cells["cells"]:
        cell["metadata"]["nbgrader"] = {"grade_id": cell["metadata"]["nbgrader"]["grade_id"]}
    assert plan_of(source, json.dumps(cells).encode()).answers["double"] == ANSWER


@pytest.mark.parametrize(
    "metadata", [None, 7, "text", {"nbgrader": None}, {"nbgrader": [1]}, {"nbgrader": {"grade_id": 5}}]
)
def test_nonsense_in_the_metadata_is_no_error(source, metadata):
    cells = json.loads(handed_in(double=ANSWER))
    for cell in cells["cells"]:
        cell["metadata"] = metadata
    assert plan_of(source, json.dumps(cells).encode()).answers["double"] == ANSWER


def test_a_pasted_cell_is_run_and_the_last_one_counts(source):
    cells = json.loads(handed_in(double=ANSWER))
    cells["cells"].insert(2, answer_cell("double", "def double(x):\n    return 2.0 * x"))
    plan = plan_of(source, json.dumps(cells).encode())
    assert plan.answers["double"].endswith("2.0 * x")
    assert order(plan).count("double") == 3  # two cells and the check
    assert any("several cells" in repair for repair in plan.repairs)


def test_a_pasted_stub_does_not_undo_an_answer(source):
    cells = json.loads(handed_in(double=ANSWER))
    cells["cells"].append(answer_cell("double", source.exercises[0].stub))
    plan = plan_of(source, json.dumps(cells).encode())
    assert plan.answers["double"] == ANSWER
    assert "double" not in plan.unanswered
    assert [step.source for step in plan.steps if isinstance(step, RunCell) and step.exercise == "double"] == [ANSWER]


def test_own_cells_keep_their_place_after_the_cell_they_follow(source):
    plan = plan_of(source, handed_in(before=(own_cell("first = 1"),), after=(own_cell("last = 1"),), double=ANSWER))
    steps = [step.source for step in plan.steps if isinstance(step, RunCell)]
    assert steps.index("first = 1") == 1  # after the given imports
    assert steps[-1] == "last = 1"


def test_an_answer_written_in_an_own_cell_is_an_answer(source):
    plan = plan_of(source, handed_in(after=(own_cell(ANSWER),)))
    assert "double" not in plan.unanswered
    assert plan.answers["double"] == ANSWER


def test_a_deleted_answer_cell_is_said(source):
    cells = json.loads(handed_in(double=ANSWER))
    del cells["cells"][1]
    plan = plan_of(source, json.dumps(cells).encode())
    assert "double" in plan.unanswered
    assert plan.without_cell == {"double"}
    assert plan.repairs == ()


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "empty"),
        (b"  \n", "empty"),
        (b"null", "not a notebook"),
        (b"[]", "not a notebook"),
        (b'{"cells": 3}', "not a notebook"),
        (b'{"cells": []', "not a notebook"),
        (b"<!DOCTYPE html><html></html>", "web page"),
        ("{}".encode("utf-16"), "UTF-8"),
        (b"<<<<<<< HEAD\n{}\n=======\n{}\n>>>>>>> other", "merge"),
        (b'{\n<<<<<<< HEAD\n"cells": []}', "merge"),
        (b'{"nbformat": 3, "worksheets": []}', "format 3"),
        (b'{"nbformat": "4", "cells": []}', 'format "4"'),
        (b'{"nbformat": "' + b"4" * 10_000 + b'", "cells": []}', 'format "4{38}… is not'),
        (b"[" * 100_000, "not a notebook"),
    ],
)
def test_what_is_not_a_notebook_is_unreadable_with_the_reason(content, reason):
    with pytest.raises(Unreadable, match=reason):
        parse_cells(content)


def test_a_byte_order_mark_is_fine(source):
    assert plan_of(source, b"\xef\xbb\xbf" + handed_in(double=ANSWER)).answers["double"] == ANSWER


def test_cells_of_odd_kinds_are_left_out(source):
    cells = json.loads(handed_in(double=ANSWER))
    cells["cells"] += [None, 5, {}, {"cell_type": "code"}, {"cell_type": "code", "source": [1, "x = 1\n"]}]
    assert plan_of(source, json.dumps(cells).encode()).answers["double"] == ANSWER


ODD = [None, True, -1, 10**400, 1e999, "", "\ud800", "a" * 10_000, [], {}, [[]], [None], {"a": {}}]


def places_in(value, path=()):
    """The path of everything that JSON data holds."""
    yield path
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in parts:
        yield from places_in(part, (*path, key))


def with_odd(content, path, odd):
    """The same JSON data with something else in one place."""
    whole = {"": json.loads(content)}
    *above, last = ("", *path)
    holder = whole
    for key in above:
        holder = holder[key]
    holder[last] = odd
    return json.dumps(whole[""]).encode()


def why_unreadable(source, content):
    try:
        plan_of(source, content)
    except Unreadable as error:
        return str(error)
    return ""


@pytest.mark.parametrize("odd", ODD, ids=lambda odd: json.dumps(odd)[:12])
def test_whatever_stands_in_a_file_in_the_place_of_something_it_is_read_or_unreadable(source, odd, tmp_path):
    recogniser = Recogniser(make_course(tmp_path / "course").readable()[0].values())
    content = handed_in(double=ANSWER, after=(own_cell("x = 1"),))
    for path in places_in(json.loads(content)):
        changed = with_odd(content, path, odd)
        recogniser.by_content(changed)
        assert len(why_unreadable(source, changed)) < 200, path


def test_what_takes_python_long_to_read_is_read_once(source, monkeypatch):
    read, parse = [], ast.parse
    monkeypatch.setattr(ast, "parse", lambda text, *args: read.append(text) or parse(text, *args))
    cells = plan_of(source, handed_in(double=ANSWER + "  # once", quadruple="x = 'not here'"))
    for answer in cells.answers.values():
        called_names(answer)
        list(suspicions(answer))
    assert read.count(ANSWER + "  # once") == 1


@pytest.mark.parametrize("gap", ["\n" * 200_000, " " * 200_000, "import\n" * 50_000, "from \t" * 50_000])
def test_looking_for_pytorch_takes_no_time_that_grows_with_the_square(gap):
    started = time.process_time()
    assert not imports_torch(gap + "x")
    assert imports_torch(f"{gap}\n  import torch")
    assert time.process_time() - started < 2  # hours, with the square

"""Exercises done in their pages, in Chromium, with Python for the browser: what passes, what is said, what is kept."""

from __future__ import annotations

import json
import shutil

import pytest
from conftest import ROOT
from learner import Learner

from autograder.attempts import Attempts
from autograder.check import check_notebook
from autograder.course import Course
from autograder.intake import imports_torch
from autograder.misconceptions import load
from autograder.words import say

COURSE = Course(ROOT)
NOTEBOOKS = {
    f"exercises/{chapter}/{notebook.name}": notebook
    for chapter in COURSE.chapters
    for notebook in COURSE.assignment(chapter).notebooks
    if not any(imports_torch(cell.source) for cell in notebook.cells)
}
TOLD = 2  # wrong answers of each exercise
LOOP = "def {name}(*args, **kwargs):\n    while True:\n        pass\n"


@pytest.fixture(scope="module", params=NOTEBOOKS, ids=lambda page: page.split("/")[-1])
def learner(request, browser, site):
    """A learner at one page, with one Python for all tests of it."""
    context = browser.new_context(accept_downloads=True)
    learner = Learner(context, site, request.param)
    learner.notebook = NOTEBOOKS[request.param]
    learner.chapter = request.param.split("/")[1]
    learner.right = {exercise.name: exercise.reference for exercise in learner.notebook.exercises}
    yield learner
    context.close()


def test_nothing_of_python_is_loaded_before_somebody_wants_it(learner):
    assert "in_page/start.js" in " ".join(learner.asked)
    assert not [url for url in learner.asked if "pyodide" in url or "worker" in url or "hints.json" in url]


def test_an_editor_takes_no_more_place_than_what_it_replaces(learner):
    for exercise in learner.notebook.exercises:
        printed = learner.cell(exercise.name).locator(".cell_input").bounding_box()
        learner.editor(exercise.name)
        editor = learner.cell(exercise.name).locator(".in-page-editor").bounding_box()
        assert (editor["width"], editor["height"]) == (printed["width"], printed["height"]), exercise.name


def test_a_stub_does_not_pass(learner):
    for exercise in learner.notebook.exercises:
        assert learner.check(exercise.name) == "Not answered yet."
        assert not learner.passes(exercise.name)


def test_every_reference_passes(learner):
    for name, answer in learner.right.items():
        learner.write(name, answer)
    assert learner.check_all() == say("check.all", total=len(learner.right))
    assert all(map(learner.passes, learner.right))


def test_a_known_mistake_shows_its_sentence(learner):
    known = load(ROOT / "solutions" / learner.chapter)
    for name, right in learner.right.items():
        for variant in known.wrong(name)[:TOLD]:
            learner.write(name, variant.source)
            said = " ".join(learner.check(name).split())
            sentences = [sentence.replace("`", "") for sentence in variant.sentences]  # which the page shows as code
            assert any(sentence in said for sentence in sentences), (variant.id, said)
            assert not learner.passes(name)
        learner.write(name, right)
        assert learner.check(name).startswith("Right so far"), name


def test_a_loop_without_end_is_stopped_and_the_others_are_still_checked(learner):
    first, *others = learner.right
    learner.write(first, LOOP.format(name=first))
    learner.press(first, "Check")
    learner.wait_for_the_end()
    assert "is there a loop that never ends?" in learner.said(first)
    assert not learner.passes(first)
    assert learner.check(others[0]).startswith("Right so far")
    learner.write(first, learner.right[first])
    assert learner.check(first).startswith("Right so far")


def test_the_notebook_to_take_away_gets_the_same_verdict(learner, tmp_path):
    first, *_ = learner.right
    wrong = load(ROOT / "solutions" / learner.chapter).wrong(first)[0]
    learner.write(first, wrong.source)
    learner.check_all()
    path = learner.download(tmp_path)
    assert path.name == f"{learner.notebook.name}.ipynb"
    shutil.copy(ROOT / "exercises" / learner.chapter / "hints.json", tmp_path)
    found = check_notebook(path, tmp_path, Attempts())
    assert {one.exercise: one.status == "passed" for one in found.exercises} == {
        name: learner.passes(name) for name in learner.right
    }
    released = json.loads((ROOT / f"{learner.page_name}.ipynb").read_text(encoding="utf-8"))
    taken = json.loads(path.read_text(encoding="utf-8"))
    for cell in released["cells"] + taken["cells"]:
        cell.pop("source")
    assert taken == released


def test_after_a_reload_answers_and_what_passes_are_still_there(learner):
    last = list(learner.right)[-1]
    passed = {name: learner.passes(name) and name != last for name in learner.right}
    learner.write(last, "# 나중에\n" + learner.right[last])
    before = {name: learner.text(name) for name in learner.right}
    learner.open()
    assert learner.text(last).startswith("# 나중에\ndef ")
    assert {name: learner.text(name) for name in learner.right} == before
    assert {name: learner.passes(name) for name in learner.right} == passed
    assert learner.progress() == say("check.some", right=sum(passed.values()), total=len(passed))


def test_the_page_did_not_complain(learner):
    assert learner.complaints == []

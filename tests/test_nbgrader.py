"""Stock `nbgrader autograde` gives honest submissions the scores that our engine gives."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys

import pytest
from conftest import ROOT

from autograder.course import Course
from autograder.hints import read_table
from autograder.misconceptions import load
from autograder.sample import answered
from autograder.submission import Submission, grade_submission, hint_table

COURSE = Course(ROOT)
WRONG_STUDENTS = 3


def submissions(assignment):
    """The reference, and three students with one wrong answer in every exercise: files by student."""
    misconceptions = load(assignment.folder)
    students = {"reference": {e.name: e.reference for e in assignment.exercises}}
    for number in range(WRONG_STUDENTS):
        students[f"wrong{number}"] = {e.name: misconceptions.wrong(e.name)[number].source for e in assignment.exercises}
    files = {}
    for student, answers in students.items():
        for notebook in assignment.notebooks:
            released = json.loads((ROOT / "exercises" / assignment.name / f"{notebook.name}.ipynb").read_text("utf-8"))
            own = {exercise.name: answers[exercise.name] for exercise in notebook.exercises}
            files.setdefault(student, {})[notebook.name] = answered(released, own)
    return files


def graded_by_nbgrader(folder, assignment, files):
    """(student, check) -> score, from stock nbgrader's own gradebook."""
    shutil.copy(ROOT / "nbgrader_config.py", folder)
    shutil.copytree(ROOT / "solutions" / assignment.name, folder / "solutions" / assignment.name)
    for student, notebooks in files.items():
        for name, content in notebooks.items():
            path = folder / "submitted" / student / assignment.name / f"{name}.ipynb"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
    environment = {**os.environ, "PATH": f"{os.path.dirname(sys.executable)}{os.pathsep}{os.environ['PATH']}"}
    environment |= {"PYTHONPATH": str(ROOT), "JUPYTER_CONFIG_DIR": str(folder / "config"), "OMP_NUM_THREADS": "1"}
    for step in ("generate_assignment", "autograde"):
        command = [sys.executable, "-m", "nbgrader", step, assignment.name]
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=500)
        assert done.returncode == 0, done.stderr[-2000:]
    from nbgrader.api import Gradebook

    scores = {}
    with Gradebook(f"sqlite:///{folder / 'gradebook.db'}") as gradebook:
        for submission in gradebook.assignment_submissions(assignment.name):
            for notebook in submission.notebooks:
                for grade in notebook.grades:
                    scores[submission.student.id, grade.name] = grade.auto_score
    return scores


@pytest.mark.slow
@pytest.mark.parametrize("chapter", COURSE.chapters)
def test_stock_nbgrader_gives_the_same_scores(chapter, tmp_path, warm):
    assignment = COURSE.assignment(chapter)
    warm.prepare(with_torch=True)
    known = read_table(hint_table(assignment))
    files = submissions(assignment)
    ours = {}
    for student, notebooks in files.items():
        submission = Submission(student, chapter, tuple(notebooks.items()))
        for exercise in grade_submission(submission, assignment, warm.start, "", known).exercises:
            for check in exercise.checks:
                ours[student, check.check] = check.score
    assert graded_by_nbgrader(tmp_path, assignment, files) == ours
    best = sum(score for (student, _), score in ours.items() if student == "reference")
    assert best == sum(exercise.max_score for exercise in assignment.exercises)
    for exercise in assignment.exercises:  # one wrong answer may pass the first of two checks
        assert sum(ours["wrong0", check.name] for check in exercise.checks) < exercise.max_score

"""What nbgrader's formgrader needs beside the gradebook, so that a teacher can grade our results by hand.

formgrader reads `autograded/<student>/<chapter>/<notebook>.ipynb` to show a submission, and takes the
points from the gradebook. Here that notebook is the source with the learner's answers in it, and under
each test cell what the check said; nothing that a learner's notebook would show or run comes along.
With `nbgrader_config.py` beside it, `jupyter lab` started in that folder has everything.
(https://nbgrader.readthedocs.io/en/stable/user_guide/creating_and_grading_assignments.html)
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from autograder.course import SOURCE_FOLDER, Assignment, Course, SourceNotebook
from autograder.files import write_aside
from autograder.intake import RunCell, make_plan
from autograder.notebooks import Cell, Unreadable, load_notebook, parse_cells
from autograder.pages.addresses import folder_names
from autograder.plaintext import identifier, plain
from autograder.results import CheckResult, SubmissionResult
from autograder.submission import Submission
from autograder.words import say

# formgrader shows a text with the HTML in it: a learner's script would run as the teacher, who can start kernels.
_TAG = re.compile(r"<(?=[A-Za-z/!?])")

AUTOGRADED = "autograded"
CONFIG = '''"""nbgrader on these results: start Jupyter in this folder, then choose Formgrader."""

c = get_config()  # noqa: F821 (nbgrader defines it)
# formgrader lists the assignments that it finds here.
c.CourseDirectory.source_directory = {source!r}
'''


def write_for_formgrader(
    course: Course,
    out: Path,
    assignments: Sequence[Assignment],
    results: Iterable[SubmissionResult],
    submissions: Iterable[Submission],
) -> None:
    """Write the notebooks of all `submissions` that can be read, and the configuration where there is none."""
    config = out / "nbgrader_config.py"
    if not config.exists():
        write_aside(config, CONFIG.format(source=os.path.relpath(course.root / SOURCE_FOLDER, out)))
    graded = {(result.student, result.assignment): result for result in results}
    sources = {assignment.name: assignment for assignment in assignments}
    for submission in submissions:
        student = identifier(submission.student)
        if folder_names([student])[student] != student:
            continue  # formgrader looks for a folder of just this name, which no file system takes
        files = dict(submission.files)
        assignment = sources[submission.assignment]
        checks = _checks(graded[submission.student, submission.assignment])
        for notebook in assignment.notebooks:
            content = files.get(notebook.name)
            if content is None:
                continue
            try:
                cells = parse_cells(content)
            except Unreadable:
                continue
            made = _graded_notebook(load_notebook(notebook.content), notebook, cells, checks)
            write_aside(out / AUTOGRADED / student / assignment.name / f"{notebook.name}.ipynb", made)


def _checks(result: SubmissionResult) -> dict[str, CheckResult]:
    return {check.check: check for exercise in result.exercises for check in exercise.checks}


def _graded_notebook(
    source: dict, notebook: SourceNotebook, cells: Sequence[Cell], checks: Mapping[str, CheckResult]
) -> str:
    """The source notebook with the learner's answers; their own further cells at its end."""
    plan = make_plan(notebook, cells)
    answers = {**{cell.grade_id or cell.id: cell.source for cell in cells}, **plan.answers}
    made = []
    for raw, cell in zip(source["cells"], notebook.cells, strict=True):
        made.append(dict(raw))
        if cell.is_answer or cell.is_by_hand:
            text = plain(answers.get(cell.grade_id, ""))
            made[-1]["source"] = text if cell.kind == "code" else _TAG.sub("&lt;", text)
        if cell.kind == "code":
            check = checks.get(cell.grade_id)
            text = plain(check.message) if check else ""
            made[-1]["outputs"] = [{"output_type": "stream", "name": "stdout", "text": text}] if text else []
            made[-1]["execution_count"] = None
    own = [step.source for step in plan.steps if isinstance(step, RunCell) and not step.given and not step.exercise]
    if own:
        made.append(_cell("markdown", "own-cells", say("formgrader.own_cells")))
        made += [_cell("code", f"own-{number}", plain(text)) for number, text in enumerate(own, start=1)]
    return json.dumps({**source, "cells": made, "nbformat": 4, "nbformat_minor": 5}, ensure_ascii=False, indent=1)


def _cell(kind: str, name: str, source: str) -> dict:
    cell = {"cell_type": kind, "id": name, "metadata": {}, "source": source}
    return cell if kind == "markdown" else {**cell, "outputs": [], "execution_count": None}

"""An assignment's source in the gradebook: its notebooks and cells, as nbgrader's SaveCells records them.

nbgrader itself refuses to add or remove cells once there are submissions. A teacher who mends a
test after the first grading needs just that, so here the cells are brought up to date and every
submission gets a place for the new ones.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from autograder.course import Assignment, SourceNotebook

if TYPE_CHECKING:
    from nbgrader.api import Gradebook, Notebook


@dataclass
class _Wanted:
    """The cells of one notebook that nbgrader keeps records of: grade_id to fields."""

    kernelspec: str
    grade: dict[str, dict[str, Any]] = field(default_factory=dict)
    solution: dict[str, dict[str, Any]] = field(default_factory=dict)
    task: dict[str, dict[str, Any]] = field(default_factory=dict)
    source: dict[str, dict[str, Any]] = field(default_factory=dict)


def record_assignment(gradebook: Gradebook, assignment: Assignment) -> None:
    """Make the gradebook's record of `assignment` equal to its source; nothing is written where it is."""
    from nbgrader.api import MissingEntry

    try:
        record = gradebook.find_assignment(assignment.name)
    except MissingEntry:
        record = gradebook.add_assignment(assignment.name)
    names = {notebook.name for notebook in assignment.notebooks}
    for notebook in list(record.notebooks):
        if notebook.name not in names:
            gradebook.remove_notebook(notebook.name, assignment.name)
    known = {notebook.name: notebook for notebook in record.notebooks}
    for source in assignment.notebooks:
        wanted = _wanted(source)
        if source.name not in known:
            known[source.name] = _add_notebook(gradebook, record, source.name)
        _bring_up_to_date(gradebook, known[source.name], wanted)
    gradebook.db.commit()
    gradebook.db.expire_all()  # collections that were loaded before cells came or went


def _wanted(source: SourceNotebook) -> _Wanted:
    """What nbgrader would record of a source notebook: answers taken out, hidden tests still there."""
    import nbformat
    from nbgrader import utils
    from nbgrader.preprocessors import ClearSolutions, ComputeChecksums

    notebook = nbformat.reads(source.content.decode("utf-8-sig"), as_version=4)
    for step in (ClearSolutions(), ComputeChecksums()):
        notebook, _ = step.preprocess(notebook, {})
    wanted = _Wanted(kernelspec=json.dumps(notebook.metadata.get("kernelspec", {})))
    for cell in notebook.cells:
        if not (utils.is_grade(cell) or utils.is_solution(cell) or utils.is_locked(cell) or utils.is_task(cell)):
            continue
        settings = cell.metadata.nbgrader
        name = settings["grade_id"]
        graded = {"max_score": float(settings.get("points", 0)), "cell_type": cell.cell_type}
        if utils.is_grade(cell):
            wanted.grade[name] = graded
        if utils.is_solution(cell):
            wanted.solution[name] = {}
        if utils.is_task(cell):
            wanted.task[name] = graded
        wanted.source[name] = {
            "cell_type": cell.cell_type,
            "locked": utils.is_locked(cell),
            "source": cell.source,
            "checksum": settings.get("checksum"),
        }
    return wanted


def _add_notebook(gradebook: Gradebook, assignment: Any, name: str) -> Notebook:
    from nbgrader.api import Notebook, SubmittedNotebook

    notebook = Notebook(name=name, assignment=assignment)
    gradebook.db.add(notebook)
    for submission in assignment.submissions:
        gradebook.db.add(SubmittedNotebook(notebook=notebook, assignment=submission))
    return notebook


def _bring_up_to_date(gradebook: Gradebook, notebook: Notebook, wanted: _Wanted) -> None:
    from nbgrader.api import Comment, Grade, GradeCell, SolutionCell, SourceCell, TaskCell

    _update(notebook, {"kernelspec": wanted.kernelspec})
    for kind, cells, places in (
        (GradeCell, wanted.grade, (Grade,)),
        (SolutionCell, wanted.solution, (Comment,)),
        (TaskCell, wanted.task, (Grade, Comment)),
        (SourceCell, wanted.source, ()),
    ):
        known = {cell.name: cell for cell in gradebook.db.query(kind).filter(kind.notebook_id == notebook.id)}
        for name in known.keys() - cells.keys():
            _remove_cell(gradebook, known[name])
        for name, fields in cells.items():
            if name in known:
                _update(known[name], fields)
                continue
            cell = kind(name=name, notebook=notebook, **fields)
            gradebook.db.add(cell)
            gradebook.db.flush()  # gives the cell its id
            for submission in notebook.submissions:
                for place in places:
                    gradebook.db.add(place(cell_id=cell.id, notebook=submission))


def _update(record: Any, fields: dict[str, Any]) -> None:
    for name, value in fields.items():
        if getattr(record, name) != value:
            setattr(record, name, value)


def _remove_cell(gradebook: Gradebook, cell: Any) -> None:
    """With the grades and comments that stood on it."""
    from nbgrader.api import Comment, Grade, SourceCell

    if not isinstance(cell, SourceCell):
        for kind in (Grade, Comment):
            gradebook.db.query(kind).filter(kind.cell_id == cell.id).delete()
    gradebook.db.delete(cell)
    gradebook.db.flush()

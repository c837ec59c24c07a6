"""What nbgrader makes of a chapter for learners, cleaned: stubs, visible tests, no trace of an editor.

nbgrader copies every stray file of an assignment's folder into the release. It is therefore given a
course of its own that holds the notebooks and nothing else.
"""

from __future__ import annotations

import json
import logging
import tempfile
from pathlib import Path
from typing import Any

from autograder.course import Assignment
from autograder.errors import UsageError
from autograder.words import say

NOTEBOOK_METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
    # The book shows the stubs as they are: running them would only show NotImplementedError.
    "mystnb": {"execution_mode": "off"},
}
_CELL_METADATA = ("nbgrader", "deletable", "editable", "tags")


def make(assignment: Assignment) -> dict[str, bytes]:
    """The released notebooks by file name. Raises UsageError with nbgrader's own words where it refuses."""
    with tempfile.TemporaryDirectory() as root:
        source = Path(root, "source", assignment.name)
        source.mkdir(parents=True)
        for notebook in assignment.notebooks:
            file = f"{notebook.name}.ipynb"
            (source / file).write_bytes((assignment.folder / file).read_bytes())
        _generate(Path(root), assignment.name)
        made = Path(root, "release", assignment.name)
        return {path.name: cleaned(json.loads(path.read_bytes())) for path in sorted(made.iterdir())}


def cleaned(notebook: dict[str, Any]) -> bytes:
    """The notebook's file: the same bytes for the same content, whatever made it."""
    plain = {
        "cells": [_clean_cell(cell) for cell in notebook["cells"]],
        "metadata": NOTEBOOK_METADATA,
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return (json.dumps(plain, indent=1, ensure_ascii=False, sort_keys=True) + "\n").encode()


def _clean_cell(cell: dict[str, Any]) -> dict[str, Any]:
    metadata = {name: value for name, value in cell["metadata"].items() if name in _CELL_METADATA}
    source = cell["source"]
    plain = {
        "cell_type": cell["cell_type"],
        "id": metadata.get("nbgrader", {}).get("grade_id", cell.get("id")),
        "metadata": metadata,
        "source": source if isinstance(source, list) else source.splitlines(keepends=True),
    }
    return plain | ({"execution_count": None, "outputs": []} if cell["cell_type"] == "code" else {})


def _generate(root: Path, chapter: str) -> None:
    """Run nbgrader's own converter, without a gradebook; its log is kept for the error."""
    from nbgrader.converters import GenerateAssignment
    from nbgrader.coursedir import CourseDirectory
    from traitlets.config import Config

    config = Config()
    config.CourseDirectory.root = str(root)
    config.CourseDirectory.assignment_id = chapter
    config.GenerateAssignment.no_database = True
    config.SaveCells.enabled = False
    said: list[str] = []
    log = logging.Logger("release")
    log.addHandler(_Keep(said))
    try:
        GenerateAssignment(coursedir=CourseDirectory(config=config), config=config, log=log).start()
    except Exception as error:
        reason = said[0].strip().splitlines()[-1] if said else str(error)
        raise UsageError(say("release.nbgrader", chapter=chapter, reason=reason)) from None


class _Keep(logging.Handler):
    """Keeps what is logged as an error."""

    def __init__(self, said: list[str]) -> None:
        super().__init__(logging.ERROR)
        self.said = said

    def emit(self, record: logging.LogRecord) -> None:
        self.said.append(record.getMessage())

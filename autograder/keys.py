"""What a result depends on, as a key in the journal: "<what it was graded with>:<what was handed in>"."""

from __future__ import annotations

import hashlib
import json

from autograder import __version__
from autograder.course import Assignment
from autograder.sandbox import Sandbox
from autograder.submission import Submission


def key_of_source(assignment: Assignment, sandbox: Sandbox) -> str:
    """What the grades of an assignment depend on, beside the submission. Its texts are none of it."""
    cells = [
        (notebook.name, cell.grade_id, cell.source, cell.is_answer, cell.is_check, cell.points)
        for notebook in assignment.notebooks
        for cell in notebook.cells
        if cell.kind == "code"
    ]
    digest = hashlib.sha256(json.dumps([__version__, sandbox.description, cells]).encode())
    if assignment.hints is not None:
        digest.update(assignment.hints)
    return digest.hexdigest()


def key_of(source: str, submission: Submission) -> str:
    """The whole key of a submission that is graded with `source`."""
    digest = hashlib.sha256(json.dumps([submission.repairs, submission.flags, submission.absent]).encode())
    for name, content in submission.files:
        digest.update(json.dumps([name, len(content) if content is not None else None]).encode())
        digest.update(content or b"")
    if submission.run:
        digest.update(json.dumps([submission.run.fault, submission.run.status.name]).encode())
        for name, content in submission.run.files:
            digest.update(json.dumps([name, len(content)]).encode() + content)
    return f"{source}:{digest.hexdigest()}"


def source_of(key: str) -> str:
    """The part of a key that says what it was graded with."""
    return key.partition(":")[0]

"""results.json for Gradescope, one for each submission.

Each check comes twice: what its visible part said, without points, for everybody to see; and the
whole with its points, shown once the teacher publishes the grades, since hidden tests have a say in it.
(https://gradescope-autograders.readthedocs.io/en/latest/specs/)
"""

from __future__ import annotations

import json

from autograder.plaintext import identifier, plain
from autograder.results import CheckResult, SubmissionResult
from autograder.statuses import PASSED
from autograder.words import say

LATER = "after_published"


def results_json(result: SubmissionResult, total: float) -> str:
    """The file's content; `total` are the points that count, late marks and a teacher's own grading included."""
    checks = [check for exercise in result.exercises for check in exercise.checks]
    content = {
        "score": round(total, 6),
        "output_format": "text",
        "tests": [test for check in checks for test in (_visible(check), _whole(check))],
    }
    return json.dumps(content, ensure_ascii=False, indent=1) + "\n"


def _visible(check: CheckResult) -> dict:
    return _test(
        identifier(check.check), check.visible_passed, "" if check.visible_passed else check.message, "visible"
    )


def _whole(check: CheckResult) -> dict:
    name = say("gradescope.whole", check=identifier(check.check))
    test = _test(name, check.status == PASSED.name, check.message, LATER)
    return {**test, "score": check.score, "max_score": check.max_score}


def _test(name: str, passed: bool, message: str, visibility: str) -> dict:
    return {
        "name": name,
        "status": "passed" if passed else "failed",
        "output": plain(message),
        "output_format": "text",
        "visibility": visibility,
    }

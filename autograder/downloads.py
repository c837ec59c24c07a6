"""Names that Moodle and Canvas give to what was handed in, with the student's own name and id in front.

- Moodle, "Download all submissions": folders `Full Name_1234567_assignsubmission_file` (older ones end with a
  further `_`), or, without "Download submissions in folders", files
  `Full Name_1234567_assignsubmission_file_scores.ipynb`; a group has its name in place of a student's
  (https://github.com/moodle/moodle/blob/main/mod/assign/classes/downloader.php).
- Canvas, "Download Submissions": files `doejane_LATE_12345_67890_scores-1.ipynb`, which is name, lateness, user,
  upload, and the file with a number where it was handed in again; anonymous ones begin with `anon_`
  (https://github.com/instructure/canvas-lms/blob/master/lib/content_zipper.rb).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_MOODLE = re.compile(r"(?P<name>.*?)(?:_(?P<id>\d+))?_assignsubmission_[a-z]+(?:_(?P<file>.*))?", re.S)
_CANVAS = re.compile(r"(?:(?P<name>.+?)_)??(?:LATE_)?(?P<id>\d+|anon_[^_]+)_(?P<upload>\d+)_(?P<file>.+)", re.S)
_AGAIN = re.compile(r"-\d+(?=\.[^.]+$)")


@dataclass(frozen=True)
class Downloaded:
    """What such a name says."""

    student: str  # name and id: two students may bear one name
    keys: tuple[str, ...]  # what a list of the class may know the student by, the surest first
    name: str  # the file's, as the student named it; "" for a folder
    upload: int = 0  # Canvas's number of the upload: a later one has a larger number


def read_name(name: str) -> Downloaded | None:
    """The parts of a name that Moodle or Canvas gave; None for any other."""
    if match := _MOODLE.fullmatch(name):
        keys = tuple(filter(None, (match["id"], match["name"].strip())))
        return Downloaded(_joined(match["name"], match["id"]), keys, match["file"] or "")
    if match := _CANVAS.fullmatch(name):
        student = _joined(match["name"], match["id"])
        return Downloaded(student, (match["id"],), _AGAIN.sub("", match["file"]), int(match["upload"]))
    return None


def _joined(*parts: str | None) -> str:
    return "_".join(part for part in parts if part)

"""Where a learner's pages stand: a folder name for any student id, on any file system."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from urllib.parse import quote

FEEDBACK_FOLDER = "feedback"
NAME_LIMIT = 120  # bytes: half of what file systems allow, so that paths stay short too

_FORBIDDEN = re.compile(r'[\x00-\x1f\x7f-\x9f/\\:*?"<>|\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff]')
_DEVICE = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.I)  # files of these names open devices on Windows
_MARKED = re.compile(r"~[0-9a-f]{12}$")
_OTHER = re.compile(r"[^\w.-]+")


def folder_names(students: Iterable[str]) -> dict[str, str]:
    """A folder name for each student id: the id itself where it can be one, as nearly all can.

    Others get a readable form, "~" and twelve digits of the id's SHA-256, so that no two ids share a
    folder and none leaves the feedback folder. A name depends on its id alone, except that ids that
    differ only in case are all marked: some file systems take them for the same.
    """
    students = sorted(set(students))
    alike = Counter(student.casefold() for student in students)
    return {
        student: student if alike[student.casefold()] == 1 and _is_file_name(student) else _marked(student)
        for student in students
    }


def feedback_address(folder: str, chapter: str) -> str:
    """The page's place below the output folder, with "/" between its parts."""
    return f"{FEEDBACK_FOLDER}/{folder}/{chapter if _is_file_name(chapter) else _marked(chapter)}.html"


def link(address: str) -> str:
    """The address as the target of a link."""
    return quote(address)


def _is_file_name(name: str) -> bool:
    return (
        bool(name)
        and not _FORBIDDEN.search(name)
        and not _DEVICE.fullmatch(name)
        and not _MARKED.search(name)
        and name == unicodedata.normalize("NFC", name)  # two spellings of 민 are one file on some systems
        and name[0] not in " .-~"
        and name[-1] not in " ."
        and len(name.encode()) <= NAME_LIMIT
    )


def _marked(name: str) -> str:
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    readable = _OTHER.sub("-", unicodedata.normalize("NFC", _FORBIDDEN.sub("-", name))).strip(".-_")[:30]
    return f"{readable or 'student'}~{digest}"

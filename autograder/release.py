"""Release: from `solutions/` to `exercises/`, checked, built aside, swapped in.

What is refused: faults of the source (`lint`), mistakes that cannot be told apart (`misconceptions`),
exercises that are not fair (`proof`), and anything that learners must not see (`leaks`).
"""

from __future__ import annotations

import hashlib
import json
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

from autograder import lint, student_version
from autograder.course import RELEASE_FOLDER, SOURCE_FOLDER, Assignment, Course
from autograder.errors import UsageError
from autograder.files import write_aside
from autograder.hints import HINTS_FILE
from autograder.hints_table import make_table, same_but_for_rounding
from autograder.leaks import leaks
from autograder.misconceptions import Misconceptions, load
from autograder.notebooks import Unreadable, parse_cells
from autograder.words import say

Prove = Callable[[Assignment, Misconceptions, dict[str, Any]], Iterable[str]]  # as proof.unfair
KEPT_FOLDER = "kept"  # where a learner's answers go that a release would overwrite
Files = dict[str, bytes]  # name in the chapter's folder → content


@dataclass(frozen=True)
class Release:
    """What a release did, or, with `check`, would do."""

    chapters: tuple[str, ...]
    changed: tuple[str, ...]  # files that were written or removed, as paths in the course's folder
    kept: tuple[str, ...] = ()  # answered notebooks that stood in the way, where they are now


def release(
    course: Course,
    chapters: Sequence[str] = (),
    *,
    check: bool = False,
    zip_path: Path | None = None,
    prove: Prove | None = None,
) -> Release:
    """Make `exercises/` of `solutions/`, for `chapters` or for all.

    With `check` nothing is written: `changed` names each file that is not what a release makes today.
    `zip_path` gets the released exercises in one archive. `prove` yields a sentence for each
    exercise's unfairness (`proof.unfair`, the grading engine's) in the chapters that changed; None
    leaves that out. Raises UsageError, a line for each fault, and then the last release is still there
    as it was.
    """
    wanted = tuple(dict.fromkeys(chapters)) or course.chapters
    if not wanted:
        raise UsageError(say("release.nothing", folder=course.root / SOURCE_FOLDER))
    folder = course.root / RELEASE_FOLDER
    made = {chapter: make(course.assignment(chapter)) for chapter in wanted}
    last = {chapter: _read(folder / chapter) for chapter in wanted}
    for chapter, files in made.items():
        if same_but_for_rounding(last[chapter].get(HINTS_FILE, b""), files[HINTS_FILE]):
            files[HINTS_FILE] = last[chapter][HINTS_FILE]
    if prove is not None:
        _refuse(
            fault
            for chapter in wanted
            if made[chapter] != last[chapter]  # what is released already was proven then
            for fault in faults_of_fairness(course.assignment(chapter), made[chapter], prove)
        )
    stale = () if chapters else _stale(folder, course.chapters)
    changed = [
        f"{RELEASE_FOLDER}/{chapter}/{file}"
        for chapter in wanted
        for file in sorted({*made[chapter], *last[chapter]})
        if made[chapter].get(file) != last[chapter].get(file)
    ]
    changed += [f"{RELEASE_FOLDER}/{chapter}/" for chapter in stale]
    kept: tuple[str, ...] = ()
    if not check:
        kept = tuple(_keep_answers(course.root, {c: f for c, f in last.items() if made[c] != f}, made))
        _swap_in(folder, {chapter: files for chapter, files in made.items() if files != last[chapter]}, stale)
        if zip_path is not None:
            write_aside(zip_path, archive(made))
    return Release(wanted, tuple(changed), kept)


def make(assignment: Assignment) -> Files:
    """One chapter's released files, in memory. Raises UsageError, a line for each fault."""
    _refuse(lint.faults(assignment))
    misconceptions = load(assignment.folder)
    notebooks = student_version.make(assignment)
    made = {**notebooks, HINTS_FILE: make_table(assignment, misconceptions, notebooks)}
    _refuse(f"{assignment.folder}: {leak}" for leak in leaks(assignment, misconceptions, made, (HINTS_FILE,)))
    return made


def faults_of_fairness(assignment: Assignment, made: Files, prove: Prove) -> Iterable[str]:
    """What `prove` finds unfair about a chapter that was made."""
    for fault in prove(assignment, load(assignment.folder), json.loads(made[HINTS_FILE])):
        yield f"{assignment.folder}: {fault}"


def archive(made: dict[str, Files]) -> bytes:
    """A zip of the chapters for learners: the same bytes for the same files."""
    content = BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_STORED) as file:  # compression differs between versions of zlib
        for chapter in sorted(made):
            for name in sorted(made[chapter]):
                entry = zipfile.ZipInfo(f"{chapter}/{name}", date_time=(1980, 1, 1, 0, 0, 0))
                entry.external_attr = 0o100644 << 16
                entry.create_system = 3  # Unix, wherever it is made
                file.writestr(entry, made[chapter][name])
    return content.getvalue()


def _refuse(faults: Iterable[str]) -> None:
    lines = list(faults)
    if lines:
        raise UsageError("\n".join(lines))


def _read(folder: Path) -> Files:
    """A chapter as last released; what Jupyter puts beside it (.ipynb_checkpoints) does not count."""
    if not folder.is_dir():
        return {}
    paths = [path for path in folder.rglob("*") if path.is_file()]
    files = {path.relative_to(folder).as_posix(): path for path in paths}
    return {name: path.read_bytes() for name, path in files.items() if not name.startswith(".")}


def _stale(folder: Path, chapters: Sequence[str]) -> tuple[str, ...]:
    """Released chapters that have no source any more. A folder without a hints.json is not ours."""
    return tuple(
        sorted(path.parent.name for path in folder.glob(f"*/{HINTS_FILE}") if path.parent.name not in chapters)
    )


def _keep_answers(root: Path, last: dict[str, Files], made: dict[str, Files]) -> Iterable[str]:
    """Copy somebody's answered notebooks out of the way of a release; where each of them is now."""
    for chapter, files in last.items():
        for name, content in files.items():
            if name.endswith(".ipynb") and content != made[chapter].get(name) and _is_answered(content):
                digest = hashlib.sha256(content).hexdigest()[:8]
                path = root / KEPT_FOLDER / chapter / f"{name.removesuffix('.ipynb')}-{digest}.ipynb"
                write_aside(path, content)
                yield path.relative_to(root).as_posix()


def _is_answered(content: bytes) -> bool:
    try:
        cells = parse_cells(content)
    except Unreadable:
        return True  # nothing is lost, whatever it is
    return any(cell.is_answer and "raise NotImplementedError()" not in cell.source for cell in cells)


def _swap_in(folder: Path, made: dict[str, Files], stale: Sequence[str]) -> None:
    """Put the chapters in place of the last ones: all are written aside before the first one moves."""
    if not made and not stale:
        return
    folder.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix=".release-") as aside:
        new, old = Path(aside, "new"), Path(aside, "old")
        old.mkdir()
        for chapter, files in made.items():
            (new / chapter).mkdir(parents=True)
            for name, content in files.items():
                (new / chapter / name).write_bytes(content)
        moved: list[tuple[Path, Path]] = []
        try:
            for chapter in (*made, *stale):
                if (folder / chapter).exists():
                    _move(folder / chapter, old / chapter, moved)
                if chapter in made:
                    _move(new / chapter, folder / chapter, moved)
        except BaseException:
            for source, target in reversed(moved):
                target.rename(source)
            raise


def _move(source: Path, target: Path, moved: list[tuple[Path, Path]]) -> None:
    source.rename(target)
    moved.append((source, target))

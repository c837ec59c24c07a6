"""The marks in grades.csv for other programs: Canvas, Moodle, Gradescope, a spreadsheet.

A file that came from elsewhere is never changed: the filled one is a new file beside it.
"""

from __future__ import annotations

import csv
import io
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

from autograder.csvfile import read_csv
from autograder.errors import UsageError
from autograder.files import write_aside
from autograder.grades import defuse, read_grades
from autograder.gradescope import results_json
from autograder.journal import Journal
from autograder.lms import CANVAS, Filled, Total, Totals, fill_canvas, fill_moodle
from autograder.marks import was_handed_in
from autograder.outputs import GRADES, JOURNAL
from autograder.pages.addresses import folder_names
from autograder.plaintext import identifier, one_line, points
from autograder.words import say

GRADESCOPE, SPREADSHEET = "gradescope", "csv"
NAMES_SHOWN = 100  # of those on one side alone


def export(
    to: str,
    into: Path,
    results: Path,
    *,
    assignment: str | None = None,
    columns: Mapping[str, str] | None = None,
    write: Path | None = None,
) -> str:
    """Write the marks in the folder `results` for the program `to`; returns what a teacher should know of it.

    `assignment` names one chapter, `columns` chapters' columns by title or number, `write` the new file.
    Raises UsageError.
    """
    totals = _totals(results / GRADES)
    for chapter in [*([assignment] if assignment else []), *(columns or {})]:
        if chapter not in totals:
            raise UsageError(say("export.no_chapter", chapter=chapter, known=", ".join(totals)))
    if assignment:
        totals = {assignment: totals[assignment]}
    try:
        if to == GRADESCOPE:
            return _for_gradescope(into, results / JOURNAL, totals)
        if to == SPREADSHEET:
            return _for_spreadsheet(_new(into), totals)
        return _filled(to, into, totals, columns or {}, _new(write or into.with_stem(f"{into.stem}-filled")))
    except OSError as error:
        raise UsageError(say("export.write", path=write or into, reason=error.strerror or error)) from None


def _totals(path: Path) -> Totals:
    """What each student has in each chapter."""
    scores: dict[str, dict[str, list[float | None]]] = defaultdict(lambda: defaultdict(list))
    most: dict[tuple[str, str], float] = defaultdict(float)
    for row in read_grades(path):
        scores[row.assignment][row.student].append(row.final_score)
        most[row.assignment, row.student] += row.max_score
    if not scores:
        raise UsageError(say("grades.no_file", path=path))
    return {
        chapter: {
            student: Total(None if None in parts else sum(part or 0.0 for part in parts), most[chapter, student])
            for student, parts in sorted(students.items())
        }
        for chapter, students in sorted(scores.items())
    }


def _new(path: Path) -> Path:
    if path.exists():
        raise UsageError(say("export.exists", path=path))
    return path


def _filled(to: str, into: Path, totals: Totals, columns: Mapping[str, str], write: Path) -> str:
    file = read_csv(into)
    if to == CANVAS:
        filled = fill_canvas(file, totals, columns)
    elif len(totals) > 1:
        raise UsageError(say("export.which_chapter", known=", ".join(totals)))
    else:
        filled = fill_moodle(file, totals, columns)
    write_aside(write, filled.content)
    return _summary(filled, write)


def _summary(filled: Filled, write: Path) -> str:
    lines = [say("export.filled", count=filled.cells, path=write)]
    lines += [say("export.column", chapter=chapter, title=title) for chapter, title in filled.columns.items()]
    lines += [say("export.without_column", chapter=chapter) for chapter in filled.without_column]
    lines += [
        say("export.scaled", chapter=chapter, ours=points(ours), theirs=points(theirs))
        for chapter, ours, theirs in filled.scaled
    ]
    for key in ("unknown", "missing", "waiting", "left"):
        names: Sequence[str] = getattr(filled, key)
        if names:
            shown = [one_line(name) for name in names[:NAMES_SHOWN]]
            if len(names) > NAMES_SHOWN:
                shown.append(say("export.more", count=len(names) - NAMES_SHOWN))
            lines += [say(f"export.{key}", count=len(names)), *(f"  {name}" for name in shown)]
    return "\n".join(lines)


def _for_spreadsheet(path: Path, totals: Totals) -> str:
    """One line for each student, one column for each chapter; with the byte-order mark that Excel wants."""
    students = sorted({student for chapter in totals.values() for student in chapter})
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(["student", *map(defuse, totals), "total"])
    for student in students:
        found = [chapter.get(student) for chapter in totals.values()]
        known = [total.points for total in found if total]
        cells = ["" if total is None or total.points is None else points(total.points) for total in found]
        whole = "" if None in known else points(sum(mark or 0.0 for mark in known))
        writer.writerow([defuse(student), *cells, whole])
    write_aside(path, text.getvalue().encode("utf-8-sig"))
    return say("export.spreadsheet", count=len(students), path=path)


def _for_gradescope(folder: Path, journal_path: Path, totals: Totals) -> str:
    """`folder/<student>/<chapter>/results.json` for each submission whose marks are known."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(say("export.not_empty", path=folder))
    if not journal_path.is_file():
        raise UsageError(say("grades.no_file", path=journal_path))
    with Journal(journal_path) as journal:
        results = [result for _, result in journal.all_latest()]
    folders = folder_names(result.student for result in results)
    count = 0
    for result in results:
        total = totals.get(result.assignment, {}).get(identifier(result.student))
        if total is None or total.points is None or not was_handed_in(result):
            continue
        path = folder / folders[result.student] / result.assignment / "results.json"
        write_aside(path, results_json(result, total.points))
        count += 1
    return say("export.gradescope", count=count, path=folder)

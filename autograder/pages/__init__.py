"""The pages that people read after grading: feedback for each learner, a report for the teacher.

Plain HTML with its style inside: no script, nothing fetched, readable from a disk, a zip or a server.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from autograder.files import write_aside
from autograder.hints_table import KnownMistake
from autograder.marks import Marks
from autograder.pages.addresses import feedback_address, folder_names
from autograder.pages.feedback import feedback_page
from autograder.pages.report import report_page
from autograder.results import SubmissionResult

__all__ = ["feedback_page", "report_page", "write_pages"]


def write_pages(
    out: Path,
    results: Iterable[SubmissionResult],
    *,
    sentences: Mapping[KnownMistake, tuple[str, ...]] | None = None,
    made: str = "",
    marks: Marks | None = None,
    notices: Sequence[str] = (),
) -> Path:
    """Write `feedback/<student>/<chapter>.html` for each result and `report.html`; returns the report's path.

    `sentences` are the known mistakes' (`hints_table.sentences_of`): with them a page tells the hint apart
    from what came, and the report shows the hint alone.
    `marks` say what was graded by hand and what came late; `notices` are about no single
    submission; the report shows them.
    `made` is shown as it stands ("graded on 3 May, 14:00"); left empty, the same results give the same
    bytes at any time. Pages that would not change are not written; those of other students stay.
    """
    results = list(results)
    folders = folder_names(result.student for result in results)
    for result in results:
        address = feedback_address(folders[result.student], result.assignment)
        _write(out / address, feedback_page(result, sentences=sentences, made=made, marks=marks))
    report = out / "report.html"
    _write(report, report_page(results, sentences=sentences, made=made, marks=marks, notices=notices))
    return report


def _write(path: Path, page: str) -> None:
    content = page.encode()
    if not path.is_file() or path.read_bytes() != content:
        write_aside(path, content)

"""Every sentence that the extension and its scripts add to a page, in one table, so that another language is another table."""

from __future__ import annotations

WORDS = {
    # menus at the top of a page
    "menu.run": "Run this page",
    "menu.source": "Source of this page",
    "place.colab": "Open in Colab",
    "place.binder": "Open in Binder",
    "place.download": "Download the notebook",
    "place.download_exercises": "Download the notebook without answers",  # beside "Download my notebook"
    "place.how_to": "How to do the exercises",
    "source.repository": "Repository",
    "source.edit": "Suggest an edit",
    "source.issue": "Report a mistake",
    "source.issue_title": "Page {page}",
    # the head of a chapter
    "head.minutes": "About {minutes} minutes to read",
    "head.exercises.one": "One exercise",
    "head.exercises.many": "{count} exercises",
    # the reader's way through the course; said by scripts/progress.js, blanks filled in there
    "read.mark": "I have read this page",
    "read.done": "read",
    "read.passed": "{passed} of {all} exercises pass",
    "read.so_far": "You have read {read} of {all} pages of the chapters.",
    "read.next": "Go on with",
    "read.reset": "Forget what I have read",
    "read.kept": "Kept in this browser alone.",
    "read.forgotten": "Forgotten. Answers to exercises are still there.",
}


def say(key: str, /, **values: object) -> str:
    """The sentence `key`, with its blanks filled in."""
    return WORDS[key].format(**values)

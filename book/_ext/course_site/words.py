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
    # exercises that are done in their page; said by the scripts in assets/in_page, blanks filled in there
    "in_page.bar": "Exercises of this page",
    "in_page.begin": "You can do these exercises right here: Check does what running the cell under an answer does. Python loads with your first Run or Check ({megabytes} MB, once).",
    "in_page.file": "To write and run your answers in this page, it must come from a server: `make serve` in the course's folder, or `python -m http.server` in the folder of these pages.",
    "in_page.not_kept": "This browser keeps nothing for this page: download your notebook before you leave.",
    "in_page.check_all": "Check all",
    "in_page.download": "Download my notebook",
    "in_page.downloaded": "{file} is with your downloads, with your answers in it. Hand it in as it is, or go on with it in Jupyter.",
    "in_page.not_downloaded": "The notebook could not be fetched from this site. Is there a connection?",
    "in_page.group": "{name}: run and check",
    "in_page.editor": "Your answer: {name}",
    "in_page.keys": "Tab indents; Escape, then Tab leaves. {command}+Enter runs, Shift+Enter checks, {command}+/ makes comments.",
    "in_page.run": "Run",
    "in_page.check": "Check",
    "in_page.stop": "Stop",
    "in_page.reset": "Reset",
    "in_page.bring_back": "Bring my answer back",
    "in_page.was_reset": "{name} begins anew. Your answer is not lost: “Bring my answer back” does what it says.",
    "in_page.brought_back": "Your answer to {name} is back.",
    "in_page.loading": "Python is loading.",
    "in_page.loaded_so_far": "{done} of {all} MB",
    "in_page.running": "Running …",
    "in_page.checking": "Checking …",
    "in_page.busy": "Python is at work. Stop it first, or wait a moment.",
    "in_page.ran": "It ran.",
    "in_page.ran_silently": "It ran, and printed nothing. To see a result, print one at the end of your cell.",
    "in_page.raised": "It stopped with an error:",
    "in_page.printed": "What {name} printed",
    "in_page.error": "The error of {name}",
    "in_page.passes": "Passes",
    "in_page.passed": "Right so far: it passes the checks that you can see. More run at grading.",
    "in_page.unanswered": "Not answered yet.",
    "in_page.changed": "Changed since the last check.",
    "in_page.stopped": "Stopped. Python begins anew, and your answers are all there.",
    "in_page.no_python": "Python could not be loaded, neither from this site nor from its public copy. With a connection, Check tries again. Colab and your own computer are there in any case.",
    "in_page.new_stub": "This exercise has changed since you began. Your answer is kept as it was.",
    "in_page.new_stub_now": "How it begins now",
    "in_page.understood": "Understood",
}


def say(key: str, /, **values: object) -> str:
    """The sentence `key`, with its blanks filled in."""
    return WORDS[key].format(**values)


def words_of(part: str) -> dict[str, str]:
    """The sentences that a part of the site says, by their keys without the name of the part."""
    return {key.removeprefix(f"{part}."): words for key, words in WORDS.items() if key.startswith(f"{part}.")}

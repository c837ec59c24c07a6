"""The pages say what was found, to everybody, and nothing that a learner wrote runs in them."""

from __future__ import annotations

import base64
import hashlib
import math
import re
import time
import unicodedata
from dataclasses import replace
from datetime import UTC, datetime
from html.parser import HTMLParser
from itertools import pairwise
from urllib.parse import unquote

import pytest
from made_up_class import CHAPTER, HOSTILE, SANDBOX, TASKS, checks_of, make_class, make_exercise

from autograder.hints_table import KnownMistake
from autograder.marks import HandGrade, Marks
from autograder.pages import feedback_page, report_page, write_pages
from autograder.pages.addresses import feedback_address, folder_names
from autograder.pages.groups import GROUP_OF, bar
from autograder.pages.layout import chapter_title, prose
from autograder.pages.report import _bins
from autograder.plaintext import identifier
from autograder.policy import Deadline, Late, Policy, Rule
from autograder.results import SubmissionResult
from autograder.statuses import STATUSES
from autograder.words import say

HOSTILE_TEXT = (
    "</pre></style><script>alert(1)</script><img src=x onerror=alert(2)>"
    "{{ 7*7 }} {% raw %} \x1b[31mred\x1b[0m nul\x00 lone\ud800 turned\u202eround &lt; \"quoted\" 'too' ]]>"
)
SOFTMAX = next(task for task in TASKS if task.name == "softmax")


class Page(HTMLParser):
    """A page's tags and text, as a browser without script would see them."""

    INLINE = ("a", "code", "span", "strong")

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self._pieces: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        if tag not in self.INLINE:
            self._pieces.append("\n")

    def handle_data(self, data):
        if self.tags and self.tags[-1][0] != "style":
            self._pieces.append(data)

    @property
    def text(self) -> str:
        return "".join(self._pieces)

    @property
    def words(self) -> str:
        return re.sub(r"\s+", " ", self.text)

    def all(self, tag, **wanted):
        return [attributes for name, attributes in self.tags if name == tag and wanted.items() <= attributes.items()]


def one(status="failed", mistake="", student="kim", **fields):
    fields = {"sandbox": SANDBOX, **fields}
    return SubmissionResult(student, CHAPTER, (make_exercise(student, SOFTMAX, status, mistake),), **fields)


def hostile():
    """A submission that holds hostile text in every place that a learner or their code can write to."""
    exercise = make_exercise(HOSTILE_TEXT, SOFTMAX, "failed", message=HOSTILE_TEXT)
    checks = tuple(replace(check, message=HOSTILE_TEXT + check.check) for check in exercise.checks)
    exercise = replace(exercise, answer=HOSTILE_TEXT, printed=HOSTILE_TEXT, checks=checks)
    return SubmissionResult(
        HOSTILE_TEXT, CHAPTER, (exercise,), repairs=(HOSTILE_TEXT,), flags=(HOSTILE_TEXT,), sandbox=HOSTILE_TEXT
    )


@pytest.fixture(scope="module", params=["feedback", "report"])
def html(request):
    if request.param == "feedback":
        return feedback_page(hostile())
    return report_page([hostile(), *make_class(24, hostile=True, ungraded=1)])


# ---- nothing runs, nothing is fetched


def test_no_script_and_no_foreign_style_gets_into_a_page(html):
    page = Page(html)
    names = {name for name, _ in page.tags}
    assert not names & {"script", "img", "iframe", "object", "embed", "form", "base", "input"}
    assert html.count("<style") == html.count("</style") == 1
    for name, attributes in page.tags:
        assert not [key for key in attributes if key.startswith("on") or key == "style"], name
        for key in ("href", "src"):
            assert not re.match(r"\s*(javascript|https?|data:[^,])", attributes.get(key) or "", re.I), attributes


def test_the_policy_allows_this_style_alone(html):
    (policy,) = Page(html).all("meta", **{"http-equiv": "Content-Security-Policy"})
    style = re.search(r"<style>(.*?)</style>", html, re.S)[1]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert policy["content"].startswith(f"default-src 'none'; style-src 'sha256-{digest}';")
    assert html.index("Content-Security-Policy") < html.index("<style>")


def test_no_control_character_and_no_lone_surrogate_is_left(html):
    html.encode()  # a lone surrogate would raise
    assert not [c for c in html if unicodedata.category(c) == "Cc" and c not in "\n\t"]
    assert "\u202e" not in html


def test_hostile_text_is_shown_as_text():
    page = Page(feedback_page(hostile()))
    assert page.text.count("<script>alert(1)</script><img src=x onerror=alert(2)>{{ 7*7 }} {% raw %} red nul") >= 4


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_is_shown_as_it_is_spelled(name):
    assert identifier(name) in Page(feedback_page(one(student=name))).words
    assert identifier(name) in Page(report_page([one(student=name)])).words


# ---- a learner's page


@pytest.mark.parametrize("status", [status for status in STATUSES if status != "ungraded"])
def test_every_status_is_told_in_words(status):
    page = Page(feedback_page(one(status) if status in DEMO else nothing(status)))
    assert STATUSES[status].meaning in page.words
    if status != "passed":
        assert (
            say(f"advice.{status}", test="test_softmax_large", notebook="weights.ipynb")[:30].split("`")[0]
            in page.words
        )


DEMO = {"passed", "failed", "error", "unanswered", "timeout", "memory", "died"}


def nothing(status):
    exercise = replace(make_exercise("kim", SOFTMAX, "unanswered", message=""), status=status, checks=(), answer="")
    return SubmissionResult("kim", CHAPTER, (exercise,))


def test_the_score_and_what_passed_and_failed_are_there():
    page = Page(feedback_page(one("failed", "overflow")))
    assert "2 of 4 points" in page.words
    assert SOFTMAX.wrong["overflow"] in page.words
    for check in checks_of(SOFTMAX):
        assert check in page.words
    assert say("check.passed") in page.words
    assert say("check.visible") in page.words


SENTENCE = "You add up over the sentences. Add up over the words."
KNOWN = {KnownMistake(CHAPTER, "softmax", "overflow"): (SENTENCE, "The words are axis 1.")}


@pytest.mark.parametrize("sentence", next(iter(KNOWN.values())))
def test_the_hint_is_told_apart_from_what_came(sentence):
    message = f"softmax: shape (4, 3) came. {sentence}"
    exercise = make_exercise("kim", SOFTMAX, "failed", "overflow", message=message)
    page = Page(feedback_page(SubmissionResult("kim", CHAPTER, (exercise,)), sentences=KNOWN))
    assert f"{say('feedback.known')} {sentence} {say('feedback.message')} softmax: shape (4, 3) came." in page.words


@pytest.mark.parametrize(("hidden", "advice"), [(False, "advice.known"), (True, "advice.known_hidden")])
def test_the_advice_sends_nobody_to_a_check_that_passes_already(hidden, advice):
    exercise = make_exercise("kim", TASKS[0], "failed", "sum_over_steps", hidden=hidden)
    page = Page(feedback_page(SubmissionResult("kim", CHAPTER, (exercise,))))
    assert say(advice, test="test_dot_scores").replace("`", "") in page.words


@pytest.mark.parametrize("advice", ["advice.known", "advice.known_hidden"])
def test_the_advice_for_a_known_mistake_does_not_count_the_things_it_names(advice):
    two = make_exercise("kim", SOFTMAX, "failed", "overflow", message="Two things at once. The axis, and the maximum.")
    page = feedback_page(SubmissionResult("kim", CHAPTER, (two,)))
    assert say("advice.known", test="").split("`")[0] in page
    assert "one thing" not in say(advice, test="")


def test_without_the_table_of_sentences_the_whole_message_is_the_hint():
    page = Page(feedback_page(one("failed", "overflow")))
    assert f"{say('feedback.known')} {SOFTMAX.wrong['overflow']}" in page.words
    assert say("feedback.message") not in page.words


def test_the_report_shows_a_known_mistake_s_sentence_alone_whatever_came():
    exercises = [
        make_exercise(f"s{n}", SOFTMAX, "failed", "overflow", message=f"{n} came. {SENTENCE}") for n in range(3)
    ]
    results = [SubmissionResult(exercise.student, CHAPTER, (exercise,)) for exercise in exercises]
    page = Page(report_page(results, sentences=KNOWN))
    assert f"3 × softmax {SENTENCE} s0 s1 s2" in page.words


def test_passing_every_visible_check_is_told_apart_from_failing_one():
    hidden = make_exercise("kim", SOFTMAX, "failed", hidden=True)
    page = Page(feedback_page(SubmissionResult("kim", CHAPTER, (hidden,))))
    assert say("check.hidden") in page.words
    assert say("check.visible") not in page.words
    assert say("advice.hidden") in page.words


def test_the_next_step_is_the_first_exercise_that_is_not_right():
    exercises = tuple(make_exercise("kim", t, "passed" if t.name == "dot_scores" else "failed") for t in TASKS)
    page = Page(feedback_page(SubmissionResult("kim", CHAPTER, exercises)))
    assert "Next: cosine_scores." in page.words
    assert page.all("a", href="#cosine_scores")
    assert page.all("article", id="cosine_scores")


def test_everything_right_leaves_nothing_to_do():
    page = Page(feedback_page(one("passed")))
    assert say("feedback.all_right") in page.words
    assert say("feedback.next") not in page.words


def test_what_we_failed_to_grade_is_no_fault_of_the_learner():
    (result,) = make_class(1, ungraded=1)
    page = Page(feedback_page(result))
    assert say("feedback.waiting") in page.words
    assert "? of 24 points" in page.words
    assert not re.search(r"\b0 (/|of) ", page.words)
    assert say("feedback.next") not in page.words
    assert say("feedback.none_right") not in page.words


@pytest.mark.parametrize("status", ["missing", "unreadable", "ungraded"])
def test_what_holds_for_a_whole_notebook_is_told_once(status):
    exercises = tuple(
        replace(make_exercise("kim", task, "passed"), status=status, score=0.0, message="why it is so", checks=())
        for task in TASKS
        if task.notebook == "weights"
    )
    page = Page(feedback_page(SubmissionResult("kim", CHAPTER, exercises)))
    assert page.words.count("why it is so") == 1
    assert {link["href"].removeprefix("#") for link in page.all("a")} <= {entry.get("id") for entry in page.all("li")}


def test_an_answer_is_shown_as_it_was_written():
    answer = "def softmax(s):\n\n    # 소프트맥스 <b>\n\treturn s   \n    `x` (3, 5)\n"
    exercise = replace(make_exercise("kim", SOFTMAX, "failed"), answer=answer)
    html = feedback_page(SubmissionResult("kim", CHAPTER, (exercise,)))
    code = re.search(r'<pre class="code".*?(<code>.*?</code>)</pre>', html, re.S)[1]
    assert Page(code).text == answer
    assert code.count('<span class="l">') == 5  # what the line numbers count


@pytest.mark.parametrize("answer", ["x" * 1_000_000, "x = 1\n" * 200_000, "\x1b]" * 500_000, "\n" * 1_000_000 + "x"])
def test_a_megabyte_of_answer_is_cut_and_said_so(answer):
    exercise = replace(make_exercise("kim", SOFTMAX, "failed"), answer=answer, printed=answer, message=answer)
    started = time.monotonic()
    html = feedback_page(SubmissionResult("kim", CHAPTER, (exercise,)))
    assert len(html) < 100_000
    assert time.monotonic() - started < 5
    if answer[0] == "x":  # in the others, little of the megabyte can be seen
        assert say("feedback.answer_cut") in html
        assert say("feedback.printed_cut") in html


def test_repairs_are_on_a_learner_s_page_and_flags_are_not():
    html = feedback_page(one(repairs=("The file was mended.",), flags=("The answer read our memory.",)))
    assert "The file was mended." in html
    assert "read our memory" not in html


def test_a_missing_cell_is_told_to_the_learner_and_an_unchanged_stub_is_not_told_twice():
    message = say("exam.no_cell", exercise="softmax")
    lost = make_exercise("kim", SOFTMAX, "unanswered", message=message)
    assert message in Page(feedback_page(SubmissionResult("kim", CHAPTER, (lost,)))).words
    stub = make_exercise("kim", SOFTMAX, "unanswered", message=say("exam.unanswered"))
    assert say("exam.unanswered") not in Page(feedback_page(SubmissionResult("kim", CHAPTER, (stub,)))).words


def test_what_is_about_no_single_submission_stands_in_the_report():
    html = report_page([one("passed")], notices=["'<b>.ipynb' was not graded: nothing says whose it is"])
    page = Page(html)
    assert "'<b>.ipynb' was not graded" in page.words
    assert say("report.no_flags") not in page.words


def test_code_and_shapes_in_a_sentence_are_set_as_code():
    assert prose("`a < b` came as (3, 5), not (3,) (see 1)") == (
        "<code>a &lt; b</code> came as <code>(3, 5)</code>, not <code>(3,)</code> (see 1)"
    )
    assert prose("a.reshape(4, 1) met (4,1)") == "a.reshape(4, 1) met <code>(4,1)</code>"


@pytest.mark.parametrize(
    ("name", "title"),
    [("03_scores", "Chapter 3: Scores"), ("06_multi_head", "Chapter 6: Multi head"), ("project", "project")],
)
def test_a_chapter_s_folder_name_becomes_a_title(name, title):
    assert chapter_title(name) == title


# ---- the teacher's report


def test_known_mistakes_are_counted_the_most_frequent_first_with_sentence_and_names():
    results = [one("failed", "overflow", f"s{n}") for n in range(3)] + [
        one("failed", "axis_0", f"t{n}") for n in range(8)
    ]
    page = Page(report_page(results))
    axis, overflow = (page.words.index(SOFTMAX.wrong[mistake]) for mistake in ("axis_0", "overflow"))
    assert axis < overflow
    assert "8 ×" in page.words[:axis]
    assert "3 ×" in page.words[axis:overflow]
    assert page.words[overflow:].split(SOFTMAX.wrong["overflow"])[1].strip().startswith("s0 s1 s2")


def test_wrong_answers_that_no_known_mistake_explains_are_counted_apart():
    page = Page(report_page([one("failed", student=f"s{n}") for n in range(4)]))
    assert say("report.unexplained") in page.words
    assert "4 × softmax" in page.words
    assert say("report.no_mistakes") not in page.words


def test_an_incomplete_run_says_so_first_and_shows_no_zero():
    results = make_class(24, ungraded=2)
    html = report_page(results)
    page = Page(html)
    assert page.words.index(say("report.partial")) < page.words.index(say("report.look"))
    assert f"{2 * len(TASKS)} exercises could not be graded" in page.words
    row = re.search(rf"<tr>[^\n]*>{results[0].student}</a>[^\n]*</tr>", html)[0]
    assert say("report.not_complete") in row
    assert ">0<" not in row
    assert say("report.partial") not in Page(report_page(make_class(24))).words


def test_without_submissions_the_report_says_what_to_do():
    page = Page(report_page([]))
    assert say("report.empty") in page.words
    assert "autograder grade FOLDER" in page.words


def test_a_class_in_which_nobody_is_wrong_is_told_so():
    page = Page(report_page([one("passed", student=f"s{n}") for n in range(3)]))
    for sentence in ("report.no_mistakes", "report.no_flags", "report.no_repairs"):
        assert say(sentence) in page.words
    assert "3 submissions are graded. Mean 100 %, median 100 %; 3 with every point." in page.words


def test_flags_repairs_and_protections_are_told_with_the_learners():
    results = [one(flags=("It read our memory.",), repairs=("A BOM was dropped.",)), one(student="lee", sandbox="none")]
    page = Page(report_page(results))
    assert "It read our memory. kim" in page.words
    assert "A BOM was dropped. kim" in page.words
    assert f"1 submission: {SANDBOX}" in page.words
    assert "1 submission: none" in page.words


def test_a_bar_says_in_words_what_it_shows():
    results = [one("passed", student="a"), one("failed", student="b"), one("timeout", student="c"), nothing("missing")]
    (chart,) = Page(report_page(results)).all("svg", **{"class": "bar"})
    assert chart["role"] == "img"
    assert chart["aria-label"] == "1 right, 1 wrong, 1 stopped, 1 without an answer"


def test_a_bar_s_pieces_fill_it_without_gap():
    exercises = [exercise for result in make_class(97, ungraded=3) for exercise in result.exercises]
    segments = bar(exercises)
    assert sum(segment.count for segment in segments) == len(exercises)
    for segment, following in pairwise(segments):
        assert segment.start + segment.length == pytest.approx(following.start, abs=2e-3)  # both are rounded to 1e-3
    assert segments[-1].start + segments[-1].length == pytest.approx(100, abs=2e-3)


def test_every_status_has_its_one_group():
    assert set(GROUP_OF) == set(STATUSES)


@pytest.mark.parametrize(
    ("share", "column"),
    [(0.0, 0), (0.0999, 0), (0.1, 1), (math.nextafter(0.7, 0), 7), (0.1 + 0.2, 3), (0.999, 9), (1.0, 10)],
)
def test_a_score_stands_in_its_column_of_the_histogram(share, column):
    assert [number for number, bin_ in enumerate(_bins([share])) if bin_.count] == [column]


def test_nearly_all_is_not_all():
    results = [one("passed", student=f"s{n}") for n in range(299)] + [one("failed", student="t")]
    page = Page(report_page(results))
    assert "99 %" in page.words
    assert "100 % 3.99" not in page.words


def test_the_order_of_the_results_does_not_change_a_byte():
    results = make_class(24, hostile=True)
    assert report_page(results) == report_page(results[::-1])


def test_a_time_stands_on_a_page_only_when_it_is_given():
    assert "graded on 3 May" in report_page(make_class(2), made="graded on 3 May")
    assert feedback_page(one()) == feedback_page(one(), made="")


def test_of_two_results_for_one_learner_the_last_counts():
    page = Page(report_page([one("failed", "overflow"), one("passed")]))
    assert SOFTMAX.wrong["overflow"] not in page.words
    assert "student 1 submission 1" in page.words


def test_three_hundred_learners_fit_one_page(tmp_path):
    started = time.monotonic()
    report = write_pages(tmp_path, make_class(300))
    assert time.monotonic() - started < 30  # about 2 on a quiet machine
    assert report.stat().st_size < 500_000


# ---- where the pages stand


def test_every_link_of_the_report_leads_to_a_page(tmp_path):
    results = make_class(24, hostile=True)
    report = write_pages(tmp_path, results)
    links = {a["href"] for a in Page(report.read_text()).all("a") if not a["href"].startswith("#")}
    assert len(links) == 24
    assert all((tmp_path / unquote(link)).is_file() for link in links)
    assert len(list(tmp_path.rglob("*.html"))) == 25


@pytest.mark.parametrize(
    "name", ["kim", "20231234", "김민지", "ann [section 2]", "O'Neil, Ada", "kim.minji@example.org"]
)
def test_an_ordinary_id_is_its_own_folder(name):
    assert folder_names([name]) == {name: name}
    assert feedback_address(name, CHAPTER) == f"feedback/{name}/03_scores.html"


@pytest.mark.parametrize(
    "name",
    ["..", ".", "", "../../etc", "a/b", "a\\b", "C:\\x", "nul", "CON.txt", "a\x00b", "\udc80", " a", "a.", "-rf", "~root",
     "x" * 200, "김" * 60, "a\u202eb", unicodedata.normalize("NFD", "민")],
)  # fmt: skip
def test_an_odd_id_gets_a_folder_that_any_system_can_hold(name):
    folder = folder_names([name])[name]
    assert re.fullmatch(r"[\w][\w.-]{0,29}~[0-9a-f]{12}", folder)
    assert folder_names([name, "kim"])[name] == folder  # whoever else is there


def test_no_two_ids_share_a_folder():
    marked = folder_names(["a/b"])["a/b"]
    names = ["a/b", "a\\b", "a:b", marked, "Kim", "kim", *HOSTILE]
    folders = folder_names(names)
    assert len({folder.casefold() for folder in folders.values()}) == len(names)


def test_a_page_that_would_not_change_is_left_alone(tmp_path):
    results = make_class(3)
    write_pages(tmp_path, results)
    before = {path: path.stat().st_ino for path in tmp_path.rglob("*.html")}
    write_pages(tmp_path, results)
    assert {path: path.stat().st_ino for path in tmp_path.rglob("*.html")} == before


def test_other_learners_pages_stay(tmp_path):
    write_pages(tmp_path, [one(student="lee")])
    write_pages(tmp_path, [one(student="kim")])
    assert (tmp_path / "feedback" / "lee" / "03_scores.html").is_file()


# ---- late marks, and points by hand


def marks(result):
    """The result came late, with a time stamp that a learner wrote, and a teacher mended its points."""
    who = (identifier(result.student), result.assignment)
    late = Late(percent=20.0, sentence=f"Late. {HOSTILE_TEXT}", warning=f"No time: {HOSTILE_TEXT}")
    by_hand = {"test_softmax": HandGrade(1.5, 0.25), "softmax": HandGrade(comment=f"Nearly. {HOSTILE_TEXT}")}
    policy = Policy({CHAPTER: Deadline(datetime(2026, 10, 5, 23, 59, tzinfo=UTC), Rule())})
    return Marks(policy, {(result.student, result.assignment): late}, {who: by_hand})


def test_a_learner_reads_what_counts_why_and_what_the_teacher_said():
    result = one("failed")
    page = Page(feedback_page(result, marks=marks(result)))
    assert "Late. " in page.words
    assert "With that, 1.4 of 4 points count." in page.words  # (1.5 + 0.25 + 0) less 20 %
    assert "softmax 1.75 of 4 points" in page.words
    assert "Nearly. </pre>" in page.words
    assert "No time" not in page.words
    assert not page.all("script")


def test_where_the_raw_points_count_nothing_is_said_of_it():
    page = Page(feedback_page(one("failed"), marks=Marks(Policy())))
    assert "With that" not in page.words
    assert "From your teacher" not in page.words


def test_the_report_tells_the_due_date_who_was_late_what_counts_and_what_is_odd():
    result = one("failed")
    page = Page(report_page([result], marks=marks(result), notices=["The clock skips 02:30."]))
    assert "The clock skips 02:30." in page.words
    assert "Due 2026-10-05 23:59 (UTC)." in page.words
    assert "Late: 20 % of the points are taken off." in page.words
    assert "Counts" in page.words
    assert "kim 2 1.4" in page.words
    assert "No time: </pre>" in page.words
    assert not page.all("script")


def test_points_that_wait_for_a_teacher_are_no_number_in_the_report():
    result = replace(one("passed"), exercises=make_class(1, ungraded=1)[0].exercises)
    page = Page(report_page([result], marks=Marks(Policy())))
    assert page.words.count("? not complete") == 2


# ---- in a browser


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("graded")
    demo = tuple(
        make_exercise("demo", task, status, "overflow" if task.name == "softmax" else "", hidden=True)
        for task, status in zip(
            TASKS, ("passed", "failed", "error", "failed", "unanswered", "timeout", "passed"), strict=True
        )
    )
    demo = SubmissionResult("demo", CHAPTER, demo, ("The file was mended.",), ("It was odd.",), SANDBOX)
    write_pages(folder, [demo, hostile(), *make_class(24, hostile=True, ungraded=1)])
    late = folder / "late"
    write_pages(late, [demo, *make_class(3)], marks=marks(demo), notices=["The clock skips 02:30."])
    write_pages(folder / "empty", [])
    lost, odd = make_class(1, hostile=True, ungraded=1)[0], hostile()
    return {
        "report": folder / "report.html",
        "empty": folder / "empty" / "report.html",
        "feedback": folder / feedback_address("demo", CHAPTER),
        "late report": late / "report.html",
        "late feedback": late / feedback_address("demo", CHAPTER),
        "waiting": folder / feedback_address(folder_names([lost.student])[lost.student], CHAPTER),
        "hostile": folder / feedback_address(folder_names([odd.student])[odd.student], CHAPTER),
    }


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["report", "empty", "feedback", "waiting", "hostile", "late report", "late feedback"])
def test_axe_finds_nothing_the_console_is_silent_and_nothing_is_fetched(browser, pages, name, scheme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    context = browser.new_context(color_scheme=scheme)
    page = context.new_page()
    heard: list[str] = []
    page.on("console", lambda message: heard.append(message.text))
    page.on("pageerror", lambda error: heard.append(str(error)))
    page.on("dialog", lambda dialog: (heard.append(dialog.message), dialog.dismiss()))
    page.on("request", lambda request: request.url.startswith("file:") or heard.append(request.url))
    page.goto(pages[name].as_uri())
    page.evaluate("document.querySelectorAll('details').forEach(details => details.open = true)")
    result = axe.Axe().run(page)
    context.close()
    assert result.violations_count == 0, result.generate_report()
    assert heard == []


@pytest.mark.parametrize("name", ["report", "empty", "feedback", "waiting", "hostile", "late report", "late feedback"])
def test_a_phone_never_scrolls_the_page_sideways(browser, pages, name):
    context = browser.new_context(viewport={"width": 390, "height": 844})
    page = context.new_page()
    page.goto(pages[name].as_uri())
    width = page.evaluate("document.documentElement.scrollWidth")
    context.close()
    assert width <= 390


def test_print_shows_what_is_folded_away(browser, pages):
    context = browser.new_context()
    page = context.new_page()
    page.goto(pages["feedback"].as_uri())
    folded = page.locator("details:not([open]) pre").first
    assert not folded.is_visible()
    page.emulate_media(media="print")
    assert folded.is_visible()
    context.close()

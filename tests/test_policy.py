"""A policy file says when work is due; lateness is counted as people count it, whatever the clocks do."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from autograder.errors import UsageError
from autograder.policy import HOUR, Rule, late_percent, read_policy
from autograder.words import say

CHAPTERS = ("01_numbers", "03_scores")
BERLIN = ZoneInfo("Europe/Berlin")


@pytest.fixture
def read(tmp_path):
    def read(text):
        path = tmp_path / "policy.toml"
        path.write_text(text, encoding="utf-8")
        return read_policy(path, CHAPTERS)

    return read


def judged(policy, time, student="kim", chapter="01_numbers"):
    return policy.judge(student, chapter, datetime.fromisoformat(time))


DUE = 'zone = "Asia/Seoul"\n[chapters.01_numbers]\ndue = 2026-10-05T23:59:00\n'


@pytest.mark.parametrize(
    ("rule", "late", "percent"),
    [
        ("percent_per_day = 10", "00:00:00", 0),
        ("percent_per_day = 10", "00:00:01", 10),
        ("percent_per_day = 10", "1 00:00:00", 10),
        ("percent_per_day = 10", "1 00:00:01", 20),
        ("percent_per_day = 10", "20 00:00:00", 100),
        ("percent_per_day = 10\nat_most_percent = 50", "20 00:00:00", 50),
        ("percent_per_hour = 2.5", "01:00:00", 2.5),
        ("percent_per_hour = 2.5", "01:00:01", 5),
        ("percent_per_day = 10\ngrace_minutes = 15", "00:15:00", 0),
        ("percent_per_day = 10\ngrace_minutes = 15", "00:15:01", 10),
        ("zero_after_days = 7", "7 00:00:00", 0),
        ("zero_after_days = 7", "7 00:00:01", 100),
        ("percent_per_day = 5\nat_most_percent = 20\nzero_after_days = 2", "3 00:00:00", 100),
        ("", "20 00:00:00", 0),
    ],
)
def test_lateness_costs_what_the_rule_says(read, rule, late, percent):
    policy = read(f"{DUE}{rule}")
    days, _, clock = late.rpartition(" ")
    hours, minutes, seconds = map(int, clock.split(":"))
    span = timedelta(days=int(days or 0), hours=hours, minutes=minutes, seconds=seconds)
    time = datetime(2026, 10, 5, 23, 59, tzinfo=ZoneInfo("Asia/Seoul")) + span
    assert policy.judge("kim", "01_numbers", time).percent == percent


def test_a_rule_for_all_chapters_can_be_another_for_one(read):
    policy = read(
        "[late]\npercent_per_day = 10\nat_most_percent = 50\n"
        "[chapters.01_numbers]\ndue = 2026-10-05T23:59:00Z\n"
        "[chapters.03_scores]\ndue = 2026-10-05T23:59:00Z\npercent_per_day = 20\n"
    )
    assert judged(policy, "2026-10-06T12:00Z").percent == 10
    assert judged(policy, "2026-10-06T12:00Z", chapter="03_scores").percent == 20
    assert judged(policy, "2026-11-06T12:00Z", chapter="03_scores").percent == 50


def test_a_chapter_may_count_hours_where_the_others_count_days(read):
    policy = read(
        "[late]\npercent_per_day = 10\n"
        "[chapters.01_numbers]\ndue = 2026-10-05T23:59:00Z\npercent_per_hour = 1\n"
        "[chapters.03_scores]\ndue = 2026-10-05T23:59:00Z\n"
    )
    assert judged(policy, "2026-10-06T01:58Z").percent == 2
    assert judged(policy, "2026-10-06T01:58Z", chapter="03_scores").percent == 10


def test_an_extension_is_for_one_student_and_one_chapter(read):
    policy = read(f"{DUE}percent_per_day = 10\n[extensions.kim]\n01_numbers = 2026-10-08T23:59:00\n")
    assert judged(policy, "2026-10-08T23:00+09:00").percent == 0
    assert judged(policy, "2026-10-08T23:00+09:00").extension == timedelta(days=3)
    assert judged(policy, "2026-10-08T23:00+09:00", "lee").percent == 30
    assert policy.judge("kim", "01_numbers", None).extension == timedelta(days=3)
    assert policy.unknown_students(["lee"]) == ["kim"]


def test_a_student_s_name_is_the_same_in_both_spellings_of_hangul(read):
    policy = read(f'{DUE}percent_per_day = 10\n[extensions."민지"]\n01_numbers = 2026-10-08T23:59:00\n')
    decomposed = "\u1106\u1175\u11ab\u110c\u1175"
    assert judged(policy, "2026-10-08T23:00+09:00", decomposed).percent == 0
    assert policy.unknown_students([decomposed]) == []


def test_times_in_different_zones_are_compared_as_moments(read):
    policy = read(f"{DUE}percent_per_day = 10")
    assert judged(policy, "2026-10-05T14:59:00+00:00").percent == 0  # 23:59 in Seoul
    assert judged(policy, "2026-10-05T14:59:01+00:00").percent == 10
    assert judged(policy, "2026-10-05T10:59:01-04:00").percent == 10


@pytest.mark.parametrize(
    ("due", "hours"),
    [(datetime(2026, 3, 28, 12), 23), (datetime(2026, 10, 24, 12), 25), (datetime(2026, 6, 1, 12), 24)],
)
def test_a_day_ends_at_the_due_time_of_day_also_when_the_clocks_change(due, hours):
    due = due.replace(tzinfo=BERLIN)
    rule = Rule(percent=10)
    end_of_first_day = due.astimezone(UTC) + timedelta(hours=hours)
    assert late_percent(rule, due, end_of_first_day) == 10
    assert late_percent(rule, due, end_of_first_day + timedelta(seconds=1)) == 20


def test_an_hour_is_an_hour_also_when_the_clocks_change():
    due = datetime(2026, 10, 25, 1, 30, tzinfo=BERLIN)
    rule = Rule(percent=10, unit=HOUR)
    assert late_percent(rule, due, due.astimezone(UTC) + timedelta(hours=3)) == 30


def test_a_due_date_that_the_clock_skips_is_said_and_taken_an_hour_later(read):
    policy = read('zone = "Europe/Berlin"\n[chapters.01_numbers]\ndue = 2026-03-29T02:30:00\npercent_per_day = 10')
    assert "skips 2026-03-29 02:30" in policy.notices[0]
    assert "03:30" in policy.notices[0]
    assert judged(policy, "2026-03-29T03:30+02:00").percent == 0
    assert judged(policy, "2026-03-29T03:31+02:00").percent == 10


def test_a_due_date_that_the_clock_shows_twice_is_said_and_the_later_one_is_taken(read):
    policy = read('zone = "Europe/Berlin"\n[chapters.01_numbers]\ndue = 2026-10-25T02:30:00\npercent_per_day = 10')
    assert "shows 2026-10-25 02:30 twice" in policy.notices[0]
    assert judged(policy, "2026-10-25T02:30+01:00").percent == 0
    assert judged(policy, "2026-10-25T02:31+01:00").percent == 10


def test_an_ordinary_due_date_needs_no_notice(read):
    assert read(DUE).notices == ()


def test_the_sentence_says_when_how_late_and_what_it_costs(read):
    sentence = judged(read(f"{DUE}percent_per_day = 10"), "2026-10-07T01:00+00:00").sentence
    assert "2026-10-07 10:00 (Asia/Seoul)" in sentence
    assert "1 d 10 h" in sentence
    assert "20 %" in sentence
    assert judged(read(DUE), "2026-10-05T01:00+00:00").sentence == ""


def test_what_has_no_due_date_or_no_time_costs_nothing(read):
    policy = read(f"{DUE}percent_per_day = 10")
    assert judged(policy, "2030-01-01T00:00Z", chapter="03_scores").percent == 0
    assert policy.judge("kim", "01_numbers", None).percent == 0


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[chapters.01_numbers]\ndue = 2026-10-05T23:59:00", "no time zone"),
        ("[chapters.01_numbers]\ndue = 2026-10-05", "a day without a time"),
        ('[chapters.01_numbers]\ndue = "tomorrow"', "without quotes"),
        ('zone = "Mars/Base"', "no time zone that this machine knows"),
        ("zone = 9", "no time zone that this machine knows"),
        ('zone = "../../etc/passwd"', "no time zone that this machine knows"),
        ("[chapters.99_none]\ndue = 2026-10-05T23:59:00Z", "no such chapter"),
        (f"{DUE}percent_per_dya = 10", "percent_per_dya"),
        (f"{DUE}percent_per_day = -1", "not a number from 0"),
        (f"{DUE}percent_per_day = true", "not a number from 0"),
        (f"{DUE}percent_per_day = nan", "not a number from 0"),
        (f"{DUE}percent_per_day = 1\npercent_per_hour = 1", "exclude each other"),
        (f"{DUE}[extensions.kim]\n03_scores = 2026-10-08T23:59:00", "no due date that could be extended"),
        (f"{DUE}[extensions.kim]\n01_numbers = 2025-10-08T23:59:00", "ends before"),
        ("extensions = 3", "[extensions]"),
        (f"[late]\npercent_per_day = -1\n{DUE.partition(chr(10))[2]}", "late.percent_per_day"),
        ("file_times = 1", "true or false"),
        ("[chapters.01_numbers]\ndue = 9999-12-31T23:59:00-09:00", "years 2000 to 2200"),
        ("[chapters.01_numbers]\ndue = 0001-01-01T00:00:00+09:00", "years 2000 to 2200"),
        ('zone = "Asia/Seoul"\n[chapters.01_numbers]\ndue = 0001-01-01T00:00:00', "years 2000 to 2200"),
        (f"{DUE}[extensions.kim]\n01_numbers = 9999-12-31T23:59:59", "years 2000 to 2200"),
        ("due: tomorrow", "not TOML"),
        (f"{DUE}percent_per_day = {'9' * 5000}", "not TOML"),
        ("zone = " + "[" * 100_000, "not TOML"),
        ("what = 1", "no such line"),
    ],
)
def test_a_mistake_in_the_file_is_one_sentence_with_the_place(read, text, words):
    with pytest.raises(UsageError) as caught:
        read(text)
    assert words in str(caught.value)
    assert "policy.toml" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_example_that_help_shows_is_a_policy(read):
    example = say("policy.example", chapter="03_scores")
    policy = read(example[example.index("  zone") : example.index("Times of")])
    assert policy.deadlines["03_scores"].rule.zero_after_days == 7
    assert judged(policy, "2026-10-08T23:59+09:00", chapter="03_scores").percent == 0


def test_a_file_that_is_not_there_is_said(tmp_path):
    with pytest.raises(UsageError, match="cannot be read"):
        read_policy(tmp_path / "none.toml", CHAPTERS)

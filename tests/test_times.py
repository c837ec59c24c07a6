"""When something was handed in comes from the teacher's side; nonsense is a warning, never a mark."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from autograder.errors import UsageError
from autograder.policy import Policy
from autograder.times import NotATime, Stamp, handed_in, parse_time, read_times

NOW = datetime(2026, 12, 1, tzinfo=UTC)
SEOUL = ZoneInfo("Asia/Seoul")
CHAPTER = "01_numbers"


def found(stamp, row=None, zone=None, file_times=False):
    return handed_in(row, stamp, Policy(zone=zone, file_times=file_times), NOW)


@pytest.mark.parametrize(
    "text",
    [
        "2026-10-05 14:59:00.000000 UTC",  # nbgrader's own form
        "2026-10-05 23:59:00 Asia/Seoul",
        "2026-10-05T23:59:00+09:00",
        "2026-10-05 23:59:00 +0900\n",
        "2026-10-05T14:59:00Z",
        "2026-10-05 14:59:00",
        "20261005T14:59:00",
    ],
)
def test_the_usual_forms_of_a_time_are_read(text):
    assert parse_time(text, UTC, NOW) == datetime(2026, 10, 5, 14, 59, tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    ["", "yesterday", "5", "2026-10-05", "2026-13-05 10:00", "1970-01-01 00:00 UTC", "2099-01-01 00:00 UTC",
     "2026-10-05 10:00 Mars/Base", "\x00\xff", "9" * 10_000, "2026-10-05 10:00 ../etc", "NaN:NaN"],
)  # fmt: skip
def test_nonsense_is_no_time(text):
    with pytest.raises(NotATime) as caught:
        parse_time(text, UTC, NOW)
    assert len(str(caught.value)) < 200


def test_a_time_without_a_zone_needs_one_from_the_policy():
    assert parse_time("2026-10-05 23:59", SEOUL, NOW) == datetime(2026, 10, 5, 14, 59, tzinfo=UTC)
    with pytest.raises(NotATime, match="no time zone"):
        parse_time("2026-10-05 23:59", None, NOW)


def test_timestamp_txt_is_read_as_nbgrader_reads_it():
    assert found(Stamp("2026-10-05 14:59:00.000000"), zone=SEOUL) == (datetime(2026, 10, 5, 14, 59, tzinfo=UTC), "")


def test_a_nonsense_timestamp_is_a_warning_and_no_time():
    time, warning = found(Stamp("\ufffd garbage \x1b[31m", NOW.timestamp()), file_times=True)
    assert time is None
    assert "garbage" in warning
    assert "\x1b" not in warning


def test_the_teacher_s_table_goes_before_a_file_that_a_learner_may_have_packed():
    time, _ = found(Stamp("2026-01-01 00:00:00 UTC"), "2026-10-05T14:59:00Z")
    assert time == datetime(2026, 10, 5, 14, 59, tzinfo=UTC)


def test_a_file_s_own_time_counts_only_where_the_policy_says_so():
    moment = datetime(2026, 10, 3, tzinfo=UTC)
    stamp = Stamp(modified=moment.timestamp())
    assert found(stamp)[0] is None
    assert "nothing tells" in found(stamp)[1]
    assert found(stamp, file_times=True) == (moment, "")


@pytest.mark.parametrize(
    ("modified", "words"),
    [
        (datetime(1980, 1, 1, tzinfo=UTC).timestamp(), "1980-01-01"),  # of a zip without a clock
        (datetime(2099, 1, 1, tzinfo=UTC).timestamp(), "2099-01-01"),
        (0.0, "1970"),
        (3e11, "no calendar"),
        (-1e18, "no calendar"),
    ],
)
def test_a_file_s_own_time_may_be_nonsense_too(modified, words):
    time, warning = found(Stamp(modified=modified), file_times=True)
    assert time is None
    assert words in warning
    assert "nothing tells" in found(Stamp(modified=modified))[1]  # and is nothing to speak of where it does not count


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp949"])
@pytest.mark.parametrize("delimiter", [",", ";"])
def test_the_table_is_read_in_the_forms_that_spreadsheets_save(tmp_path, encoding, delimiter):
    path = tmp_path / "times.csv"
    lines = (("student", "note", "submitted"), ('"민지, 김"', "", "2026-10-05T14:59:00Z"), ("lee", "", ""))
    path.write_text("\r\n".join(delimiter.join(line) for line in lines), encoding=encoding, newline="")
    assert read_times(path, [CHAPTER]) == {("민지, 김", CHAPTER): "2026-10-05T14:59:00Z"}


@pytest.mark.parametrize(
    ("content", "chapters", "words"),
    [
        ("student,when\nkim,now\n", [CHAPTER], "no column 'submitted'"),
        ("student,submitted\nkim,now\n", [CHAPTER, "03_scores"], "needs a column 'assignment'"),
        ("", [CHAPTER], "no column 'student'"),
    ],
)
def test_a_table_without_its_columns_is_one_sentence(tmp_path, content, chapters, words):
    path = tmp_path / "times.csv"
    path.write_text(content)
    with pytest.raises(UsageError, match=words):
        read_times(path, chapters)

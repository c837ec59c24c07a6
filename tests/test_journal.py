"""The journal keeps every result that was finished, whatever happens to the run."""

from __future__ import annotations

import json
import os
from dataclasses import replace

import pytest
from made_up_class import TASKS, make_class, make_exercise

from autograder.errors import UsageError
from autograder.journal import Journal, from_json, to_json
from autograder.results import SubmissionResult


@pytest.fixture
def path(tmp_path):
    return tmp_path / "graded" / "journal.jsonl"


def write(path, results):
    with Journal(path) as journal:
        for result in results:
            journal.append("key", result)


def find(path, result, key="key"):
    with Journal(path) as journal:
        return journal.find(result.student, result.assignment, key)


def test_every_result_comes_back_equal(path):
    results = make_class(24, hostile=True)
    write(path, results)
    with Journal(path) as journal:
        assert len(journal) == len(results)
        assert journal.dropped == 0
        assert [journal.find(result.student, result.assignment, "key") for result in results] == results


@pytest.mark.parametrize("answer", ["\x00 \ud800 \u2028 한글 \r\n", "a" * 1_000_000, '"]}\n{"key": "forged"}\n'])
def test_an_answer_comes_back_to_the_character(path, answer):
    exercise = replace(make_exercise("kim", TASKS[0], "passed"), answer=answer)
    result = SubmissionResult("kim", "03_scores", (exercise,))
    write(path, [result])
    assert find(path, result) == result


def test_json_and_back_is_the_same_record():
    for result in make_class(24):
        assert from_json(json.loads(json.dumps(to_json(result)))) == result


def test_another_content_is_not_found(path):
    (result,) = make_class(1)
    write(path, [result])
    assert find(path, result, key="another key") is None


def test_two_students_with_the_same_bytes_keep_their_own_result(path):
    first, second = make_class(2)
    write(path, [first, second])
    assert find(path, first) == first
    assert find(path, second) == second


def test_of_two_results_for_the_same_content_the_last_counts(path):
    (result,) = make_class(1)
    regraded = replace(result, flags=("graded again",))
    write(path, [result, regraded])
    assert find(path, result) == regraded


def test_an_ungraded_result_is_not_found_so_that_it_is_tried_again(path):
    (result,) = make_class(1, ungraded=1)
    write(path, [result])
    assert find(path, result) is None


@pytest.mark.parametrize("cut", [1, 2, 40, 500])
def test_a_line_torn_by_a_kill_is_dropped_and_the_next_one_is_whole(path, cut):
    first, second, third = make_class(3)
    write(path, [first, second])
    os.truncate(path, path.stat().st_size - cut)
    with Journal(path) as journal:
        assert journal.dropped == 1
        assert len(journal) == 1
        journal.append("key", third)
    assert find(path, first) == first
    assert find(path, second) is None
    assert find(path, third) == third


def test_a_torn_first_line_is_an_empty_journal(path):
    path.parent.mkdir()
    path.write_text('{"jour')
    (result,) = make_class(1)
    write(path, [result])
    assert find(path, result) == result


@pytest.mark.parametrize(
    "line", ["not json", "[]", "{}", '{"key": "key", "result": {"student": "kim"}}', "\x00\x00", "[" * 100_000]
)
def test_a_broken_line_in_the_middle_costs_only_itself(path, line):
    first, second = make_class(2)
    write(path, [first])
    with path.open("a") as file:
        file.write(line + "\n")
    write(path, [second])
    with Journal(path) as journal:
        assert journal.dropped == 1
        assert len(journal) == 2


EDITED = {
    "a status misspelt": ("exercises", 0, "status", "pased"),
    "points as text": ("exercises", 0, "score", "2"),
    "no number": ("exercises", 0, "score", float("nan")),
    "a number without end": ("exercises", 0, "max_score", 10**400),
    "no message": ("exercises", 0, "message", None),
    "an exercise that is none": ("exercises", 0, 5),
    "a check's points as text": ("exercises", 0, "checks", 0, "score", "2"),
    "a check's answer to yes or no": ("exercises", 0, "checks", 0, "visible_passed", 1),
    "a student who is a number": ("student", 7),
    "flags that are one text": ("flags", "look"),
    "a flag that is a number": ("flags", [7]),
    "a field more": ("exercises", 0, "mark", 1.0),
}


@pytest.mark.parametrize("edit", EDITED)
def test_a_line_that_somebody_edited_into_no_result_costs_only_itself(path, edit):
    first, second = make_class(2)
    write(path, [first, second])
    *place, name, value = EDITED[edit]
    header, line, rest = path.read_text().split("\n", 2)
    record = json.loads(line)
    part = record["result"]
    for step in place:
        part = part[step]
    part[name] = value
    path.write_text("\n".join([header, json.dumps(record), rest]))
    with Journal(path) as journal:
        assert journal.dropped == 1
        assert [result for _, result in journal.all_latest()] == [second]


def test_a_key_that_is_no_text_costs_only_its_line(path):
    (result,) = make_class(1)
    write(path, [result])
    path.write_text(path.read_text().replace('"key":"key"', '"key":5'))
    with Journal(path) as journal:
        assert (journal.dropped, len(journal)) == (1, 0)


def test_an_append_is_in_the_file_before_it_returns(path):
    (result,) = make_class(1)
    with Journal(path) as journal:
        before = path.stat().st_size
        journal.append("key", result)
        assert path.read_bytes()[before:].endswith(b"\n")


def test_a_full_disk_leaves_no_half_line(path, monkeypatch):
    first, second = make_class(2)
    real_write = os.write

    def fill_up(file, data):
        if len(data) < 100:
            raise OSError(28, "No space left on device")
        return real_write(file, data[:-50])

    with Journal(path) as journal:
        journal.append("key", first)
        with monkeypatch.context() as patch:
            patch.setattr(os, "write", fill_up)
            with pytest.raises(OSError, match="No space left"):
                journal.append("key", second)
        assert journal.find(second.student, second.assignment, "key") is None
        journal.append("key", second)
    with Journal(path) as journal:
        assert journal.dropped == 0
        assert len(journal) == 2


def test_a_second_run_is_told_that_the_first_still_writes(path):
    with Journal(path), pytest.raises(UsageError, match="Another run is writing"):
        Journal(path)
    Journal(path).close()  # free again


def test_a_journal_of_another_format_is_set_aside_and_not_lost(path):
    path.parent.mkdir()
    old = '{"journal": 999}\n{"key": "key"}\n'
    path.write_text(old)
    (result,) = make_class(1)
    with Journal(path) as journal:
        assert journal.set_aside.read_text() == old
        assert len(journal) == 0
        journal.append("key", result)
    assert find(path, result) == result

"""The gradebook is one that nbgrader itself could have written, and says what we meant."""

from __future__ import annotations

import csv
import os
import shutil
import sqlite3
import subprocess
import sys
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import nbformat
import pytest
from made_up_class import CHAPTER, HOSTILE, TASKS, make_class, make_course, make_exercise, student_names

from autograder.errors import UsageError
from autograder.gradebook import write_gradebook
from autograder.hand_grades import read_hand_grades
from autograder.marks import HandGrade
from autograder.plaintext import identifier
from autograder.policy import Deadline, Late, Policy, Rule
from autograder.results import SubmissionResult
from autograder.statuses import STATUSES

api = pytest.importorskip("nbgrader.api", reason="the gradebook needs nbgrader: pip install -r requirements.txt")

MAX_SCORE = sum(sum(task.points) for task in TASKS)
SOFTMAX = next(task for task in TASKS if task.name == "softmax")


@pytest.fixture
def assignment(tmp_path):
    return make_course(tmp_path).assignment(CHAPTER)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "graded" / "gradebook.db"


def opened(path):
    return api.Gradebook(f"sqlite:///{path}")


def nbgrader(*arguments, root, database):
    """nbgrader's own command line, in a course's folder."""
    programs = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    command = [sys.executable, "-m", "nbgrader", *arguments, f"--db=sqlite:///{database}"]
    options = [f"--CourseDirectory.root={root}", "--CourseDirectory.source_directory=solutions"]
    subprocess.run(
        [*command, *options], cwd=root, check=True, capture_output=True, env={**os.environ, "PATH": programs}
    )


def one(student="kim", *exercises):
    return SubmissionResult(student, CHAPTER, exercises or tuple(make_exercise(student, t, "passed") for t in TASKS))


def softmax(status, student="kim", **fields):
    return one(student, make_exercise(student, SOFTMAX, status, **fields))


def grade_of(gradebook, check="test_softmax", student="kim"):
    return gradebook.find_grade(check, "weights", CHAPTER, student)


def comment_of(gradebook, student="kim"):
    return gradebook.find_comment("softmax", "weights", CHAPTER, student)


def source_records(path):
    """All that nbgrader records of an assignment, without the random ids."""
    with opened(path) as gradebook:
        (assignment,) = gradebook.assignments
        records = [("version", gradebook.db.execute(api.text("SELECT version_num FROM alembic_version")).scalar())]
        records += [("assignment", assignment.name, assignment.max_score, assignment.course_id)]
        for notebook in assignment.notebooks:
            records.append(("notebook", notebook.name, notebook.kernelspec, notebook.max_score))
            for kind in ("grade_cells", "solution_cells", "task_cells", "source_cells"):
                for cell in getattr(notebook, kind):
                    fields = {name: value for name, value in cell.to_dict().items() if name != "id"}
                    records.append((kind, sorted(fields.items())))
        return sorted(records, key=repr)


@pytest.mark.slow
def test_the_source_is_recorded_as_nbgrader_records_it(assignment, path, tmp_path):
    write_gradebook(path, [assignment], [])
    nbgrader("generate_assignment", CHAPTER, root=tmp_path, database=tmp_path / "theirs.db")
    ours, theirs = source_records(path), source_records(tmp_path / "theirs.db")
    assert len(ours) > 20
    # nbgrader's command line names a course "", which its own classes do not have; all else is equal
    course = ("assignment", CHAPTER, MAX_SCORE)
    assert [record for record in ours if record[0] != "assignment"] == [r for r in theirs if r[0] != "assignment"]
    assert [record[:3] for record in ours + theirs if record[0] == "assignment"] == [course, course]


def test_every_score_is_the_result_s_score(assignment, path):
    results = make_class(40)
    write_gradebook(path, [assignment], results)
    with opened(path) as gradebook:
        for result in results:
            if {exercise.status for exercise in result.exercises} == {"missing"}:
                continue
            submission = gradebook.find_submission(CHAPTER, result.student)
            assert submission.score == pytest.approx(result.score)  # sums in another order
            assert submission.max_score == MAX_SCORE == result.max_score
            assert not submission.needs_manual_grade


def test_every_test_cell_has_its_own_score(assignment, path):
    write_gradebook(path, [assignment], [softmax("failed")])
    with opened(path) as gradebook:
        assert grade_of(gradebook).auto_score == 2.0
        assert grade_of(gradebook, "test_softmax_large").auto_score == 0.0
        assert grade_of(gradebook, "test_softmax_large").failed_tests


@pytest.mark.slow
def test_nbgrader_export_gives_the_same_scores(assignment, path, tmp_path):
    results = [result for result in make_class(30) if result.score]
    write_gradebook(path, [assignment], results)
    nbgrader("export", f"--to={tmp_path / 'export.csv'}", root=tmp_path, database=path)
    with (tmp_path / "export.csv").open(encoding="utf-8") as file:
        exported = {row["student_id"]: (float(row["score"]), float(row["max_score"])) for row in csv.DictReader(file)}
    assert exported == {result.student: (result.score, MAX_SCORE) for result in results}


def test_names_with_quotes_commas_and_hangul_are_students(assignment, path):
    results = [one(name) for name in HOSTILE]
    write_gradebook(path, [assignment], results)
    with opened(path) as gradebook:
        assert {student.id for student in gradebook.students} == {identifier(name) for name in HOSTILE}
        for name in HOSTILE:
            assert gradebook.find_submission(CHAPTER, identifier(name)).score == MAX_SCORE


def test_ungraded_is_no_zero_but_waits_for_a_grade(assignment, path):
    write_gradebook(path, [assignment], [softmax("timeout", "park"), make_class(1, ungraded=1)[0]])
    (student,) = student_names(1)
    with opened(path) as gradebook:
        assert grade_of(gradebook, student=student).auto_score is None
        assert gradebook.find_submission(CHAPTER, student).needs_manual_grade
        assert grade_of(gradebook, student="park").auto_score == 0.0
        assert not grade_of(gradebook, student="park").needs_manual_grade


def test_a_later_ungraded_run_keeps_the_score_of_before(assignment, path):
    lost = softmax("passed")
    exercise = replace(lost.exercises[0], status="ungraded", score=0.0, checks=())
    write_gradebook(path, [assignment], [lost])
    write_gradebook(path, [assignment], [replace(lost, exercises=(exercise,))])
    with opened(path) as gradebook:
        assert grade_of(gradebook).auto_score == 2.0
        assert grade_of(gradebook).needs_manual_grade


def test_an_exercise_without_single_checks_gets_zero_in_each(assignment, path):
    exercise = replace(make_exercise("kim", SOFTMAX, "unreadable", message=""), checks=())
    write_gradebook(path, [assignment], [one("kim", exercise)])
    with opened(path) as gradebook:
        assert [grade_of(gradebook, f"test_softmax{end}").auto_score for end in ("", "_large")] == [0.0, 0.0]


def test_who_handed_in_nothing_is_a_student_without_a_submission(assignment, path):
    exercise = replace(make_exercise("kim", SOFTMAX, "missing", message=""), checks=())
    write_gradebook(path, [assignment], [one("kim", exercise)])
    with opened(path) as gradebook:
        assert gradebook.find_student("kim").score == 0.0
        assert gradebook.assignment_submissions(CHAPTER) == []


def test_the_same_results_again_change_no_byte(assignment, path):
    results = make_class(30, hostile=True, ungraded=2)
    assert write_gradebook(path, [assignment], results) > 25
    before = path.read_bytes()
    assert write_gradebook(path, [assignment], results) == 0
    assert path.read_bytes() == before


def test_a_changed_result_changes_its_submission_alone(assignment, path):
    write_gradebook(path, [assignment], [softmax("failed"), softmax("passed", "park")])
    assert write_gradebook(path, [assignment], [softmax("passed"), softmax("passed", "park")]) == 1
    with opened(path) as gradebook:
        assert grade_of(gradebook, "test_softmax_large").auto_score == 2.0
        assert comment_of(gradebook).auto_comment is None


def test_a_manual_score_and_comment_stay_and_are_marked_for_review_when_the_score_beside_them_moves(assignment, path):
    write_gradebook(path, [assignment], [softmax("failed")])
    with opened(path) as gradebook:
        grade_of(gradebook, "test_softmax_large").manual_score = 1.5
        grade_of(gradebook, "test_softmax_large").extra_credit = 0.25
        comment_of(gradebook).manual_comment = "Nearly."
        gradebook.db.commit()
    write_gradebook(path, [assignment], [softmax("failed")])
    with opened(path) as gradebook:
        assert not grade_of(gradebook, "test_softmax_large").needs_manual_grade
    write_gradebook(path, [assignment], [softmax("passed")])
    with opened(path) as gradebook:
        grade = grade_of(gradebook, "test_softmax_large")
        assert (grade.auto_score, grade.manual_score, grade.score) == (2.0, 1.5, 1.75)
        assert grade.needs_manual_grade
        assert comment_of(gradebook).comment == "Nearly."


def test_the_message_is_the_automatic_comment_and_a_stub_is_no_response(assignment, path):
    message = "row 0 sums to 3.0\x1b[31m, not 1.0"
    write_gradebook(path, [assignment], [softmax("failed", message=message), softmax("unanswered", "park")])
    with opened(path) as gradebook:
        assert comment_of(gradebook).comment == "row 0 sums to 3.0, not 1.0"
        assert comment_of(gradebook, "park").comment == "No response."  # nbgrader's own words


DUE = datetime(2026, 10, 5, 14, 59, tzinfo=UTC)
POLICY = Policy({CHAPTER: Deadline(DUE, Rule())})


def late(percent, student="kim", hours=30, extension=None):
    return {(student, CHAPTER): Late(extension, DUE + timedelta(hours=hours), percent)}


def submission_of(gradebook, student="kim"):
    return gradebook.find_submission(CHAPTER, student)


def test_lateness_is_recorded_as_nbgrader_does_it(assignment, path):
    write_gradebook(path, [assignment], [one()], POLICY, late(25, extension=timedelta(hours=6)))
    with opened(path) as gradebook:
        submission = submission_of(gradebook)
        assert gradebook.find_assignment(CHAPTER).duedate == DUE.replace(tzinfo=None)
        assert submission.total_seconds_late == 24 * 3600
        assert submission.late_submission_penalty == MAX_SCORE / 4
        for notebook in submission.notebooks:
            assert notebook.late_submission_penalty == notebook.score / 4


def test_a_penalty_that_ends_is_taken_back(assignment, path):
    write_gradebook(path, [assignment], [one()], POLICY, late(25))
    write_gradebook(path, [assignment], [one()], POLICY, late(0, hours=-1))
    with opened(path) as gradebook:
        assert not submission_of(gradebook).late_submission_penalty
        assert submission_of(gradebook).total_seconds_late == 0


def test_without_a_policy_lateness_stays_as_somebody_else_recorded_it(assignment, path):
    write_gradebook(path, [assignment], [one()], POLICY, late(25))
    write_gradebook(path, [assignment], [one()])
    with opened(path) as gradebook:
        assert submission_of(gradebook).late_submission_penalty == MAX_SCORE / 4


def test_a_penalty_is_taken_from_points_given_by_hand(assignment, path):
    write_gradebook(path, [assignment], [one()])
    with opened(path) as gradebook:
        grade = grade_of(gradebook, "test_softmax_large")
        grade.manual_score, grade.extra_credit = 0.0, 1.0
        gradebook.db.commit()
    write_gradebook(path, [assignment], [one()], POLICY, late(100))
    with opened(path) as gradebook:
        assert submission_of(gradebook).late_submission_penalty == MAX_SCORE - 1


def test_what_was_entered_by_hand_is_read_back(assignment, path):
    write_gradebook(path, [assignment], [one(), one("park")])
    assert read_hand_grades(path) == {}
    with opened(path) as gradebook:
        grade_of(gradebook, "test_softmax_large").manual_score = 1.5
        grade_of(gradebook, "test_softmax").extra_credit = 0.5
        comment_of(gradebook).manual_comment = "Nearly."
        gradebook.db.commit()
    assert read_hand_grades(path) == {
        ("kim", CHAPTER): {
            "test_softmax_large": HandGrade(1.5),
            "test_softmax": HandGrade(extra_credit=0.5),
            "softmax": HandGrade(comment="Nearly."),
        }
    }
    assert read_hand_grades(path.with_name("none.db")) == {}


def change_source(assignment, root, change):
    """The assignment after `change` was done to the cells of weights.ipynb."""
    file = assignment.folder / "weights.ipynb"
    notebook = nbformat.read(file, 4)
    change(notebook.cells)
    nbformat.write(notebook, file)
    return make_course_again(root)


def make_course_again(root):
    from autograder.course import Course

    return Course(root).assignment(CHAPTER)


def cell(cells, name):
    return next(cell for cell in cells if cell.metadata.get("nbgrader", {}).get("grade_id") == name)


def test_a_test_cell_added_after_grading_gets_a_place_in_every_submission(assignment, path, tmp_path):
    write_gradebook(path, [assignment], [softmax("passed"), softmax("passed", "park")])

    def add(cells):
        new = nbformat.from_dict(dict(cell(cells, "test_softmax"), id="new"))
        new.metadata = nbformat.from_dict({"nbgrader": dict(new.metadata.nbgrader, grade_id="test_softmax_new")})
        cells.append(new)

    write_gradebook(path, [change_source(assignment, tmp_path, add)], [])
    with opened(path) as gradebook:
        assert gradebook.find_assignment(CHAPTER).max_score == MAX_SCORE + 2
        for student in ("kim", "park"):
            assert grade_of(gradebook, "test_softmax_new", student).auto_score is None
            assert grade_of(gradebook, "test_softmax", student).auto_score == 2.0


def test_a_test_cell_that_went_away_takes_its_grades_with_it(assignment, path, tmp_path):
    write_gradebook(path, [assignment], [one()])
    changed = change_source(assignment, tmp_path, lambda cells: cells.remove(cell(cells, "test_softmax_large")))
    write_gradebook(path, [changed], [])
    with opened(path) as gradebook:
        submission = gradebook.find_submission(CHAPTER, "kim")
        assert submission.score == submission.max_score == MAX_SCORE - 2


def test_other_points_move_the_maximum(assignment, path, tmp_path):
    write_gradebook(path, [assignment], [one()])

    def raise_points(cells):
        cell(cells, "test_softmax").metadata["nbgrader"]["points"] = 5

    write_gradebook(path, [change_source(assignment, tmp_path, raise_points)], [])
    with opened(path) as gradebook:
        assert gradebook.find_assignment(CHAPTER).max_score == MAX_SCORE + 3


def test_a_notebook_that_went_away_takes_its_submissions_with_it(assignment, path, tmp_path):
    write_gradebook(path, [assignment], [one()])
    (assignment.folder / "weights.ipynb").unlink()
    write_gradebook(path, [make_course_again(tmp_path)], [])
    with opened(path) as gradebook:
        assert gradebook.find_submission(CHAPTER, "kim").score == 10.0  # what scores.ipynb gives
        assert gradebook.db.query(api.Grade).count() == 3


def test_a_notebook_added_after_grading_gets_a_place_in_every_submission(assignment, path, tmp_path):
    weights = assignment.folder / "weights.ipynb"
    shutil.copy(weights, tmp_path / "kept")
    weights.unlink()
    write_gradebook(path, [make_course_again(tmp_path)], [one()])
    shutil.copy(tmp_path / "kept", weights)
    write_gradebook(path, [assignment], [one()])
    with opened(path) as gradebook:
        assert gradebook.find_submission(CHAPTER, "kim").score == MAX_SCORE


@pytest.mark.parametrize("status", [name for name in STATUSES if name not in ("passed", "missing", "ungraded")])
def test_every_status_that_earns_nothing_is_an_automatic_zero(assignment, path, status):
    write_gradebook(path, [assignment], [softmax(status, message="why")])
    with opened(path) as gradebook:
        grade = grade_of(gradebook, "test_softmax_large")
        assert (grade.auto_score, grade.needs_manual_grade) == (0.0, False)


def test_a_folder_s_name_is_never_read_as_part_of_a_url(assignment, tmp_path):
    path = tmp_path / "what? 50% #1" / "gradebook.db"
    write_gradebook(path, [assignment], [one()])
    assert path.stat().st_size > 0


def test_a_database_url_works_like_a_path(assignment, tmp_path):
    write_gradebook(f"sqlite:///{tmp_path / 'by_url.db'}", [assignment], [one()])
    with opened(tmp_path / "by_url.db") as gradebook:
        assert gradebook.find_submission(CHAPTER, "kim").score == MAX_SCORE


def test_a_file_that_is_no_database_is_refused_in_a_sentence(assignment, path):
    path.parent.mkdir()
    path.write_text("student,score\n" * 100)
    with pytest.raises(UsageError, match=r"could not be written: .*safe in the journal"):
        write_gradebook(path, [assignment], [one()])
    assert path.read_text() == "student,score\n" * 100


def damaged(path):
    """A gradebook, a part of whose tables was overwritten."""
    content = bytearray(path.read_bytes())
    content[200:3000] = bytes(range(250, 10, -1)) * 12
    path.write_bytes(content)


def cut_off(path):
    os.truncate(path, path.stat().st_size // 2)


def not_text(path):
    path.write_bytes(path.read_bytes().replace(b"CREATE TABLE student", b"CREATE TABLE \xff\xfe\xfdnone"))


def of_another_program(path):
    path.unlink()
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE assignment (title TEXT)")


@pytest.mark.parametrize("harm", [damaged, cut_off, not_text, of_another_program])
def test_a_gradebook_that_came_to_harm_is_refused_in_a_sentence(assignment, path, harm):
    write_gradebook(path, [assignment], [one()])
    harm(path)
    with pytest.raises(UsageError, match=r"gradebook.db: .*move it away first"):
        write_gradebook(path, [assignment], [one()])
    with pytest.raises(UsageError, match=r"gradebook.db: .*move it away first"):
        read_hand_grades(path)


def test_a_database_s_password_is_not_written_into_a_message(assignment):
    with pytest.raises(UsageError) as caught:
        write_gradebook("nosuch://kim:secret@host/grades", [assignment], [one()])
    assert "nosuch://kim:***@host/grades" in str(caught.value)
    assert "secret" not in str(caught.value)


def test_it_needs_no_program_on_the_path(assignment, path, monkeypatch):
    monkeypatch.setenv("PATH", "")
    write_gradebook(path, [assignment], [one()])
    with opened(path) as gradebook:
        assert gradebook.find_submission(CHAPTER, "kim").score == MAX_SCORE


def test_three_hundred_submissions_take_seconds(assignment, path):
    started = time.monotonic()
    write_gradebook(path, [assignment], make_class(300))
    assert time.monotonic() - started < 30  # about 2 on a quiet machine

"""Marks go into other programs' files, and nothing else of those files changes."""

from __future__ import annotations

import csv
import io
import json
import time

import pytest
from made_up_class import CHAPTER, HOSTILE, make_class

from autograder.csvfile import read_csv
from autograder.errors import UsageError
from autograder.export import export
from autograder.grades import COLUMNS, write_grades
from autograder.journal import Journal
from autograder.people import match_people
from autograder.plaintext import identifier

CANVAS = (
    "Student,ID,SIS User ID,SIS Login ID,Section,Essay (11),Scores (12),Current Score\n"
    ",,,,,Manual Posting,,\n"
    "    Points Possible,,,,,10.00,10.00,(read only)\n"
    '"Kim, Minji",501,2023001,minji,CS 1,,,\n'
    '"=HYPERLINK(""http://example.org"")",502,2023002,lee,CS 1,7.5,3.00,75\n'
    '"O\'Neil, ""Ada""",503,2023003,ada@example.org,CS 1,,EX,\n'
    "Unknown Person,504,2023004,nobody,CS 1,,9,\n"
    '"Student, Test",599,,abc,CS 1,,,\n'
)
MOODLE = (
    "Identifier,Full name,Email address,Status,Grade,Maximum Grade,Grade can be changed,"
    "Last modified (submission),Last modified (grade),Feedback comments\r\n"
    'Participant 501,Minji Kim,minji@example.org,Submitted for grading,,"10,00",Yes,"Monday, 5 October 2026, 11:02 PM",-,\r\n'
    'Participant 502,"민지, 김",kim@example.org,No submission,"3,00","10,00",Yes,-,-,"<p>A ""quote""</p>"\r\n'
)


@pytest.fixture
def results(tmp_path):
    """A folder with a grades.csv that `rows` writes: student, exercise, score (None: ungraded), max."""
    folder = tmp_path / "graded"
    folder.mkdir()

    def write(*rows, chapter=CHAPTER):
        lines = [",".join(COLUMNS)]
        for student, exercise, score, most in rows:
            shown, status = ("", "ungraded") if score is None else (score, "passed")
            lines.append(f"{student},{chapter},scores,{exercise},{shown},{most},{status},")
        (folder / "grades.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
        return folder

    return write


@pytest.fixture
def canvas(tmp_path):
    path = tmp_path / "canvas.csv"
    path.write_text(CANVAS, encoding="utf-8", newline="")
    return path


@pytest.fixture
def moodle(tmp_path):
    path = tmp_path / "moodle.csv"
    path.write_text(MOODLE, encoding="utf-8", newline="")
    return path


def filled(path):
    return path.with_stem(path.stem + "-filled")


# Canvas


def test_canvas_gets_the_marks_and_every_other_byte_stays(results, canvas):
    folder = results(("minji", "softmax", 3, 4), ("minji", "attend", 4.5, 6), ("2023002", "softmax", 4, 4))
    summary = export("canvas", canvas, folder)
    expected = CANVAS.replace("minji,CS 1,,,", "minji,CS 1,,7.50,").replace("CS 1,7.5,3.00,75", "CS 1,7.5,10.00,75")
    assert filled(canvas).read_bytes() == expected.encode()
    assert canvas.read_text("utf-8") == CANVAS
    assert "2 marks written" in summary
    assert "Scores (12)" in summary


def test_a_formula_in_their_file_stays_and_is_defused_in_ours(results, canvas, tmp_path):
    results(("lee", "softmax", 4, 4))
    export("canvas", canvas, tmp_path / "graded")
    assert '"=HYPERLINK(""http://example.org"")",502' in filled(canvas).read_text("utf-8")
    results(("=1+1", "softmax", 4, 4))
    export("csv", tmp_path / "ours.csv", tmp_path / "graded")
    assert "\n'=1+1,4,4" in (tmp_path / "ours.csv").read_text("utf-8-sig").replace("\r", "")


def test_points_are_scaled_to_what_canvas_calls_possible_and_that_is_said(results, canvas):
    summary = export("canvas", canvas, results(("minji", "softmax", 7, 21)))
    assert "minji,CS 1,,3.33," in filled(canvas).read_text("utf-8")
    assert "21 points here are 10 there" in summary


def test_who_is_on_one_side_alone_is_listed(results, canvas):
    summary = export("canvas", canvas, results(("minji", "softmax", 4, 4), ("stranger", "softmax", 4, 4)))
    unknown, missing = summary.split("Graded here, and not in their file")
    assert "Unknown Person, 504, 2023004" in unknown
    assert "Student, Test" not in summary
    assert "stranger" in missing
    assert "minji" not in missing


def test_an_excused_cell_and_a_mark_that_is_not_known_yet_stay_as_they_are(results, canvas):
    summary = export("canvas", canvas, results(("ada", "softmax", 4, 4), ("lee", "softmax", None, 4)))
    assert filled(canvas).read_text("utf-8") == CANVAS
    assert "0 marks written" in summary
    assert "Excused" in summary.split("Not graded to the end yet")[1]


@pytest.mark.parametrize("column", ["Essay (11)", "Essay", "11"])
def test_a_column_of_another_name_is_named_by_the_teacher(results, canvas, column):
    export("canvas", canvas, results(("minji", "softmax", 4, 4)), columns={CHAPTER: column})
    assert "minji,CS 1,10.00,," in filled(canvas).read_text("utf-8")


def test_a_chapter_without_a_column_of_its_name_lists_what_there_is(results, canvas):
    folder = results(("minji", "softmax", 4, 4), chapter="05_masking")
    with pytest.raises(UsageError, match=r"05_masking.*--column.*Essay \(11\), Scores \(12\)"):
        export("canvas", canvas, folder)


@pytest.mark.parametrize("title", ["03_scores (7)", "Chapter 3: Scores (7)", "SCORES", "3 – Scores (7)"])
def test_a_chapter_s_column_is_found_by_any_of_its_names(results, canvas, title):
    canvas.write_text(CANVAS.replace("Scores (12)", title), encoding="utf-8", newline="")
    export("canvas", canvas, results(("minji", "softmax", 4, 4)))
    assert "minji,CS 1,,10.00," in filled(canvas).read_text("utf-8")


def test_a_column_that_canvas_computes_is_never_filled(results, canvas):
    with pytest.raises(UsageError, match="Current Score"):
        export("canvas", canvas, results(("minji", "softmax", 4, 4)), columns={CHAPTER: "Current Score"})


# Moodle


def test_moodle_gets_the_grade_with_its_own_decimal_sign(results, moodle):
    folder = results(("minji", "softmax", 3, 4), ("502", "softmax", 1, 4))
    export("moodle", moodle, folder)
    expected = MOODLE.replace("grading,,", 'grading,"7,50",').replace('"3,00"', '"2,50"')
    assert filled(moodle).read_bytes() == expected.encode()


def test_moodle_s_worksheet_is_about_one_chapter(results, moodle):
    folder = results(("minji", "softmax", 3, 4))
    with (folder / "grades.csv").open("a", encoding="utf-8") as file:
        file.write("minji,05_masking,masking,dropout,2,2,passed,\n")
    with pytest.raises(UsageError, match="--assignment"):
        export("moodle", moodle, folder)
    export("moodle", moodle, folder, assignment="05_masking")
    assert '"10,00","10,00"' in filled(moodle).read_text("utf-8")


def test_a_worksheet_in_another_language_names_its_column(results, moodle):
    moodle.write_text(MOODLE.replace(",Grade,", ",성적,"), encoding="utf-8", newline="")
    folder = results(("minji", "softmax", 4, 4))
    with pytest.raises(UsageError, match="--column"):
        export("moodle", moodle, folder)
    export("moodle", moodle, folder, columns={CHAPTER: "성적"})
    assert '"10,00","10,00"' in filled(moodle).read_text("utf-8")


# Any file


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp949"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_encoding_mark_delimiter_and_line_ends_stay(results, tmp_path, encoding, delimiter, end):
    lines = [
        ("Student", "ID", "Section", "Scores (1)"),
        ("    Points Possible", "", "", "4"),
        ('"김 ""민"", 지"', "kim", "반", '"1"'),
        ('"two' + end + 'lines"', "lee", "", ""),
    ]
    text = end.join(delimiter.join(line) for line in lines)
    path = tmp_path / "theirs.csv"
    path.write_bytes(text.encode(encoding))
    export("canvas", path, results(("kim", "softmax", 3, 4)))
    assert filled(path).read_bytes() == text.replace('"1"', '"3.00"').encode(encoding)


def test_a_file_is_never_written_over(results, canvas, tmp_path):
    folder = results(("minji", "softmax", 4, 4))
    filled(canvas).write_text("precious")
    with pytest.raises(UsageError, match="is there already"):
        export("canvas", canvas, folder)
    with pytest.raises(UsageError, match="is there already"):
        export("canvas", canvas, folder, write=canvas)
    with pytest.raises(UsageError, match="is there already"):
        export("csv", filled(canvas), folder)
    assert filled(canvas).read_text() == "precious"
    export("canvas", canvas, folder, write=tmp_path / "new.csv")
    assert (tmp_path / "new.csv").is_file()


@pytest.mark.parametrize(
    ("to", "content", "words"),
    [
        ("canvas", "name,grade\nkim,3\n", "no columns ID and Section"),
        ("canvas", "Student,ID,Section,Scores (1)\nkim,1,A,3\n", "no line Points Possible"),
        ("canvas", "", "no columns ID and Section"),
        ("moodle", "name,mark\nkim,3\n", "no column 'Grade'"),
        ("moodle", "\x00\x00", "encoding"),
    ],
)
def test_a_file_of_another_kind_is_one_sentence(results, tmp_path, to, content, words):
    path = tmp_path / "theirs.csv"
    path.write_text(content)
    with pytest.raises(UsageError, match=words):
        export(to, path, results(("kim", "softmax", 4, 4)))


def test_a_missing_file_missing_results_and_an_unknown_chapter_are_one_sentence(results, tmp_path, canvas):
    with pytest.raises(UsageError, match="autograder grade"):
        export("canvas", canvas, tmp_path / "nowhere")
    folder = results(("kim", "softmax", 4, 4))
    with pytest.raises(UsageError, match="cannot be read"):
        export("canvas", tmp_path / "none.csv", folder)
    with pytest.raises(UsageError, match="99_none"):
        export("canvas", canvas, folder, assignment="99_none")


def test_twenty_thousand_rows_take_seconds(results, tmp_path):
    folder = results(*((f"s{number}", "softmax", 3, 4) for number in range(20_000)))
    path = tmp_path / "theirs.csv"
    rows = (f'"Family, Given {number}",{number},x{number},s{number},CS 1,,{"9.00," * 20}' for number in range(20_000))
    titles = "".join(f"Other {number} ({number})," for number in range(20))
    header = f"Student,ID,SIS User ID,SIS Login ID,Section,Scores (99),{titles}\n    Points Possible,,,,,4,\n"
    path.write_text(header + "\n".join(rows), encoding="utf-8")
    started = time.monotonic()
    summary = export("canvas", path, folder)
    assert "20000 marks written" in summary
    assert time.monotonic() - started < 20  # about 2 on a quiet machine


# Whom a line means


@pytest.mark.parametrize(
    ("entry", "student"),
    [
        (["Kim, Minji", "501", "minji"], "minji"),
        (["Kim, Minji", "501", ""], "Minji Kim"),
        (["Minji Kim", "", "minji.kim@example.org"], "minji.kim"),
        (["Minji Kim", "", "minji.kim@example.org"], "minji.kim@example.org"),
        (["Minji Kim", ""], "Kim, Minji"),
        (["Kim", "Minji", "501"], "Minji Kim"),
        (["Participant 501", "x"], "501"),
        (["  MINJI  kim "], "minji kim"),
        (["\u1106\u1175\u11ab\u110c\u1175"], "민지"),
    ],
)
def test_a_person_is_found_by_id_address_or_name(entry, student):
    assert match_people([entry], [student, "somebody else"]).students == {0: student}


@pytest.mark.parametrize(
    ("entry", "student"),
    [
        (["Participant 1234567", "Kim Minji", "m@x.org"], "Kim Minji_1234567"),
        (["Doe, Jane", "12345", "u1", "jdoe"], "doejane_12345"),
        (["김, 민지", "12347", "", ""], "김민지_12347"),
    ],
)
def test_who_was_named_by_a_download_is_found_again(entry, student):
    name, _, _ = student.rpartition("_")
    assert match_people([entry], [student, f"{name}_99", "99_" + entry[1]]).students == {0: student}


def test_an_id_goes_before_an_address_and_an_address_before_a_name():
    assert match_people([["Kim, Minji", "501", "m@x.org"]], ["501", "m", "Minji Kim"]).students == {0: "501"}
    assert match_people([["Kim, Minji", "502", "m@x.org"]], ["501", "m", "Minji Kim"]).students == {0: "m"}


def test_who_cannot_be_told_apart_is_left_to_the_teacher():
    twins = match_people([["Minji Kim", "1"], ["Minji Kim", "2"]], ["Minji Kim"])
    assert (twins.students, twins.unknown, twins.missing) == ({}, [0, 1], ["Minji Kim"])
    torn = match_people([["501", "minji"]], ["501", "minji"])
    assert (torn.students, torn.unknown) == ({}, [0])


# Gradescope, and a spreadsheet


def test_gradescope_gets_one_file_a_submission_with_hidden_tests_shown_later(tmp_path):
    folder, results = tmp_path / "graded", make_class(12, hostile=True, ungraded=1)
    with Journal(folder / "journal.jsonl") as journal:
        for result in results:
            journal.append("key", result)
    write_grades(folder / "grades.csv", results)
    export("gradescope", tmp_path / "upload", folder)
    files = {path.parent.parent.name: path for path in (tmp_path / "upload").rglob("results.json")}
    handed_in = [r for r in results[1:] if any(e.status != "missing" for e in r.exercises)]
    assert len(files) == len(handed_in)
    assert tmp_path / "upload" in next(iter(files.values())).parents
    by_score = sorted(json.loads(path.read_text("utf-8"))["score"] for path in files.values())
    assert by_score == pytest.approx(sorted(result.score for result in handed_in))
    content = json.loads(next(iter(files.values())).read_text("utf-8"))
    for test in content["tests"]:
        assert test["visibility"] == ("after_published" if "score" in test else "visible")
        assert test["status"] in ("passed", "failed")
    with pytest.raises(UsageError, match="not empty"):
        export("gradescope", tmp_path / "upload", folder)


def test_a_spreadsheet_gets_one_line_a_learner_and_the_mark_that_excel_needs(tmp_path):
    folder, results = tmp_path / "graded", make_class(len(HOSTILE) + 2, hostile=True, ungraded=1)
    write_grades(folder / "grades.csv", results)
    export("csv", tmp_path / "class.csv", folder)
    content = (tmp_path / "class.csv").read_bytes()
    assert content.startswith(b"\xef\xbb\xbf")
    rows = list(csv.reader(io.StringIO(content.decode("utf-8-sig"), newline="")))
    assert rows[0] == ["student", CHAPTER, "total"]
    assert len(rows) == 1 + len(results)
    assert "김민지" in {row[0] for row in rows}
    assert not any(row[0].startswith(("=", "+", "-", "@")) for row in rows)
    lost = next(row for row in rows if row[0].strip("'") == identifier(results[0].student))
    assert lost[1:] == ["", ""]


def test_the_rows_of_a_table_are_read_as_python_reads_them(tmp_path):
    text = 'a,b,c\n"x, ""y""",,"two\nlines"\n\nshort\n"open,1,2\n3,4,\n'
    path = tmp_path / "table.csv"
    path.write_text(text.replace('"open', "open"))
    ours = [[cell.value for cell in row] for row in read_csv(path).rows]
    assert ours == [row for row in csv.reader(io.StringIO(path.read_text())) if row]

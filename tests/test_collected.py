"""What a teacher collected, in every form in which it comes: the same submissions out of each."""

from __future__ import annotations

import dataclasses
import io
import json
import os
import resource
import threading
import unicodedata
import zipfile

import pytest
from made_up import handed_in, make_two_chapters, notebook, word_cells

from autograder import archives, open_zips
from autograder.collected import HandedFile, collect
from autograder.errors import UsageError
from autograder.listed_files import ListedFile
from autograder.open_zips import OPEN_AT_ONCE
from autograder.recognise import Recogniser
from autograder.submission import read_submission

ANSWERED = handed_in(double="def double(x):\n    return x + x")
OTHER = handed_in(double="def double(x):\n    return x * x")
SHOUT = json.dumps(notebook(*word_cells("shout"))).encode()
CLASS = {"kim": ANSWERED, "lee": OTHER}


@pytest.fixture
def course(tmp_path):
    return make_two_chapters(tmp_path / "course")


@pytest.fixture
def read(course):
    """Everything at a path, as submissions by student and chapter; and the notices."""
    recogniser = Recogniser(course.readable()[0].values())

    def read(path, chapters=()):
        collected = collect(path, course.chapters, recogniser)
        graded = [name for name in course.chapters if name in (chapters or collected.chapters())]
        found = {}
        for name in graded:
            for handed in collected.students.values():
                found[handed.student, name] = read_submission(handed, course.assignment(name), graded, recogniser)
        return found, collected.notices

    return read


def write(folder, files):
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder


def packed(files, **options):
    """The bytes of a zip; a name ending with / is a folder."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content, **options)
    return buffer.getvalue()


def content_of(found, student, chapter="01_numbers"):
    return dict(found[student, chapter].files)["numbers"]


PLAIN = {f"{student}/01_numbers/numbers.ipynb": content for student, content in CLASS.items()}
FORMS = {
    "plain": PLAIN,
    "inside another folder": {f"handed in/{name}": content for name, content in PLAIN.items()},
    "a folder for each chapter": {f"01_numbers/{s}/numbers.ipynb": content for s, content in CLASS.items()},
    "without a chapter's folder": {f"{s}/numbers.ipynb": content for s, content in CLASS.items()},
    "deeper": {f"{s}/my work/01_numbers/last/numbers.ipynb": content for s, content in CLASS.items()},
    "a zip for each student": {f"{s}.zip": packed({"01_numbers/numbers.ipynb": c}) for s, c in CLASS.items()},
    "a zip for each student, deeper": {
        f"{s}.zip": packed({"01_numbers/last/numbers.ipynb": c, "01_numbers/first/x": b""}) for s, c in CLASS.items()
    },
    "a zip in each folder": {f"{s}/work.zip": packed({"01_numbers/numbers.ipynb": c}) for s, c in CLASS.items()},
    "a chapter's zip in each folder": {f"{s}/01_numbers.zip": packed({"numbers.ipynb": c}) for s, c in CLASS.items()},
    "a zip of chapters": {"class.zip": packed({f"01_numbers/{s}/numbers.ipynb": c for s, c in CLASS.items()})},
    "a zip of the class": {"class.zip": packed(PLAIN)},
    "a zip of the class's folder": {"class.zip": packed({f"x/{name}": content for name, content in PLAIN.items()})},
    "with what systems leave behind": {
        **PLAIN,
        "__MACOSX/kim/01_numbers/._numbers.ipynb": b"\0\5\x16",
        "kim/.DS_Store": b"x",
        "Thumbs.db": b"x",
        ".ipynb_checkpoints/numbers-checkpoint.ipynb": OTHER,
        "kim/01_numbers/.ipynb_checkpoints/numbers-checkpoint.ipynb": OTHER,
        "desktop.ini": b"x",
    },
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS.keys())
@pytest.mark.parametrize("as_zip", [False, True], ids=["folder", "zip"])
def test_every_plain_form_gives_the_same_submissions(tmp_path, read, form, as_zip):
    path = tmp_path / "download.zip"
    path = path.write_bytes(packed(form)) and path if as_zip else write(tmp_path / "class", form)
    found, notices = read(path)
    assert {student for student, _ in found} == {"kim", "lee"}
    assert {chapter for _, chapter in found} == {"01_numbers"}
    for student, content in CLASS.items():
        assert content_of(found, student) == content
        assert found[student, "01_numbers"].flags == ()
    assert notices == ()


MOODLE = {"Kim Minji_1234567": ANSWERED, "Lee, Jiho_1234568": OTHER}
MOODLE_FORMS = {
    "folders": {f"{who}_assignsubmission_file/numbers.ipynb": content for who, content in MOODLE.items()},
    "older folders": {f"{who}_assignsubmission_file_/numbers.ipynb": content for who, content in MOODLE.items()},
    "flat": {f"{who}_assignsubmission_file_numbers.ipynb": content for who, content in MOODLE.items()},
    "zips in folders": {
        f"{who}_assignsubmission_file_/homework.zip": packed({"my work/numbers.ipynb": content})
        for who, content in MOODLE.items()
    },
    "with text beside": {
        **{f"{who}_assignsubmission_file_/numbers.ipynb": content for who, content in MOODLE.items()},
        **{f"{who}_assignsubmission_onlinetext_/onlinetext.html": b"<p>hello</p>" for who in MOODLE},
    },
}


@pytest.mark.parametrize("form", MOODLE_FORMS.values(), ids=MOODLE_FORMS.keys())
@pytest.mark.parametrize("as_zip", [False, True], ids=["folder", "zip"])
def test_every_form_of_moodle_gives_the_same_submissions(tmp_path, read, form, as_zip):
    path = tmp_path / "COURSE-Homework 1-4711.zip"
    path = path.write_bytes(packed(form)) and path if as_zip else write(tmp_path / "class", form)
    found, notices = read(path)
    assert {who: content_of(found, who) for who, _ in found} == MOODLE
    assert all(submission.flags == submission.repairs == () for submission in found.values())
    assert notices == ()


CANVAS = {
    "doejane_12345_67890_numbers.ipynb": ("doejane_12345", ANSWERED),
    "kimminji_LATE_12346_67891_numbers.ipynb": ("kimminji_12346", OTHER),
    "김민지_12347_67892_numbers.ipynb": ("김민지_12347", ANSWERED),
    "LATE_anon_ab12x_67893_numbers.ipynb": ("anon_ab12x", ANSWERED),
    "leejiho_12349_67894_work.zip": ("leejiho_12349", ANSWERED),
}


@pytest.mark.parametrize("as_zip", [False, True], ids=["folder", "zip"])
def test_a_download_of_canvas_gives_the_same_submissions(tmp_path, read, as_zip):
    form = {
        name: packed({"numbers.ipynb": content}) if name.endswith(".zip") else content
        for name, (_, content) in CANVAS.items()
    }
    path = tmp_path / "submissions.zip"
    path = path.write_bytes(packed(form)) and path if as_zip else write(tmp_path / "class", form)
    found, notices = read(path)
    assert {student: content_of(found, student) for student, _ in found} == dict(CANVAS.values())
    assert all(submission.flags == submission.repairs == () for submission in found.values())
    assert notices == ()


def test_several_downloads_side_by_side_are_several_chapters(tmp_path, read, course):
    folder = write(
        tmp_path / "class",
        {
            "first.zip": packed(MOODLE_FORMS["folders"]),
            "second/Kim Minji_1234567_assignsubmission_file/shout.ipynb": SHOUT,
            "second/Lee, Jiho_1234568_assignsubmission_file/shout.ipynb": SHOUT,
        },
    )
    found, _ = read(folder)
    assert {chapter for _, chapter in found} == {"01_numbers", "02_words"}
    assert {student for student, _ in found} == set(MOODLE)
    assert dict(found["Kim Minji_1234567", "02_words"].files)["shout"] == SHOUT


def test_several_zips_of_a_class_side_by_side_are_one_class(tmp_path, read):
    words = {f"{student}/02_words/shout.ipynb": SHOUT for student in CLASS}
    found, _ = read(write(tmp_path / "class", {"week 1.zip": packed(PLAIN), "week 2.zip": packed(words)}))
    assert set(found) == {(student, chapter) for student in CLASS for chapter in ("01_numbers", "02_words")}


def test_what_is_handed_in_again_to_canvas_counts_and_that_is_logged(tmp_path, read):
    folder = write(
        tmp_path / "class",
        {
            "doejane_12345_900_numbers.ipynb": OTHER,
            "doejane_LATE_12345_1000_numbers-1.ipynb": ANSWERED,
            "kimminji_12346_950_numbers-2.ipynb": ANSWERED,
        },
    )
    os.utime(folder / "doejane_LATE_12345_1000_numbers-1.ipynb", (1_000_000, 1_000_000))
    found, _ = read(folder)
    submission = found["doejane_12345", "01_numbers"]
    assert content_of(found, "doejane_12345") == ANSWERED
    (repair,) = submission.repairs
    assert "2 times" in repair
    assert "doejane_LATE_12345_1000_numbers-1.ipynb" in repair
    assert submission.flags == ()
    assert content_of(found, "kimminji_12346") == ANSWERED
    assert found["kimminji_12346", "01_numbers"].repairs == ()


def test_one_download_is_one_chapter_and_another_notebook_in_it_is_flagged(tmp_path, read):
    folder = write(
        tmp_path / "class",
        {
            "Kim Minji_1_assignsubmission_file/numbers.ipynb": ANSWERED,
            "Lee Jiho_2_assignsubmission_file/numbers.ipynb": OTHER,
            "Park Sora_3_assignsubmission_file/shout.ipynb": SHOUT,
        },
    )
    found, _ = read(folder)
    assert {chapter for _, chapter in found} == {"01_numbers"}
    submission = found["Park Sora_3", "01_numbers"]
    assert content_of(found, "Park Sora_3") is None
    assert "02_words/shout.ipynb" in submission.flags[0]
    assert "02_words/shout.ipynb" in submission.absent[0][2]
    found, _ = read(folder, chapters=("01_numbers", "02_words"))
    assert dict(found["Park Sora_3", "02_words"].files)["shout"] == SHOUT
    assert found["Park Sora_3", "01_numbers"].flags == ()


@pytest.mark.parametrize("name", ["week_3_10_work", "exercise_3_1_numbers"])
def test_a_name_that_could_be_a_downloads_is_a_students_own_inside_their_folder(tmp_path, read, name):
    folder = write(
        tmp_path / "class", {**PLAIN, f"park/01_numbers/{name}.ipynb": ANSWERED, f"{name}/numbers.ipynb": ANSWERED}
    )
    found, _ = read(folder)
    assert {student for student, _ in found} == {"kim", "lee", "park", name}
    assert content_of(found, "park") == content_of(found, name) == ANSWERED


def test_nobody_can_hand_in_for_another_by_the_name_of_a_folder(tmp_path, read):
    inner = {"Lee, Jiho_1234568_assignsubmission_file_/numbers.ipynb": ANSWERED}
    form = {**MOODLE_FORMS["folders"], **{f"Kim Minji_1234567_assignsubmission_file/{n}": c for n, c in inner.items()}}
    found, _ = read(write(tmp_path / "class", form))
    assert content_of(found, "Lee, Jiho_1234568") == OTHER


def test_who_has_an_empty_folder_handed_in_nothing(tmp_path, read):
    folder = write(tmp_path / "class", PLAIN)
    (folder / "park").mkdir()
    found, _ = read(folder)
    assert content_of(found, "park") is None


def test_a_file_that_is_nobodys_is_said_and_the_rest_goes_on(tmp_path, read):
    found, notices = read(write(tmp_path / "class", {**PLAIN, "stray.ipynb": OTHER, "notes.txt": b"x"}))
    assert len(found) == 2
    (notice,) = notices
    assert notice.endswith("stray.ipynb")


@pytest.mark.parametrize(
    "name", [".park/01_numbers/numbers.ipynb", ".park/numbers.ipynb", ".park/01_numbers.zip", "handed in/.park/x.ipynb"]
)
@pytest.mark.parametrize("as_zip", [False, True], ids=["folder", "zip"])
def test_who_has_a_hidden_folder_is_not_lost_in_silence(tmp_path, read, name, as_zip):
    around = name.partition(".park")[0]
    form = {**{f"{around}{plain}": content for plain, content in PLAIN.items()}, name: ANSWERED}
    path = tmp_path / "class.zip"
    path = path.write_bytes(packed(form)) and path if as_zip else write(tmp_path / "class", form)
    found, (notice,) = read(path)
    assert {student for student, _ in found} == {"kim", "lee"}
    assert notice.startswith(f"'{around}.park'")


def test_a_hidden_folder_of_anything_else_is_no_news(tmp_path, read):
    form = {".git/config": b"", ".git/objects/ab/cd": b"", "kim/.git/x.ipynb": OTHER, "._lee.zip": b"\0\5\x16"}
    found, notices = read(write(tmp_path / "class", {**PLAIN, **form}))
    assert {student for student, _ in found} == {"kim", "lee"}
    assert notices == found["kim", "01_numbers"].flags == ()


# Zips that learners pack


def test_names_in_a_zip_that_lead_out_of_it_are_refused_and_the_rest_goes_on(tmp_path, read):
    link = zipfile.ZipInfo("01_numbers/link.ipynb")
    link.external_attr = 0o120777 << 16
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name in ("/etc/numbers.ipynb", "../lee/01_numbers/numbers.ipynb", "C:\\numbers.ipynb", "a/../../x.ipynb"):
            archive.writestr(name, OTHER)
        archive.writestr(link, "/solutions/numbers.ipynb")
        archive.writestr("01_numbers/numbers.ipynb", ANSWERED)
    before = write(tmp_path / "class", {"kim/work.zip": buffer.getvalue(), "lee/01_numbers/numbers.ipynb": ANSWERED})
    found, _ = read(before)
    assert content_of(found, "kim") == content_of(found, "lee") == ANSWERED
    flags = found["kim", "01_numbers"].flags
    assert len(flags) == 5
    assert sum("leads out" in flag for flag in flags) == 4
    assert sum("link" in flag and "followed" in flag for flag in flags) == 1
    assert found["lee", "01_numbers"].flags == ()


def test_a_zip_that_would_unpack_to_gigabytes_is_read_no_further_than_a_notebook_may_be(tmp_path, read):
    bomb = packed({"01_numbers/numbers.ipynb": bytes(40 << 20)}, compress_type=zipfile.ZIP_DEFLATED)
    assert len(bomb) < 1 << 20
    folder = write(tmp_path / "class", {**PLAIN, "park/work.zip": bomb})
    found, _ = read(folder)
    assert len(content_of(found, "park")) == (32 << 20) + 1
    assert content_of(found, "kim") == ANSWERED


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "damaged"),
        (b"PK\x03\x04 no zip", "damaged"),
        (packed({"01_numbers/numbers.ipynb": ANSWERED})[:-30], "damaged"),
    ],
)
def test_a_zip_that_is_none_is_said_and_the_rest_goes_on(tmp_path, read, content, words):
    found, _ = read(write(tmp_path / "class", {**PLAIN, "park/work.zip": content}))
    assert content_of(found, "park") is None
    (flag,) = found["park", "01_numbers"].flags
    assert words in flag
    assert content_of(found, "kim") == ANSWERED


def test_a_broken_zip_in_place_of_a_folder_is_its_students(tmp_path, read):
    found, notices = read(write(tmp_path / "class", {**PLAIN, "park.zip": b"no zip"}))
    assert "damaged" in found["park", "01_numbers"].flags[0]
    assert notices == ()


def test_a_zip_of_too_many_files_or_too_deep_is_refused(tmp_path, read, monkeypatch):
    monkeypatch.setattr(archives, "LIMITS", dataclasses.replace(archives.LIMITS, zip_entries=4_500))
    deep = packed({"01_numbers/numbers.ipynb": ANSWERED})
    for number in range(6):
        deep = packed({f"{number}.zip": deep})
    many = packed({f"{number}.ipynb": b"x" for number in range(3501)})
    found, _ = read(write(tmp_path / "class", {**PLAIN, "park/a.zip": many, "lim/b.zip": deep}))
    assert "more than 4500 files" in found["park", "01_numbers"].flags[0]
    assert "too deep" in found["lim", "01_numbers"].flags[0]


def test_zips_in_zips_have_one_limit_together_and_cost_no_other_student_anything(tmp_path, read, monkeypatch):
    monkeypatch.setattr(archives, "LIMITS", dataclasses.replace(archives.LIMITS, zip_entries=5_000))
    one = packed({f"{number}.txt": b"" for number in range(500)})
    hostile = packed({f"{number}.zip": one for number in range(9)})
    form = {f"{student}/work.zip": packed({"01_numbers/numbers.ipynb": c}) for student, c in CLASS.items()}
    path = tmp_path / "class.zip"
    path.write_bytes(packed({"a/work.zip": hostile, **form}))
    found, _ = read(path)
    assert "more than 5000 files" in found["a", "01_numbers"].flags[0]
    assert len(found["a", "01_numbers"].flags) > 3
    for student, content in CLASS.items():
        assert content_of(found, student) == content


def test_a_thousand_refusals_are_told_in_a_few_sentences(tmp_path, read):
    hostile = packed({f"../{number}.ipynb": b"" for number in range(1000)})
    found, _ = read(write(tmp_path / "class", {**PLAIN, "park/work.zip": hostile}))
    flags = found["park", "01_numbers"].flags
    assert len(flags) == 21
    assert flags[-1] == "and 980 more of this kind"


def test_an_inner_zip_is_not_taken_into_memory_whatever_its_size(tmp_path, read, monkeypatch):
    for module in (archives, open_zips):
        monkeypatch.setattr(module, "LIMITS", dataclasses.replace(module.LIMITS, inner_zip_bytes=1000))
    inner = packed({"01_numbers/numbers.ipynb": ANSWERED + b" " * 1000})
    found, _ = read(write(tmp_path / "class", {**PLAIN, "park/a.zip": packed({"b.zip": inner})}))
    assert "larger than" in found["park", "01_numbers"].flags[0]


def test_a_name_without_end_is_refused(tmp_path, read):
    content = packed({"01_numbers/" + "1" * 60_000 + "_x.ipynb": ANSWERED})
    found, _ = read(write(tmp_path / "class", {**PLAIN, "park/a.zip": content}))
    assert "longer than" in found["park", "01_numbers"].flags[0]


def test_a_notebook_behind_a_password_is_said(tmp_path, read):
    content = bytearray(packed({"01_numbers/numbers.ipynb": ANSWERED}))
    content[6] |= 1
    content[content.rindex(b"PK\x01\x02") + 8] |= 1
    found, _ = read(write(tmp_path / "class", {**PLAIN, "park/a.zip": bytes(content)}))
    assert "password" in found["park", "01_numbers"].flags[0]


def test_a_damaged_notebook_in_a_zip_is_unreadable(tmp_path, read):
    content = packed({"01_numbers/numbers.ipynb": ANSWERED}).replace(b"cells", b"CELLS", 1)
    found, _ = read(write(tmp_path / "class", {**PLAIN, "park/a.zip": content}))
    ((_, status, message),) = found["park", "01_numbers"].absent
    assert status == "unreadable"
    assert "damaged" in message


@pytest.mark.parametrize("encoding", ["utf-8", "cp949"])
def test_names_in_hangul_are_read_however_they_were_packed(tmp_path, read, encoding):
    form = unicodedata.normalize("NFD", "김민지") if encoding == "utf-8" else "김민지"  # as macOS and Windows do
    name = f"{form}/01_numbers/numbers.ipynb"
    info = zipfile.ZipInfo("x" * len(name.encode(encoding)))
    content = packed({info: ANSWERED, "lee/01_numbers/numbers.ipynb": OTHER})
    path = tmp_path / "class.zip"
    path.write_bytes(content.replace(info.filename.encode(), name.encode(encoding)))
    found, _ = read(path)
    assert {student for student, _ in found} == {"김민지", "lee"}


def test_names_of_other_old_zips_stay_as_they_were(tmp_path, read):
    name = "Müller/01_numbers/numbers.ipynb"
    info = zipfile.ZipInfo("x" * len(name))
    path = tmp_path / "class.zip"
    path.write_bytes(packed({info: ANSWERED}).replace(info.filename.encode(), name.encode("cp437")))
    found, _ = read(path)
    assert {student for student, _ in found} == {"Müller"}


def test_the_same_name_composed_and_decomposed_is_one_student(tmp_path, read):
    one, other = (unicodedata.normalize(form, "김민지") for form in ("NFC", "NFD"))
    folder = write(tmp_path / "class", {f"{one}/01_numbers/numbers.ipynb": ANSWERED})
    write(folder, {f"{other}/02_words/shout.ipynb": b"{}"})
    found, _ = read(folder)
    assert {student for student, _ in found} == {one}


@pytest.mark.parametrize("student", ["kim, minji", "kim [2]", "kim minji", "20231234", "O'Neil", "=1+1", "이름, 학생"])
def test_students_may_have_any_name(tmp_path, read, student):
    found, _ = read(write(tmp_path / "class", {f"{student}/01_numbers/numbers.ipynb": ANSWERED}))
    assert content_of(found, student) == ANSWERED


@pytest.fixture
def twenty_more_files():
    """Only so many files more than now may be open."""
    held = [os.open(os.devnull, os.O_RDONLY) for _ in range(20)]
    for descriptor in held:
        os.close(descriptor)
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(held) + 1, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_a_class_may_have_more_zips_than_a_process_may_have_open_files(tmp_path, read, twenty_more_files):
    form = {f"{number}.zip": packed({"01_numbers/numbers.ipynb": ANSWERED}) for number in range(40)}
    found, _ = read(write(tmp_path / "class", form))
    assert [content_of(found, student) for student, _ in found] == [ANSWERED] * 40
    assert {submission.flags for submission in found.values()} == {()}


def test_a_zip_that_this_machine_cannot_open_is_not_called_damaged(tmp_path, read, monkeypatch):
    def refuse(self):
        raise OSError(24, "Too many open files")

    monkeypatch.setattr(ListedFile, "open", refuse)
    found, _ = read(write(tmp_path / "class", {"park/work.zip": packed({"numbers.ipynb": ANSWERED})}), ["01_numbers"])
    assert "cannot be read here: Too many open files" in found["park", "01_numbers"].flags[0]


def test_a_zip_that_points_before_its_start_is_damaged(tmp_path, read):
    content = bytearray(packed({"01_numbers/numbers.ipynb": ANSWERED}))
    end = content.rindex(b"PK\x05\x06")
    content[end + 16 : end + 20] = (0x7FFFFFFF).to_bytes(4, "little")  # where the list of its entries begins
    found, _ = read(write(tmp_path / "class", {"park/work.zip": bytes(content), **PLAIN}))
    assert "damaged" in str(found["park", "01_numbers"])


# Folders


def test_nothing_is_written_into_or_beside_the_download(tmp_path, read):
    files = {**PLAIN, "park/work.zip": packed({"01_numbers/numbers.ipynb": ANSWERED}), "x.zip": packed(PLAIN)}
    folder = write(tmp_path / "all" / "class", files)

    def state():
        return sorted((str(p), p.stat().st_mtime_ns) for p in (tmp_path / "all").rglob("*"))

    before = state()
    read(folder)
    assert state() == before


def test_a_link_in_a_students_folder_is_not_followed(tmp_path, read, course):
    folder = write(tmp_path / "class", PLAIN)
    (folder / "park" / "01_numbers").mkdir(parents=True)
    (folder / "park" / "01_numbers" / "numbers.ipynb").symlink_to(
        course.root / "solutions" / "01_numbers" / "numbers.ipynb"
    )
    (folder / "lim").mkdir()
    (folder / "lim" / "01_numbers").symlink_to(folder / "kim" / "01_numbers")
    found, _ = read(folder)
    for student in ("park", "lim"):
        assert content_of(found, student) is None
        assert "link" in found[student, "01_numbers"].flags[0]


def test_a_students_folder_may_be_a_link_of_the_teachers(tmp_path, read):
    folder = write(tmp_path / "class", PLAIN)
    write(tmp_path / "elsewhere", {"01_numbers/numbers.ipynb": OTHER})
    (folder / "park").symlink_to(tmp_path / "elsewhere")
    found, _ = read(folder)
    assert content_of(found, "park") == OTHER


def test_a_pipe_is_not_waited_for(tmp_path, read):
    folder = write(tmp_path / "class", PLAIN)
    (folder / "park" / "01_numbers").mkdir(parents=True)
    os.mkfifo(folder / "park" / "01_numbers" / "numbers.ipynb")
    found, _ = read(folder)
    assert content_of(found, "park") is None


def put_a_link(path, course):
    path.symlink_to(course.root / "solutions" / "01_numbers" / "numbers.ipynb")


def put_a_pipe(path, course):
    os.mkfifo(path)
    threading.Thread(target=lambda: path.open("wb").close(), daemon=True).start()  # who would wait reads the end


def put_another_file(path, course):
    path.write_bytes(OTHER)


def put_a_link_for_its_folder(path, course):
    path.parent.rmdir()
    path.parent.symlink_to(course.root / "solutions" / "01_numbers")


@pytest.mark.parametrize("put", [put_a_link, put_a_pipe, put_another_file, put_a_link_for_its_folder])
def test_what_took_a_files_place_while_the_class_was_graded_is_not_read(tmp_path, course, put):
    folder = write(tmp_path / "class", {"park/01_numbers/numbers.ipynb": ANSWERED})
    recogniser = Recogniser(course.readable()[0].values())
    park = collect(folder, course.chapters, recogniser).students["park"]
    path = folder / "park" / "01_numbers" / "numbers.ipynb"
    path.rename(tmp_path / "aside")  # so that its number on the disk is not given away
    put(path, course)
    submission = read_submission(park, course.assignment("01_numbers"), ["01_numbers"], recogniser)
    ((_, status, message),) = submission.absent
    assert status == "ungraded"
    assert "not the file any more" in message


def link_for(path, other):
    path.unlink()
    path.symlink_to(other)


def write_over(path, other):
    path.write_bytes(other.read_bytes())


def write_over_unseen(path, other):
    before = path.stat()
    path.write_bytes(packed({}).ljust(before.st_size, b"\0"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


@pytest.mark.parametrize("put", [link_for, write_over, write_over_unseen])
def test_what_took_a_zips_place_while_the_class_was_graded_is_not_read(tmp_path, course, put):
    names = ["park.zip", *(f"{number} later.zip" for number in range(OPEN_AT_ONCE))]
    folder = write(tmp_path / "class", {name: packed({"01_numbers/numbers.ipynb": ANSWERED}) for name in names})
    recogniser = Recogniser(course.readable()[0].values())
    students = collect(folder, course.chapters, recogniser).students
    (tmp_path / "other.zip").write_bytes(packed({"01_numbers/numbers.ipynb": OTHER}))
    for name in names:
        put(folder / name, tmp_path / "other.zip")
    submissions = [
        read_submission(handed, course.assignment("01_numbers"), ["01_numbers"], recogniser)
        for handed in students.values()
    ]
    assert not any(dict(submission.files)["numbers"] == OTHER for submission in submissions)
    assert {status for submission in submissions for _, status, _ in submission.absent} & {"ungraded", "unreadable"}


def test_a_file_that_this_machine_cannot_read_is_no_fault_of_the_learners(tmp_path, read, monkeypatch):
    folder = write(tmp_path / "class", PLAIN)

    def refuse(self):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(HandedFile, "read", refuse)
    found, _ = read(folder)
    ((_, status, message),) = found["kim", "01_numbers"].absent
    assert status == "ungraded"
    assert "Permission denied" in message


@pytest.fixture
def close(monkeypatch):
    """Make folders whose path ends so unreadable, also to a root who may read everything."""

    def close(end):
        scandir = os.scandir

        def refuse(path):
            if str(path).endswith(end):
                raise PermissionError(13, "Permission denied")
            return scandir(path)

        monkeypatch.setattr(os, "scandir", refuse)

    return close


@pytest.mark.parametrize("end", ["park", "01_numbers/deeper", "park/01_numbers"])
def test_a_folder_that_this_machine_cannot_read_is_no_fault_of_the_learners(tmp_path, read, close, end):
    files = {"park/01_numbers/deeper/numbers.ipynb": ANSWERED, "park/02_words/shout.ipynb": SHOUT}
    folder = write(tmp_path / "class", {**PLAIN, **files})
    close(end)
    found, _ = read(folder, ["01_numbers", "02_words"])
    assert "Permission denied" in found["park", "01_numbers"].flags[0]
    ((_, status, message),) = found["park", "01_numbers"].absent
    assert status == "ungraded"
    assert "Permission denied" in message
    if end == "park":
        assert [status for _, status, _ in found["park", "02_words"].absent] == ["ungraded"] * 2
    else:
        assert found["park", "02_words"].absent == ()
    assert content_of(found, "kim") == ANSWERED


def test_a_file_that_goes_while_the_class_is_listed_stops_nobody(tmp_path, read, monkeypatch):
    folder = write(tmp_path / "class", {**PLAIN, "park/01_numbers/numbers.ipynb": ANSWERED})
    at = ListedFile.at

    def gone(path):
        if "park" in path.parts:
            raise FileNotFoundError(2, "No such file or directory")
        return at(path)

    monkeypatch.setattr(ListedFile, "at", gone)
    found, _ = read(folder)
    assert found["park", "01_numbers"].absent[0][1] == "ungraded"
    assert content_of(found, "kim") == ANSWERED


def test_a_part_of_the_class_that_cannot_be_read_is_no_class_of_zeros(tmp_path, read, close):
    folder = write(tmp_path / "class", {**PLAIN, "02_words/kim/shout.ipynb": SHOUT})
    close("class/02_words")
    with pytest.raises(UsageError, match="Permission denied"):
        read(folder)


def a_link(path):
    path.symlink_to("/nowhere")


def a_broken_zip(path):
    path.with_name("work.zip").write_bytes(b"no zip")


@pytest.mark.parametrize(
    ("put", "words"),
    [(a_link, "a link"), (os.mkfifo, "no ordinary file"), (os.mkdir, "a folder"), (a_broken_zip, "zip")],
)
def test_who_handed_in_what_cannot_be_taken_is_told_what_it_was(tmp_path, read, put, words):
    folder = write(tmp_path / "class", {**PLAIN, "park/01_numbers/notes.txt": b""})
    put(folder / "park" / "01_numbers" / "numbers.ipynb")
    found, _ = read(folder)
    ((_, status, message),) = found["park", "01_numbers"].absent
    assert status == "missing"
    assert words in message


def test_what_was_left_out_and_is_no_notebook_is_no_reason_why_one_is_missing(tmp_path, read):
    folder = write(tmp_path / "class", {**PLAIN, "park/02_words/shout.ipynb": SHOUT})
    (folder / "park" / "02_words" / "data.csv").symlink_to("/nowhere")
    (folder / "park" / "02_words" / "shout (1).ipynb").symlink_to("/nowhere")
    found, _ = read(folder)
    assert dict(found["park", "02_words"].files) == {"shout": SHOUT, "whisper": None}
    assert found["park", "02_words"].absent == ()  # nothing to say but that whisper.ipynb did not come


def test_folders_without_end_are_left_out(tmp_path, read):
    found, _ = read(write(tmp_path / "class", {**PLAIN, f"park/{'x/' * 60}numbers.ipynb": ANSWERED}))
    assert any("too deep" in flag for flag in found["park", "01_numbers"].flags)


@pytest.mark.parametrize("content", [b"", b"no zip", b"PK\x05\x06"])
def test_a_file_that_is_no_zip_is_said_in_a_sentence(tmp_path, read, content):
    (tmp_path / "download.zip").write_bytes(content)
    with pytest.raises(UsageError, match="no zip"):
        read(tmp_path / "download.zip")


def test_a_chapter_that_is_being_written_keeps_no_other_from_being_graded(tmp_path, read, course):
    (course.root / "solutions" / "02_words" / "shout.ipynb").write_text("{", encoding="utf-8")
    collected = collect(write(tmp_path / "class", PLAIN), course.chapters, Recogniser(course.readable()[0].values()))
    assert collected.chapters() == {"01_numbers"}


def test_an_empty_folder_and_none_are_said_in_a_sentence(tmp_path, read):
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match="empty"):
        read(tmp_path / "empty")
    with pytest.raises(UsageError, match="no folder or zip"):
        read(tmp_path / "nowhere")

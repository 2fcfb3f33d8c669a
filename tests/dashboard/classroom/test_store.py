import json
import os
import stat
import threading
import time

import pytest

from dashboard.classroom import store
from dashboard.classroom.store import (
    ClassQuestion,
    Classroom,
    ClassroomError,
    Desk,
    class_hours,
    sweep,
)

HOUR = 3600
QUESTION = ClassQuestion(lesson="slopes", seed=3, settings={"cause": "outcome"}, right="flatter")
NEXT = ClassQuestion(lesson="worlds", seed=0, settings={}, right="neither")


@pytest.fixture
def desk(tmp_path):
    opened, secret = Desk.start(QUESTION, tmp_path)
    opened.secret = secret
    return opened


@pytest.fixture
def room(desk):
    """Give a class whose first question is asked."""
    desk.begin()
    return desk.classroom


def found_again(room):
    """Return the class as a server finds it that was started anew."""
    return Classroom.open(room.code, room.folder.parent.parent)


# Codes


def test_a_class_is_found_by_its_code_alone(tmp_path, desk):
    other, _ = Desk.start(QUESTION, tmp_path)
    code = desk.classroom.code

    assert code != other.classroom.code
    assert Classroom.open(code.lower(), tmp_path).folder == desk.classroom.folder
    assert stat.S_IMODE(desk.classroom.folder.stat().st_mode) == 0o700


@pytest.mark.parametrize("code", ["", "..", "../..", "BCDFGHJK", "x" * 300, "\0"])
def test_other_codes_open_nothing(tmp_path, desk, code):
    assert Classroom.open(code, tmp_path) is None


def test_links_are_not_followed(tmp_path, desk):
    link = desk.classroom.folder.parent / "BBBBBBBB"
    link.symlink_to(desk.classroom.folder)

    assert Classroom.open(link.name, tmp_path) is None
    assert sweep(tmp_path, now=time.time() + 100 * HOUR) == 1
    assert link.is_symlink()


def test_a_code_that_is_taken_is_not_given_again(tmp_path, desk, monkeypatch):
    codes = iter([desk.classroom.code, desk.classroom.code, "BBBBBBBB"])
    monkeypatch.setattr(store, "new_code", lambda: next(codes))

    other, _ = Desk.start(NEXT, tmp_path)

    assert other.classroom.code == "BBBBBBBB"
    assert desk.classroom.state().question == QUESTION


def test_a_home_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("in the way")

    with pytest.raises(ClassroomError, match="PMAE_HOME set to a writable folder"):
        Desk.start(QUESTION, tmp_path / "file")


# The teacher


def test_a_class_goes_from_question_to_question(desk):
    room = desk.classroom
    assert (room.state().phase, room.state().number) == ("joining", 0)
    desk.begin()
    assert (room.state().phase, room.state().question) == ("asking", QUESTION)
    desk.reveal(0)
    assert room.state().phase == "revealed"
    desk.ask(NEXT, after=0)
    assert (room.state().phase, room.state().number, room.state().question) == ("asking", 1, NEXT)
    desk.end()
    assert room.state().phase == "ended"
    assert room.state().questions == [QUESTION, NEXT]


def test_every_decision_is_another_version(desk):
    versions = [desk.classroom.version()]
    for decide in (desk.begin, lambda: desk.reveal(0), lambda: desk.ask(NEXT, after=0), desk.end):
        decide()
        versions.append(desk.classroom.version())

    assert len(set(versions)) == len(versions)
    assert desk.classroom.version() == versions[-1]


def test_a_click_on_a_page_out_of_date_changes_nothing(desk):
    desk.begin()
    desk.ask(NEXT, after=0)

    desk.ask(NEXT, after=0)  # the second of a double click
    desk.reveal(0)

    assert desk.classroom.state().number == 1
    assert desk.classroom.state().phase == "asking"


def test_an_ended_class_stays_ended(desk):
    desk.end()

    for decide in (desk.begin, lambda: desk.reveal(0), lambda: desk.ask(NEXT, after=0)):
        with pytest.raises(ClassroomError, match="ended"):
            decide()
    assert desk.classroom.state().phase == "ended"


@pytest.mark.parametrize("secret", ["", "guess", "x" * 32])
def test_nobody_leads_a_class_without_its_secret(desk, secret):
    with pytest.raises(ClassroomError, match="Only the browser that started"):
        Desk(desk.classroom, secret)


def test_a_students_secret_opens_no_desk(room):
    with pytest.raises(ClassroomError, match="Only the browser that started"):
        Desk(room, room.join())


def test_the_secret_is_not_on_disk_and_still_opens_the_desk_after_a_restart(desk):
    room = found_again(desk.classroom)
    written = "".join(path.read_text() for path in room.folder.rglob("*") if path.is_file())

    assert desk.secret not in written
    Desk(room, desk.secret).begin()
    assert desk.classroom.state().phase == "asking"


# Students


def test_a_student_is_known_again_after_a_restart(room):
    token = room.join("Ada")
    assert room.answer(token, 0, "same")

    again = found_again(room)

    assert again.student(token).name == "Ada"
    assert again.answer_of(token, 0) == "same"
    assert token not in "".join(map(str, room.folder.rglob("*")))


@pytest.mark.parametrize("token", ["", "x" * 32, "../../class"])
def test_a_stranger_is_no_student(room, token):
    assert room.student(token) is None
    assert not room.answer(token, 0, "same")
    assert room.answers(0) == {}


def test_names_are_short_lines_of_text(room):
    room.join()
    room.join("  <b>x</b>\n& co ")
    room.join("a\u202e\x00" * 200)

    assert [student.name for student in room.students()] == ["", "<b>x</b> & co", "a" * 40]


def test_students_whose_page_is_closed_are_not_present(room):
    token = room.join("Ada")
    now = time.time()

    assert [one.present for one in room.students(now)] == [True]
    assert room.n_present() == 1
    assert [one.present for one in room.students(now + 60)] == [False]
    long_ago = now - 60
    os.utime(room._student_file(token), (long_ago, long_ago))
    assert room.n_present() == 0
    room.note_presence(token)
    assert room.n_present() == 1
    assert [one.present for one in room.students(now + 1)] == [True]


def test_presence_of_a_stranger_writes_nothing(room):
    before = sorted(room.folder.rglob("*"))

    room.note_presence("x" * 32)

    assert sorted(room.folder.rglob("*")) == before


def test_a_full_class_lets_nobody_else_in(room, monkeypatch):
    monkeypatch.setattr(store, "MOST_STUDENTS", 2)
    room.join()
    room.join()

    with pytest.raises(ClassroomError, match="full"):
        room.join()
    assert len(room.students()) == 2


def test_nobody_joins_an_ended_class(desk):
    desk.end()

    with pytest.raises(ClassroomError, match="ended"):
        desk.classroom.join()


# Answers


def test_the_last_answer_of_a_student_counts_once(room):
    token = room.join()
    assert room.answer(token, 0, "same")
    assert room.answer(token, 0, "flatter")

    assert [answer.key for answer in room.answers(0).values()] == ["flatter"]
    assert len(room.answers(0)) == 1


def test_answers_count_only_while_their_question_is_asked(desk):
    room = desk.classroom
    token = room.join()
    assert not room.answer(token, 0, "same"), "nothing is asked yet"
    desk.begin()
    assert room.answer(token, 0, "same")
    desk.reveal(0)
    assert not room.answer(token, 0, "flatter"), "the solution is known"
    desk.ask(NEXT, after=0)
    assert not room.answer(token, 0, "flatter"), "the question is over"
    assert not room.answer(token, 2, "flatter"), "the question is yet to come"
    assert room.answer(token, 1, "neither")
    desk.end()
    assert not room.answer(token, 1, "1")

    assert room.answer_of(token, 0) == "same"
    assert room.answer_of(token, 1) == "neither"


def test_two_hundred_students_answer_at_once(room):
    tokens = [room.join(f"Student {number}") for number in range(200)]
    failures = []

    def answer(mine):
        try:
            for token in mine:
                assert room.answer(token, 0, "same")
                assert room.answer(token, 0, "flatter")
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=answer, args=(tokens[at::8],)) for at in range(8)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        assert {answer.key for answer in room.answers(0).values()} <= {"same", "flatter"}
    for thread in threads:
        thread.join()

    assert failures == []
    assert len(room.answers(0)) == 200
    assert {answer.key for answer in room.answers(0).values()} == {"flatter"}
    assert [one.name for one in room.students()] == [f"Student {n}" for n in range(200)]


def test_an_answer_is_one_small_file(room):
    token = room.join()
    before = {path for path in room.folder.rglob("*") if path.is_file()}
    room.answer(token, 0, "same")

    (written,) = {path for path in room.folder.rglob("*") if path.is_file()} - before
    assert written.stat().st_size < 100


# Damage


@pytest.mark.parametrize("content", ["", "{", "[]", '{"key": 1}', "null", "\0\0"])
def test_a_torn_file_of_a_student_is_left_out(room, content):
    whole, torn = room.join("Ada"), room.join("Bob")
    for token in (whole, torn):
        room.answer(token, 0, "same")
    file = room._student_file(torn)
    file.write_text(content)
    (room._answers_folder(0) / file.name).write_text(content)

    assert [one.name for one in room.students()] == ["Ada"]
    assert list(room.answers(0)) == [room._student_file(whole).stem]
    assert room.student(torn) is None
    assert room.answer_of(torn, 0) is None


def test_unfinished_files_are_not_counted(room):
    token = room.join()
    room.answer(token, 0, "same")
    (room._answers_folder(0) / f".{room._student_file(token).name}.1234.tmp").write_text("{")

    assert len(room.answers(0)) == 1


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", '{"phase": "lunch"}'])
def test_a_damaged_class_is_a_sentence(room, content):
    (room.folder / "class.json").write_text(content)

    with pytest.raises(ClassroomError, match=r"cannot be read\. Start another class"):
        room.state()


def test_a_failed_write_leaves_the_answer_of_before(room, monkeypatch):
    token = room.join()
    room.answer(token, 0, "same")
    monkeypatch.setattr(os, "replace", lambda *_: (_ for _ in ()).throw(OSError("disk full")))

    with pytest.raises(OSError, match="disk full"):
        room.answer(token, 0, "flatter")

    assert room.answer_of(token, 0) == "same"
    assert len(room.answers(0)) == 1


def test_the_state_is_plain_json(room):
    content = json.loads((room.folder / "class.json").read_text())

    assert content["questions"] == [
        {"lesson": "slopes", "seed": 3, "settings": {"cause": "outcome"}, "right": "flatter"}
    ]


# Expiry


def test_unused_classes_go_after_a_day(tmp_path, room):
    now = time.time()

    assert Classroom.open(room.code, tmp_path, now=now + 23 * HOUR)
    assert Classroom.open(room.code, tmp_path, now=now + 25 * HOUR) is None
    assert sweep(tmp_path, now=now + 23 * HOUR) == 0
    assert sweep(tmp_path, now=now + 25 * HOUR) == 1
    assert not room.folder.exists()


def test_use_puts_the_expiry_off(tmp_path, room):
    token = room.join()
    long_ago = time.time() - 23 * HOUR
    for file in (room.folder / "last_used", room._student_file(token)):
        os.utime(file, (long_ago, long_ago))

    room.note_presence(token)

    assert Classroom.open(room.code, tmp_path, now=time.time() + 23 * HOUR)


def test_the_number_of_hours_can_be_set(tmp_path, room, monkeypatch):
    monkeypatch.setenv("PMAE_CLASS_HOURS", "2")
    assert Classroom.open(room.code, tmp_path, now=time.time() + 1 * HOUR)
    assert Classroom.open(room.code, tmp_path, now=time.time() + 3 * HOUR) is None


@pytest.mark.parametrize("hours", ["many", "-1", "0", "inf", "nan"])
def test_hours_that_are_none_are_refused(monkeypatch, hours):
    monkeypatch.setenv("PMAE_CLASS_HOURS", hours)

    with pytest.raises(ClassroomError, match="positive number of hours"):
        class_hours()


def test_sweep_leaves_what_is_no_class(tmp_path, room):
    (room.folder.parent / "notes").mkdir()

    assert sweep(tmp_path, now=time.time() + 100 * HOUR) == 1
    assert (room.folder.parent / "notes").is_dir()


def test_sweeping_a_new_server_is_no_error(tmp_path):
    assert sweep(tmp_path / "nothing") == 0

"""A class in real browsers: a teacher at a projector and students on telephones."""

import re

import pandas as pd
import pytest
from playwright.sync_api import expect

from dashboard.learn import LESSONS
from dashboard.state.links import encoded
from tests.support.accessibility import THEMES, choose_theme, low_contrasts, violations

TELEPHONE = {"width": 390, "height": 844}
PROJECTOR = {"width": 1280, "height": 720}
MECHANISMS, PATTERNS = LESSONS[1], LESSONS[2]
ANSWERS = list(MECHANISMS.answers.values())


def start_class(teacher):
    """Start a class with the second lesson; return its address."""
    teacher.open("/learn")
    teacher.choose("Lesson", MECHANISMS.title)
    teacher.page.get_by_role("button", name="Share").click()
    teacher.page.get_by_role("button", name="Start a class").click()
    expect(teacher.page.get_by_text("0 students here")).to_be_visible()
    return teacher.page.url


def join(student, address, name=""):
    student.open(address)
    if name:
        student.page.get_by_role("textbox", name="Your name").fill(name)
    student.page.get_by_role("button", name="Join").click()
    expect(student.page.get_by_text("The class starts soon")).to_be_visible()


def tap(student, words):
    student.page.get_by_role("button", name=words).click()
    expect(student.page.get_by_text("Your answer is in.")).to_be_visible()


def bar(teacher, words):
    return teacher.page.get_by_test_id("stProgress").filter(has_text=words)


@pytest.fixture
def teacher(new_visitor):
    return new_visitor(**PROJECTOR)


@pytest.fixture
def students(new_visitor):
    return [new_visitor(**TELEPHONE) for _ in range(5)]


def test_a_teacher_and_five_students_go_through_two_lessons(teacher, students, server, tmp_path):
    address = start_class(teacher)
    n_workspaces = len(list((server.home / "workspaces").iterdir()))
    names = ["<b>x</b>", "=1+1", "", "Ada", "Bob"]
    for student, name in zip(students, names, strict=True):
        join(student, address, name)
    expect(students[0].page.get_by_text("<b>x</b>, you are in.")).to_be_visible()
    expect(teacher.page.get_by_text("5 students here")).to_be_visible()
    assert len(list((server.home / "workspaces").iterdir())) == n_workspaces

    # The first lesson: answers come in while they are given.
    teacher.page.get_by_role("button", name=f"Start: {MECHANISMS.title}").click()
    for number, student in enumerate(students):
        expect(student.heading(MECHANISMS.title)).to_be_visible()
        expect(student.page.get_by_role("button", name="Show the solution")).to_have_count(0)
        tap(student, ANSWERS[number % 2])
        expect(teacher.page.get_by_text(re.compile(f"^{number + 1} answers? · 5"))).to_be_visible()
    expect(bar(teacher, ANSWERS[0])).to_contain_text("3")
    expect(bar(teacher, ANSWERS[1])).to_contain_text("2")

    # A reload keeps the student and the answer, and counts neither twice.
    students[0].page.reload()
    expect(students[0].page.get_by_text("Your answer is in.")).to_be_visible()
    expect(teacher.page.get_by_text("5 answers · 5 students here")).to_be_visible()

    # One reveal for all.
    teacher.page.get_by_role("button", name="Show the solution to everybody").click()
    for student in students:
        # In view, although the students have scrolled down to the answers.
        expect(student.page.get_by_text(re.compile("^(Correct|Not quite)"))).to_be_in_viewport()
        expect(student.page.get_by_role("button", name=ANSWERS[0])).to_have_count(0)

    for visitor in (teacher, students[0]):
        for theme in THEMES:
            choose_theme(visitor, theme)
            assert low_contrasts(visitor) == [], theme
            assert violations(visitor, theme) == [], theme

    # The second lesson.
    teacher.page.get_by_role("button", name=f"Next: {PATTERNS.title}").click()
    for student in students[:2]:
        expect(student.heading(PATTERNS.title)).to_be_visible()
        tap(student, next(iter(PATTERNS.answers.values())))
    expect(teacher.page.get_by_text(re.compile("^2 answers"))).to_be_visible()

    # The class ends for all, and the teacher has all answers.
    teacher.page.get_by_role("button", name="More").click()
    teacher.page.get_by_role("button", name="End the class").click()
    expect(teacher.page.get_by_text("5 students took part")).to_be_visible()
    for student in students:
        expect(student.page.get_by_text("The class has ended")).to_be_visible()
    with teacher.page.expect_download() as download:
        teacher.page.get_by_role("button", name="Answers as CSV").click()
    download.value.save_as(tmp_path / "answers.csv")
    answers = pd.read_csv(tmp_path / "answers.csv", keep_default_na=False)
    assert answers["question"].tolist() == [1] * 5 + [2] * 2
    assert sorted(answers["name"][:5]) == sorted(["<b>x</b>", "'=1+1", "", "Ada", "Bob"])
    assert answers["answer"][:5].value_counts().to_dict() == {ANSWERS[0]: 3, ANSWERS[1]: 2}


def test_only_the_teachers_browser_leads_the_class(teacher, new_visitor, server):
    address = start_class(teacher)
    teacher.page.get_by_role("button", name="Start:").click()
    expect(teacher.page.get_by_role("button", name="Show the solution")).to_be_visible()

    # The teacher's own address in another browser is that of a student.
    stranger = new_visitor(**PROJECTOR)
    stranger.open(teacher.page.url)
    expect(stranger.page.get_by_role("heading", name="Join the class")).to_be_visible()
    for name in ("Show the solution", "Next", "More", "End the class", "Answers as CSV"):
        expect(stranger.page.get_by_role("button", name=name)).to_have_count(0)
    code = address.split("class=")[1]
    assert set(re.findall(r"[?&](\w+)=", teacher.page.url)) == {"class"}, "no secret in the link"
    assert code in teacher.page.url

    # A reload finds the desk again, and no navigation stands beside it.
    teacher.page.reload()
    expect(teacher.page.get_by_role("button", name="Show the solution")).to_be_visible()
    expect(teacher.page.get_by_test_id("stSidebar")).not_to_be_visible()


def test_a_class_survives_a_restart_of_the_server(teacher, new_visitor, server):
    address = start_class(teacher)
    student = new_visitor(**TELEPHONE)
    join(student, address, "Ada")
    teacher.page.get_by_role("button", name="Start:").click()
    tap(student, ANSWERS[1])

    server.restart()

    student.open(address)
    expect(student.page.get_by_text("Your answer is in.")).to_be_visible()
    teacher.open(address)
    expect(teacher.page.get_by_text(re.compile("^1 answer · 1 student"))).to_be_visible()
    teacher.page.get_by_role("button", name="Show the solution to everybody").click()
    expect(
        student.page.get_by_text("Correct.").or_(student.page.get_by_text("Not quite."))
    ).to_be_visible()


def test_a_code_is_typed_without_a_link(teacher, new_visitor):
    code = start_class(teacher).split("class=")[1]
    student = new_visitor(**TELEPHONE)
    student.open("/learn?class")
    student.page.get_by_role("textbox", name="Code").fill("bbbb bbbb")
    student.page.get_by_role("button", name="Join").click()
    expect(student.page.get_by_text("There is no class with this code")).to_be_visible()

    student.page.get_by_role("textbox", name="Code").fill(f"{code[:4]} {code[4:]}".lower())
    student.page.get_by_role("button", name="Join").click()

    expect(student.heading("Join the class")).to_be_visible()


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_a_handout_has_two_pages(visitor, lesson):
    settings = {"lesson": lesson.name, f"{lesson.name}_seed": lesson.first_seed}
    visitor.open(f"/learn?handout={encoded('learn', settings)}")
    expect(visitor.heading(f"Solution: {lesson.title}")).to_be_visible()

    for paper in ("A4", "Letter"):
        pdf = visitor.page.pdf(format=paper)
        assert len(re.findall(rb"/Type\s*/Page\b", pdf)) == 2, paper

"""Learn in a real browser: a lesson on one screen, with the verdict where the eye is."""

import pytest
from playwright.sync_api import expect

from dashboard.learn import LESSONS

HOW_FAR_IT_SCROLLS = """
() => {
    const main = document.querySelector('[data-testid="stMain"]');
    return main.scrollHeight - main.clientHeight;
}
"""
SCROLLED = "() => document.querySelector('[data-testid=\"stMain\"]').scrollTop"


def open_learn(visitor):
    visitor.open("/learn")
    visitor.heading("Learn", level=1).wait_for()
    return visitor.page


def verdict(page):
    return page.locator(".st-key-lesson-verdict")


def solve(visitor, answer=0):
    guesses = visitor.page.get_by_role("radiogroup", name="Your guess")
    guesses.locator("label").nth(answer).click()
    visitor.settle()
    visitor.press_button("Show the solution")
    verdict(visitor.page).wait_for()
    visitor.settle()


def test_every_lesson_fits_one_screen_before_and_after_the_solution(new_visitor):
    visitor = new_visitor(width=1280, height=720)
    page = open_learn(visitor)

    too_long = {}
    for number, lesson in enumerate(LESSONS):
        if number:
            visitor.press_button("Next")
        expect(visitor.heading(lesson.title, level=2)).to_be_visible()
        visitor.settle()
        before = page.evaluate(HOW_FAR_IT_SCROLLS)
        solve(visitor)
        expect(verdict(page)).to_be_focused()
        after = page.evaluate(HOW_FAR_IT_SCROLLS)
        if before or after:
            too_long[lesson.name] = (before, after)

    assert not too_long, f"pixels below the screen: {too_long}"
    expect(page.get_by_text(f"{len(LESSONS)} of {len(LESSONS)} solved")).to_be_visible()


def test_a_lesson_by_keyboard(new_visitor):
    visitor = new_visitor(width=1280, height=720)
    page = open_learn(visitor)

    guess = page.get_by_role("radiogroup", name="Your guess").get_by_role("radio").first
    guess.focus()
    page.keyboard.press("Space")
    visitor.settle()
    page.get_by_role("button", name="Show the solution").focus()
    page.keyboard.press("Enter")

    expect(verdict(page)).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Guess again")).to_be_focused()


@pytest.mark.parametrize("lesson", [LESSONS[0], LESSONS[5]], ids=lambda lesson: lesson.name)
def test_on_a_telephone_the_verdict_scrolls_into_view_and_next_begins_at_the_top(
    new_visitor, lesson
):
    visitor = new_visitor(width=390, height=844)
    page = open_learn(visitor)
    visitor.choose("Lesson", lesson.title)

    solve(visitor)

    expect(verdict(page).get_by_test_id("stAlert")).to_be_in_viewport(ratio=1)
    assert page.evaluate(SCROLLED) > 0
    page.get_by_role("button", name="Previous" if lesson is LESSONS[-1] else "Next").click()
    expect(page.locator(".st-key-lesson-story")).to_be_focused()
    assert page.evaluate(SCROLLED) == 0


def test_a_solved_lesson_stays_open_while_its_views_are_read(new_visitor):
    """The list marks the lesson as solved: its words change while it is chosen."""
    visitor = new_visitor(width=1280, height=720)
    page = open_learn(visitor)
    visitor.press_button("Next")
    expect(visitor.heading(LESSONS[1].title, level=2)).to_be_visible()
    visitor.settle()
    solve(visitor)

    page.get_by_role("radio", name="What to remember").click()
    visitor.settle()

    expect(visitor.heading(LESSONS[1].title, level=2)).to_be_visible()
    expect(page.get_by_text("the observed values are a random sample")).to_be_visible()
    expect(page.get_by_role("combobox", name="Lesson")).to_have_value(f"2. {LESSONS[1].title} ✓")

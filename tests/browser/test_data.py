"""Editing on the Data page as people do: faster than the page is drawn."""

from playwright.sync_api import expect

COLUMNS = ["age", "income", "city", "ward", "score"]


def test_quick_edits_of_roles_are_all_kept(visitor, survey):
    visitor.open()
    visitor.upload(survey)
    expect(visitor.page.get_by_text("survey.csv is open.")).to_be_visible()
    show_roles(visitor)

    give(visitor, "boolean", rows=["city"])
    refused = visitor.page.get_by_text("but a boolean column has two")
    expect(refused).to_be_visible()
    visitor.settle()
    give(visitor, "ignored")  # with the first of them, the notice goes and the page moves up
    expect(refused).to_be_hidden()
    assert roles(visitor) == dict.fromkeys(COLUMNS, "ignored")
    give(visitor, "categorical")  # which some of them were at first

    visitor.page.reload()
    show_roles(visitor)
    assert roles(visitor) == dict.fromkeys(COLUMNS, "categorical")


def test_the_first_figure_finds_its_drawing_code_loaded(visitor):
    visitor.open()

    visitor.page.wait_for_function(
        "() => performance.getEntriesByType('resource').some(r => r.name.includes('PlotlyChart'))"
    )
    visitor.go_to("Missingness")

    scripts = visitor.page.evaluate(
        "() => performance.getEntriesByType('resource').map(r => r.name)"
        ".filter(name => name.includes('PlotlyChart') && name.endsWith('.js'))"
    )
    assert len(set(scripts)) == 1


def show_roles(visitor) -> None:
    visitor.settle()
    visitor.page.get_by_role("tab", name="Roles").click()
    visitor.settle()


def give(visitor, role: str, rows=COLUMNS) -> None:
    """Give neighboring columns a role, one after the other without waiting for the page."""
    grid = visitor.grid("Column", "Role")
    grid.select(row=COLUMNS.index(rows[0]))
    grid.press("ArrowRight")
    for _ in rows:
        grid.press("Enter")
        visitor.page.keyboard.type(role)
        grid.press("Enter")  # goes to the row below
        visitor.page.wait_for_timeout(150)
    visitor.settle()


def roles(visitor) -> dict[str, str]:
    return {row[0]: row[1] for row in visitor.grid("Column", "Role").rows()}

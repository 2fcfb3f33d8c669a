"""What only the user knows about a table: questions that one click answers."""

import functools
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dashboard.data.columns import rows_to_search, spelling
from dashboard.state.table_state import OpenTable, TableState
from dashboard.state.workspace import Workspace
from dashboard.text import code, listing, plain
from pmae_core.table import Flag, Role, RoleSuggestion, SentinelSuggestion, suggest_roles
from pmae_core.words import count

SECTION = "dismissed"  # of the settings of a workspace
# Roles that are suggested: what several columns have in common, and what to make them.
_OFFERED_ROLES = {
    Role.BOOLEAN: ("hold only yes and no", "boolean"),
    Role.CATEGORICAL: ("look like codes", "categories"),
    Role.ORDINAL: ("hold levels in order", "ordinal"),
}
MOST_SINGLE = 2  # more questions of a kind are asked as one, with the single ones behind it


@dataclass(frozen=True)
class TableQuestion:
    """A question about some columns, and what a "yes" changes.

    Parameters
    ----------
    key
        Text that is unique on the page and stays the same while the question is open.
    text
        The question, in Markdown.
    yes, no
        Labels of the two answers.
    topics
        What the question is about: with "no", these are not asked about again.
    roles
        With "yes", these columns get these roles.
    missing
        With "yes", these values of these columns count as missing.
    parts
        The same questions one by one.
    """

    key: str
    text: str
    yes: str
    no: str
    topics: tuple[str, ...]
    roles: Mapping[str, str] = field(default_factory=dict)
    missing: tuple[tuple[str, Any], ...] = ()
    parts: "tuple[TableQuestion, ...]" = ()


def find_role_suggestions(table: OpenTable) -> list[RoleSuggestion]:
    """Suggest roles for the columns whose role nobody chose; in a long table from some rows."""
    decided = table.state.roles if table.state else ()
    return suggest_roles(rows_to_search(table.frame), table.schema, decided)


def open_questions(
    table: OpenTable,
    sentinels: Iterable[SentinelSuggestion],
    roles: Iterable[RoleSuggestion],
    dismissed: Collection[str] = (),
) -> list[TableQuestion]:
    """Return the questions that a table raises and nobody answered yet, the plainest first.

    Parameters
    ----------
    table
        The open table.
    sentinels, roles
        What is suggested for it.
    dismissed
        Topics that were answered with "no".
    """
    suggested: dict[Role, list[TableQuestion]] = {}
    for suggestion in roles:
        suggested.setdefault(suggestion.suggested, []).append(_ask_for_role(suggestion))
    decided = table.state.roles if table.state else {}
    codes = [
        _ask_if_amounts(str(c.name))
        for c in table.schema
        if Flag.CODES in c.flags and c.role is Role.CATEGORICAL and c.name not in decided
    ]
    groups: list[tuple[list[TableQuestion], Callable[[Sequence[TableQuestion]], TableQuestion]]] = [
        ([_ask_if_missing(s) for s in sentinels], _ask_if_all_missing),
        *(
            (suggested.get(role, []), functools.partial(_ask_for_one_role, role))
            for role in _OFFERED_ROLES
        ),
        (codes, _ask_if_all_amounts),
    ]
    found = []
    for singles, ask_for_all in groups:
        left = [question for question in singles if question.topics[0] not in dismissed]
        found += left if len(left) <= MOST_SINGLE else [ask_for_all(left)]
    return found


# Dismissed topics, by table


def dismiss(workspace: Workspace, state: TableState, topics: Iterable[str]) -> None:
    """Remember that a table's user said "no" to some topics."""
    workspace.update(SECTION, **{f"{_prefix(state)}{topic}": True for topic in topics})


def dismissed_topics(workspace: Workspace, state: TableState) -> set[str]:
    """Return the topics of a table that its user said "no" to."""
    prefix = _prefix(state)
    kept = workspace.get(SECTION)
    return {key.removeprefix(prefix) for key in kept if key.startswith(prefix)}


def _prefix(state: TableState) -> str:
    return f"{state.raw[:16]} "


# Values that may mean missing


def _ask_if_missing(suggestion: SentinelSuggestion) -> TableQuestion:
    value, cells = spelling(suggestion.value), count(suggestion.count, "cell")
    topic = f"missing {suggestion.column} {value}"
    return TableQuestion(
        key=topic,
        text=f"{code(value)} appears in {cells} of {code(suggestion.column)}: missing?",
        yes="Yes",
        no="No",
        topics=(topic,),
        missing=((suggestion.column, suggestion.value),),
    )


def _ask_if_all_missing(singles: Sequence[TableQuestion]) -> TableQuestion:
    places = [place for single in singles for place in single.missing]
    names = list(dict.fromkeys(column for column, _ in places))
    column, value = places[0]
    return _together(
        "missing",
        f"{count(len(places), 'value')} in {count(len(names), 'column')} may mean missing, such as "
        f"{code(spelling(value))} in {code(column)}: count them as missing?",
        singles,
        yes="All at once",
        no="Keep as they are",
    )


# Roles


def _ask_for_role(suggestion: RoleSuggestion) -> TableQuestion:
    name = str(suggestion.column)
    # The reason quotes the table, and it begins with the name of the column.
    facts = plain(suggestion.reason.removeprefix(f"`{name}`").strip().removesuffix("."))
    nouns = {Role.BOOLEAN: "a boolean", Role.ORDINAL: "ordinal"}
    text = f"{code(name)} {facts}: {nouns.get(suggestion.suggested, 'a category')}?"
    return _about_role(name, suggestion.suggested, text, yes="Yes", no="No")


def _ask_for_one_role(role: Role, singles: Sequence[TableQuestion]) -> TableQuestion:
    facts, offer = _OFFERED_ROLES[role]
    return _together(
        role.value,
        f"{count(len(singles), 'column')} {facts} ({_names(singles)}): make them {offer}?",
        singles,
        yes="All at once",
        no="Keep as they are",
    )


def _ask_if_amounts(name: str) -> TableQuestion:
    text = f"{code(name)} holds few whole numbers: codes or amounts?"
    return _about_role(name, Role.NUMERICAL, text, yes="Amounts", no="Codes")


def _ask_if_all_amounts(singles: Sequence[TableQuestion]) -> TableQuestion:
    return _together(
        "numerical",
        f"{count(len(singles), 'column')} hold few whole numbers ({_names(singles)}): "
        "codes or amounts?",
        singles,
        yes="Amounts",
        no="Codes",
    )


def _about_role(name: str, role: Role, text: str, *, yes: str, no: str) -> TableQuestion:
    topic = f"role {name}"
    return TableQuestion(topic, text, yes, no, topics=(topic,), roles={name: role.value})


def _names(singles: Sequence[TableQuestion]) -> str:
    return listing((name for single in singles for name in single.roles), most=3)


def _together(
    key: str, text: str, singles: Sequence[TableQuestion], *, yes: str, no: str
) -> TableQuestion:
    return TableQuestion(
        key=f"all {key}",
        text=text,
        yes=yes,
        no=no,
        topics=tuple(topic for single in singles for topic in single.topics),
        roles={name: role for single in singles for name, role in single.roles.items()},
        missing=tuple(place for single in singles for place in single.missing),
        parts=tuple(singles),
    )

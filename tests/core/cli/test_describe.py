"""``pmae describe``."""

import json

import pandas as pd
import pytest

from pmae_core.table import write_table
from tests.support.shell import run


def test_role_without_equals_sign_is_wrong_usage(survey_csv):
    run("describe", survey_csv, "--role", "age", code=2)


def test_describe_shows_columns_and_a_sentence(survey_csv, incomplete):
    output = run("describe", survey_csv).stdout
    rows = {line.split()[0]: line.split()[1:] for line in output.splitlines() if line.strip()}
    n_missing = str(incomplete["age"].isna().sum())
    assert rows["age"][:2] == ["numerical", n_missing]
    assert rows["town"][0] == "categorical"
    assert "60 rows and 4 columns" in output


def test_names_send_no_control_sequences_to_the_terminal(tmp_path):
    clear_screen, red = "\x1b[2Jgone", "[red]a[/red]"
    path = tmp_path / "names.csv"
    pd.DataFrame({clear_screen: [1, 2], red: [3, None]}).to_csv(path, index=False)

    output = run("describe", path).output

    assert "\x1b" not in output
    assert r"\x1b[2Jgone" in output
    assert red in output


def test_describe_as_json(survey_csv, incomplete):
    result = json.loads(run("describe", survey_csv, "--json", "--role", "age=ignored").stdout)
    by_name = {column["name"]: column for column in result["columns"]}
    assert by_name["age"]["role"] == "ignored"
    assert by_name["town"]["p_obs"] == pytest.approx(incomplete["town"].notna().mean())
    assert result["missingness"]["n_missing"] == int(incomplete.isna().sum().sum())
    assert result["sentence"].startswith("The table has 60 rows")


def test_describe_points_at_sentinels(complete, tmp_path):
    coded = complete.assign(height=complete["height"].mask(complete.index < 9, -999.0))
    write_table(coded, tmp_path / "coded.csv")
    result = run("describe", tmp_path / "coded.csv")
    assert "-999" in result.stderr
    declared = json.loads(
        run("describe", tmp_path / "coded.csv", "--sentinel", -999, "--json").stdout
    )
    assert declared["missingness"]["n_missing"] == 9
    assert declared["sentinel_suggestions"] == []

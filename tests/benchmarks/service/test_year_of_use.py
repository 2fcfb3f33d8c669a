"""Workspaces come and go; the disk returns to its level."""

from benchmarks.service.year_of_use import returned, simulate


def test_twenty_workspaces_leave_nothing_behind(tmp_path):
    result = simulate(tmp_path / "home", n_workspaces=20, n_days=3, days_kept=3)

    assert result["workspaces"] == 20
    assert result["most"]["workspaces"] == 20
    assert result["most"]["bytes"] > 5 * result["before"]["bytes"]
    assert result["owners_of_jobs_after"] == ["local"]
    assert returned(result), (result["before"], result["after"])

"""Records of runs, one per line: several processes append, and each may be killed."""

from benchmarks.recording import append_records, read_records

RECORDS = [{"method": "em", "seed": seed, "score": 0.5} for seed in range(3)]


def test_records_come_back(tmp_path, capsys):
    path = tmp_path / "runs.jsonl"
    assert read_records(path) == []
    append_records(path, RECORDS[:1])
    append_records(path, RECORDS[1:])
    assert read_records(path) == RECORDS
    assert len(path.read_text().splitlines()) == 3
    assert capsys.readouterr().out == ""


def test_half_a_line_costs_its_run_alone(tmp_path, capsys):
    path = tmp_path / "runs.jsonl"
    append_records(path, RECORDS[:2])
    whole = path.read_bytes()
    last = whole.splitlines(keepends=True)[1]
    for n_lost in range(1, len(last)):
        path.write_bytes(whole[:-n_lost])
        found = read_records(path)
        assert found == RECORDS[: 2 if n_lost == 1 else 1]  # the line break alone is no loss
        append_records(path, RECORDS[2:])
        assert read_records(path) == [*found, RECORDS[2]]
    assert "Line 2 of runs.jsonl is damaged; its run is repeated." in capsys.readouterr().out

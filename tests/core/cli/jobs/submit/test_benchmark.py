"""``pmae jobs submit benchmark``."""

from tests.support.shell import submitted


def test_a_benchmark_names_its_table(store):
    job_id = submitted(
        *("benchmark", "diabetes", "--methods", "naive", "--seeds", 1, "--max-rows", 60),
        *("--pattern", "general", "--wait"),
    )

    assert store.job(job_id).state == "succeeded"
    assert store.job(job_id).spec.table is None

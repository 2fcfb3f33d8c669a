"""Analyze: the user's own regression on every imputation, pooled, with complete cases beside it."""

from dashboard import runs
from dashboard.analyze.view import show_analysis, show_nothing
from dashboard.impute.completed_tables import imputation_runs, is_done
from dashboard.runs.staleness import digest_of
from dashboard.state import session

open_table = session.open_table()
own = [run for run in imputation_runs() if run.spec.table == digest_of(open_table)]
done = [run for run in own if is_done(run)]
if done:
    show_analysis(done, open_table)
else:
    show_nothing(has_unfinished=any(run.state in runs.ACTIVE for run in own))

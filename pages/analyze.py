"""Analyze: the user's own regression on every imputation, pooled, with complete cases beside it."""

from dashboard import jobs, session
from dashboard.analyze.view import show_analysis, show_nothing
from dashboard.impute.fillings import all_fillings, digest_of, is_done

open_table = session.open_table()
own = [run for run in all_fillings() if run.spec.table == digest_of(open_table)]
done = [run for run in own if is_done(run)]
if done:
    show_analysis(done, open_table)
else:
    show_nothing(has_unfinished=any(run.state in jobs.ACTIVE for run in own))

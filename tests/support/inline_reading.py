"""Uploads that are read in this process, at once: for tests that are not about the process."""

from pmae_core.table import read_table_file


class InlineReading:
    """Stands in for ``ReadingProcess``; what fails is raised by ``result``, too."""

    def __init__(self, path, *, process_limits, **options):
        self._error = None
        try:
            self._table = read_table_file(path, **options)
        except Exception as error:
            self._error = error

    def wait(self, seconds=None):
        return True

    def cancel(self):
        pass

    def result(self):
        if self._error is not None:
            raise self._error
        return self._table

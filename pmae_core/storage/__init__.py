"""What is stored on disk: exact tables by their content, files written all or nothing, the home.

Import from the modules: :mod:`~pmae_core.storage.tables` and :mod:`~pmae_core.storage.frames` for
tables, :mod:`~pmae_core.storage.json_values` for single values. :mod:`~pmae_core.storage.files`,
:mod:`~pmae_core.storage.digests` and :mod:`~pmae_core.storage.home` load neither pandas nor Arrow.
"""

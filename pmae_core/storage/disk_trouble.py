"""Why a file could not be read or written, by what the user can do about it."""

import errno
from enum import Enum


class DiskTrouble(Enum):
    """What is wrong with a disk or a folder."""

    FULL = "full"
    NOT_WRITABLE = "not writable"
    OTHER = "other"


_BY_NUMBER = {
    errno.ENOSPC: DiskTrouble.FULL,
    errno.EDQUOT: DiskTrouble.FULL,
    errno.EROFS: DiskTrouble.NOT_WRITABLE,
    errno.EACCES: DiskTrouble.NOT_WRITABLE,
    errno.EPERM: DiskTrouble.NOT_WRITABLE,
}


def disk_trouble(error: OSError) -> DiskTrouble:
    """Return what is wrong according to an error.

    Examples
    --------
    >>> disk_trouble(OSError(errno.ENOSPC, "No space left on device", "table.parquet"))
    <DiskTrouble.FULL: 'full'>
    """
    return _BY_NUMBER.get(error.errno or 0, DiskTrouble.OTHER)

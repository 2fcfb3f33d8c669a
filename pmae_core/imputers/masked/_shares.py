"""How much each of several estimates counts in each column, as held-out cells teach."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

import numpy as np

# The table as a whole counts like this many held-out cells of the column itself.
CELLS_OF_THE_TABLE = 100
# No column counts for more than this many cells in what is learned about the table.
_MOST_CELLS = 1000
# Pulls shares toward equal ones; as a part of the mean squared error.
RIDGE = 0.05
# A network is that of the step with the least error on its held-out cells. On other cells its mean
# squared error is larger, by about this part.
OPTIMISM_OF_THE_NETWORK = 0.1


def learn_shares(
    errors: Mapping[int, np.ndarray],
    n_columns: int,
    n_members: int,
    optimism: Sequence[float] | None = None,
) -> np.ndarray:
    """Learn the shares of estimates that have the least squared error on held-out cells.

    What few cells of a column say is completed by what the cells of all columns say, and shares
    are pulled toward equal ones. So a member that is lucky on some cells does not get everything.

    Parameters
    ----------
    errors : mapping of column to ndarray of shape (cells, numbers, members)
        Errors of all members on each column's held-out cells; columns without any may be absent.
        A number has one error, a category one for the probability of each class.
    n_columns, n_members : int
        Number of columns and members.
    optimism : sequence of float, optional
        By which part each member's mean squared error is larger than on these cells, for members
        that were chosen by them.

    Returns
    -------
    ndarray of shape (columns, members)
        Shares of at least 0 that add up to 1 in each column.

    Examples
    --------
    >>> off_by = np.array([[1.0, -1.0], [1.0, -1.0]] * 50)[:, None, :]
    >>> learn_shares({0: off_by}, n_columns=2, n_members=2)
    array([[0.5, 0.5],
           [0.5, 0.5]])
    """
    larger = 1.0 + (np.zeros(n_members) if optimism is None else np.asarray(optimism))
    moments = {j: _moments(part, larger) for j, part in errors.items() if len(part)}
    counts = {j: len(errors[j]) for j in moments}
    weights = {j: min(count, _MOST_CELLS) for j, count in counts.items()}
    table = np.eye(n_members) / n_members
    if moments:
        stacked = np.stack(list(moments.values()))
        table = np.average(stacked, axis=0, weights=list(weights.values()))
    shares = np.empty((n_columns, n_members))
    for j in range(n_columns):
        count = counts.get(j, 0)
        own = count * moments[j] if count else 0.0
        joined = (own + CELLS_OF_THE_TABLE * table) / (count + CELLS_OF_THE_TABLE)
        shares[j] = best_shares(joined + RIDGE * np.trace(joined) / n_members * np.eye(n_members))
    return shares


def best_shares(moments: np.ndarray) -> np.ndarray:
    """Return shares of at least 0 that add up to 1 and make the mean squared error least.

    Parameters
    ----------
    moments : ndarray of shape (members, members)
        Mean products of the members' errors, positive definite.

    Examples
    --------
    >>> best_shares(np.diag([1.0, 3.0]))
    array([0.75, 0.25])
    """
    n_members = len(moments)
    best, least = np.full(n_members, 1 / n_members), np.inf
    # A few members have a few subsets: the best shares are the best of one of them.
    for size in range(1, n_members + 1):
        for chosen in itertools.combinations(range(n_members), size):
            part = moments[np.ix_(chosen, chosen)]
            solved = np.linalg.solve(part, np.ones(size))
            shares = solved / solved.sum()
            error = float(shares @ part @ shares)
            if (shares >= 0).all() and error < least:
                least, best = error, np.zeros(n_members)
                best[list(chosen)] = shares
    return best


def member_errors(truth: np.ndarray, estimates: Sequence[np.ndarray]) -> np.ndarray:
    """Return errors of several estimates of the same cells, the members last."""
    return np.stack([truth - estimate for estimate in estimates], axis=-1)


def mix(shares: np.ndarray, estimates: Sequence[np.ndarray]) -> np.ndarray:
    """Return one column's estimates, mixed by its shares."""
    mixed = shares[0] * estimates[0]
    for share, estimate in zip(shares[1:], estimates[1:], strict=True):
        mixed = mixed + share * estimate
    return mixed


def _moments(errors: np.ndarray, larger: np.ndarray) -> np.ndarray:
    """Return mean products of errors in units of their mean square, so that columns add up."""
    flat = errors.reshape(-1, errors.shape[-1])
    products = flat.T @ flat / len(errors)
    products[np.diag_indices_from(products)] *= larger
    size = np.trace(products)
    # Members without any error are all equally good.
    return products / size if size > 0 else np.eye(len(products)) / len(products)

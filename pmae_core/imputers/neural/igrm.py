"""IGRM: a graph whose edges are cells between rows and columns, and links of similar rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from pmae_core.errors import ImputationError
from pmae_core.imputers.parameters import STRING, Constraints, Integer, Number
from pmae_core.imputers.registry import register_imputer
from pmae_core.imputers.run import FitRun
from pmae_core.imputers.transductive import TransductiveImputer
from pmae_core.imputers.work import WorkProfile
from pmae_core.table import EncodedTable, Schema


@register_imputer(
    name="igrm",
    title="IGRM",
    explanation="A graph neural network: rows exchange messages with the columns of their observed "
    "cells, and with similar rows.",
    citation="Zhong, Gui and Ye: Data Imputation with Iterative Graph Reconstruction. AAAI 2023.",
    limits="The graph of the whole table is kept in memory: at most 10,000 rows and 300,000 "
    "observed cells (about 2 GB) unless max_rows and max_cells are raised.",
)
class IGRMImputer(TransductiveImputer):
    """Impute a table by iterative graph reconstruction.

    Rows and columns are the nodes of a graph, observed cells its edges, and their values features
    of the edges. Three layers pass messages along the edges, one more passes messages between
    each row and the rows similar to it (the paper's "friends"), and a small network predicts a cell
    from its row and its column. In every epoch 70% of the edges are kept for messages and all are
    predicted. Every ``renew_every`` epochs a graph autoencoder finds the similar rows again, from
    the states of the rows. It imputes the table it is fitted on and no other.

    Departures from the original: similar rows are each row's nearest few, searched in blocks of
    rows, instead of a sampled graph from a dense matrix of rows by rows (which is why the original
    runs out of memory past 8,000 rows); the autoencoder learns to distinguish similar rows from
    random pairs, where the original's gets one gradient step in 100; an edge has one state and not
    one per direction, and starts as its standardized value times a vector of its column; weights
    start so that signals keep their size. The latter two make hundreds of epochs enough: training
    ends when held-out cells no longer improve, after at most 1,000 epochs, and the best network is
    kept, where the paper trained for 8,000 without a check.

    Parameters
    ----------
    epochs : int, default 1000
        Most passes over the graph.
    patience : int, default 40
        Checks on held-out cells without improvement before training ends; one every 10 epochs.
    validation_share : float, default 0.05
        Share of the observed cells held out for those checks; 0 for none. For the imputation they
        are used like all others.
    width : int, default 64
        Width of the states of nodes and edges.
    layers : int, default 3
        Layers of messages between rows and columns.
    kept_share : float, default 0.7
        Share of the edges kept in an epoch.
    n_similar_rows : int, default 5
        Similar rows per row.
    renew_every : int, default 100
        Epochs between two searches for similar rows.
    learning_rate : float, default 0.001
        Step size of Adam.
    max_rows, max_cells : int, default 10000 and 300000
        Larger tables, by rows or by observed cells, are refused.
    device : str, default "auto"
        ``"auto"`` takes CUDA, MPS or CPU, whichever is available first.
    schema : Schema or mapping of column to role, optional
        Roles of the columns; inferred where not given.
    random_state : int, RandomState or None
        Seed of everything random.

    Attributes
    ----------
    losses_ : list of float
        The squared error on the table's observed cells, one per epoch.
    """

    _parameter_constraints: ClassVar[Constraints] = {
        **TransductiveImputer._parameter_constraints,
        "epochs": [Integer(least=1)],
        "patience": [Integer(least=1)],
        "validation_share": [Number(least=0, below=1)],
        "width": [Integer(least=1)],
        "layers": [Integer(least=1)],
        "kept_share": [Number(above=0, most=1)],
        "n_similar_rows": [Integer(least=1)],
        "renew_every": [Integer(least=1)],
        "learning_rate": [Number(above=0)],
        "max_rows": [Integer(least=1)],
        "max_cells": [Integer(least=1)],
        "device": [STRING],
    }

    def __init__(
        self,
        *,
        epochs: int = 1000,
        patience: int = 40,
        validation_share: float = 0.05,
        width: int = 64,
        layers: int = 3,
        kept_share: float = 0.7,
        n_similar_rows: int = 5,
        renew_every: int = 100,
        learning_rate: float = 1e-3,
        max_rows: int = 10_000,
        max_cells: int = 300_000,
        device: str = "auto",
        schema: Schema | Mapping[Any, str] | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.epochs = epochs
        self.patience = patience
        self.validation_share = validation_share
        self.width = width
        self.layers = layers
        self.kept_share = kept_share
        self.n_similar_rows = n_similar_rows
        self.renew_every = renew_every
        self.learning_rate = learning_rate
        self.max_rows = max_rows
        self.max_cells = max_cells
        self.device = device
        self.schema = schema
        self.random_state = random_state

    def work_profile(self, n_rows: int) -> WorkProfile:
        """Say that the training usually ends early; see :meth:`BaseImputer.work_profile`."""
        return WorkProfile(usual_share=0.5)

    def _complete(self, encoded: EncodedTable, run: FitRun) -> np.ndarray:
        from pmae_core.imputers.neural._igrm_network import complete_graph

        self._refuse_large(encoded)
        imputed, self.losses_ = complete_graph(
            encoded,
            patience=self.patience,
            validation_share=self.validation_share,
            width=self.width,
            layers=self.layers,
            kept_share=self.kept_share,
            n_similar_rows=self.n_similar_rows,
            renew_every=self.renew_every,
            learning_rate=self.learning_rate,
            device=self.device,
            seed=run.seed,
            progress=run.progress(self.epochs, "epoch", every=10),
        )
        return imputed

    def _refuse_large(self, encoded: EncodedTable) -> None:
        n_rows, n_cells = len(encoded.values), int(encoded.observed.sum())
        if n_rows > self.max_rows or n_cells > self.max_cells:
            raise ImputationError(
                "IGRM keeps the graph of the whole table in memory and accepts at most "
                f"{self.max_rows:,} rows and {self.max_cells:,} observed cells; this table has "
                f"{n_rows:,} and {n_cells:,}. Choose another method, or raise max_rows and "
                "max_cells if you have the memory."
            )

"""The graph network of IGRM, its similar rows, and the training."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import mse_loss, normalize, relu, softplus

from pmae_core.imputers.neural._common import (
    Standardizer,
    adam,
    dense_network,
    gradient_step,
    row_chunks,
    seeded,
)
from pmae_core.imputers.run import ProgressMeter
from pmae_core.table import EncodedTable
from pmae_core.training.device import choose_device

EPOCHS_PER_CHECK = 10
STEPS_PER_RENEWAL = 100


@dataclass(frozen=True)
class Edges:
    """Cells of a table: the row, the column and the value of each."""

    row: Tensor
    column: Tensor
    value: Tensor

    def __getitem__(self, chosen: Tensor) -> Edges:
        return Edges(self.row[chosen], self.column[chosen], self.value[chosen])

    def __len__(self) -> int:
        return len(self.row)


def mean_by(index: Tensor, messages: Tensor, n_nodes: int) -> Tensor:
    """Return the mean message to each node, 0 where there is none."""
    total = messages.new_zeros(n_nodes, messages.shape[1]).index_add_(0, index, messages)
    count = torch.bincount(index, minlength=n_nodes).clamp(min=1)
    return total / count.unsqueeze(1)


class EdgeSage(nn.Module):
    """One layer of messages between rows and columns, each made of a node and an edge.

    Here and below a linear map of joined states is written as a sum of maps, so that those of
    nodes are computed once per node and not once per edge.
    """

    def __init__(self, node_width: int, width: int) -> None:
        super().__init__()
        self.from_node = nn.Linear(node_width, width)
        self.from_edge = nn.Linear(width, width, bias=False)
        self.update = nn.Linear(width + node_width, width)

    def forward(
        self, rows: Tensor, columns: Tensor, states: Tensor, edges: Edges
    ) -> tuple[Tensor, Tensor]:
        """Return the new states of rows and columns, given those of the edges."""
        of_edge = self.from_edge(states)
        to_columns = relu(self.from_node(rows).index_select(0, edges.row) + of_edge)
        to_rows = relu(self.from_node(columns).index_select(0, edges.column) + of_edge)
        return (
            self._updated(rows, mean_by(edges.row, to_rows, len(rows))),
            self._updated(columns, mean_by(edges.column, to_columns, len(columns))),
        )

    def _updated(self, states: Tensor, messages: Tensor) -> Tensor:
        return normalize(relu(self.update(torch.cat([messages, states], dim=1))), dim=1)


class EdgeUpdate(nn.Module):
    """New states of edges, from the old and from the nodes at both ends."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.from_row = nn.Linear(width, width)
        self.from_column = nn.Linear(width, width, bias=False)
        self.from_edge = nn.Linear(width, width, bias=False)

    def forward(self, rows: Tensor, columns: Tensor, states: Tensor, edges: Edges) -> Tensor:
        """Return the new states of the edges."""
        of_row = self.from_row(rows).index_select(0, edges.row)
        of_column = self.from_column(columns).index_select(0, edges.column)
        return relu(of_row + of_column + self.from_edge(states))


class GraphNetwork(nn.Module):
    """Messages along cells, then between similar rows, then a prediction for any cell."""

    def __init__(self, n_columns: int, width: int, layers: int) -> None:
        super().__init__()
        self.n_columns = n_columns
        self.direction = nn.Parameter(torch.randn(n_columns, width))
        self.first = EdgeSage(n_columns, width)
        self.edge_updates = nn.ModuleList(EdgeUpdate(width) for _ in range(layers - 1))
        self.others = nn.ModuleList(EdgeSage(width, width) for _ in range(layers - 1))
        self.similar_message = nn.Linear(width, width)
        self.similar_update = nn.Linear(2 * width, width)
        self.after = dense_network(width, width, width, activation=nn.ReLU)
        self.predict = dense_network(2 * width, width, 1, activation=nn.ReLU)
        self._keep_signal()

    def _keep_signal(self) -> None:
        """Start so that rows still differ after eight layers; with torch's own start they do not.

        That shortens training from thousands of epochs to hundreds.
        """
        for layer in self.modules():
            if isinstance(layer, nn.Linear):
                nn.init.kaiming_normal_(layer.weight, nonlinearity="relu")
                if layer.bias is not None:
                    nn.init.zeros_(layer.bias)

    def row_and_column_states(self, edges: Edges, n_rows: int) -> tuple[Tensor, Tensor]:
        """Return the states of rows and columns, given some cells."""
        states = edges.value.unsqueeze(1) * self.direction.index_select(0, edges.column)
        rows = states.new_ones(n_rows, self.n_columns)
        columns = torch.eye(self.n_columns, device=states.device)
        rows, columns = self.first(rows, columns, states, edges)
        for update_edges, layer in zip(self.edge_updates, self.others, strict=True):
            states = update_edges(rows, columns, states, edges)
            rows, columns = layer(rows, columns, states, edges)
        return rows, columns

    def forward(self, rows: Tensor, columns: Tensor, similar: SimilarRows, cells: Edges) -> Tensor:
        """Return predicted values of cells, from states of rows and columns."""
        messages = self.similar_message(similar.weighted_mean(rows))
        rows = normalize(relu(self.similar_update(torch.cat([messages, rows], dim=1))), dim=1)
        rows, columns = self.after(rows), self.after(columns)
        pairs = [rows.index_select(0, cells.row), columns.index_select(0, cells.column)]
        predicted: Tensor = self.predict(torch.cat(pairs, dim=1)).squeeze(1)
        return predicted


class SimilarRows(nn.Module):
    """The rows most similar to each row, found by a graph autoencoder from the states of rows."""

    def __init__(self, first_states: Tensor, n_similar_rows: int, width: int) -> None:
        super().__init__()
        self.of_row = nearest(normalize(first_states, dim=1), n_similar_rows)
        self.weight = torch.ones_like(self.of_row, dtype=torch.float32)
        self.hidden = nn.Linear(width, 2 * width, bias=False)
        self.code = nn.Linear(2 * width, width // 2 + 1, bias=False)
        self.sharpness = nn.Parameter(torch.tensor([5.0]))

    def weighted_mean(self, states: Tensor) -> Tensor:
        """Return the mean state of each row's similar rows, weighted by their probability."""
        n_rows, n_similar_rows = self.of_row.shape
        of_similar = states.index_select(0, self.of_row.flatten()).view(n_rows, n_similar_rows, -1)
        return (self.weight.unsqueeze(-1) * of_similar).mean(dim=1)

    def renew(self, states: Tensor, learning_rate: float, check: Callable[[], None]) -> None:
        """Train the autoencoder to distinguish similar rows from random pairs, then use its own.

        ``check`` is called between steps and may raise to end the work.
        """
        optimizer = adam(self.parameters(), learning_rate)
        for _ in range(STEPS_PER_RENEWAL):
            codes = self._codes(states)
            random_rows = torch.randint(len(states), self.of_row.shape).to(states.device)
            loss = softplus(-self._logits(codes, self.of_row)).mean()
            loss = loss + softplus(self._logits(codes, random_rows)).mean()
            gradient_step(optimizer, loss)
            check()
        with torch.no_grad():
            codes = self._codes(states)
            self.of_row = nearest(codes, self.of_row.shape[1])
            self.weight = self._logits(codes, self.of_row).sigmoid()

    def _codes(self, states: Tensor) -> Tensor:
        hidden = relu(self._mixed(self.hidden(states)))
        return normalize(self._mixed(self.code(hidden)), dim=1)

    def _mixed(self, states: Tensor) -> Tensor:
        return (states + self.weighted_mean(states)) / 2

    def _logits(self, codes: Tensor, others: Tensor) -> Tensor:
        of_others = codes.index_select(0, others.flatten()).view(*others.shape, -1)
        cosine = (codes.unsqueeze(1) * of_others).sum(dim=-1)
        return self.sharpness * cosine


@torch.no_grad()
def nearest(points: Tensor, k: int) -> Tensor:
    """Return for each unit vector the ``k`` others with the smallest angle to it."""
    found = []
    for block in row_chunks(len(points), len(points)):
        cosine = points[block] @ points.T
        own = torch.arange(len(points), device=points.device)[block]
        cosine[torch.arange(len(own)), own] = -torch.inf
        found.append(cosine.topk(min(k, len(points) - 1), dim=1).indices)
    return torch.cat(found)


def complete_graph(
    encoded: EncodedTable,
    *,
    patience: int,
    validation_share: float,
    width: int,
    layers: int,
    kept_share: float,
    n_similar_rows: int,
    renew_every: int,
    learning_rate: float,
    device: str,
    seed: int,
    progress: ProgressMeter,
) -> tuple[np.ndarray, list[float]]:
    """Return encoded values for every cell, and the squared error on observed ones per epoch."""
    where = choose_device(device)
    standardizer = Standardizer.fit(encoded)
    cells = standardizer.apply(encoded).to(where)
    observed = torch.from_numpy(encoded.observed).to(where)
    n_rows, n_columns = cells.shape
    all_edges = _edges(cells, observed)
    losses: list[Tensor] = []
    with seeded(seed):
        order = torch.randperm(len(all_edges)).to(where)
        n_held_out = int(validation_share * len(all_edges))
        held_out, training = all_edges[order[:n_held_out]], all_edges[order[n_held_out:]]
        network = GraphNetwork(n_columns, width, layers).to(where)
        similar = SimilarRows(cells, n_similar_rows, width).to(where)
        best = BestNetwork(network, similar, patience)
        optimizer = adam(network.parameters(), learning_rate)
        while progress.done < progress.total and not best.is_old:
            if progress.done and progress.done % renew_every == 0:
                with torch.no_grad():
                    rows, _ = network.row_and_column_states(training, n_rows)
                similar.renew(rows, learning_rate, progress.check)
            kept = torch.rand(len(training)).to(where) < kept_share
            rows, columns = network.row_and_column_states(training[kept], n_rows)
            loss = mse_loss(network(rows, columns, similar, training), training.value)
            gradient_step(optimizer, loss)
            losses.append(loss.detach())
            progress.advance()
            if n_held_out and progress.done % EPOCHS_PER_CHECK == 0:
                predicted = _predict(network, similar, training, held_out, n_rows)
                best.consider(float(mse_loss(predicted, held_out.value)))
        network, similar = best.network_and_similar()
        missing = _edges(cells, ~observed)
        cells[~observed] = _predict(network, similar, all_edges, missing, n_rows)
    return standardizer.undo(cells, encoded), torch.stack(losses).tolist()


class BestNetwork:
    """Keeps the network and the similar rows that did best on held-out cells."""

    def __init__(self, network: GraphNetwork, similar: SimilarRows, patience: int) -> None:
        self.current = (network, similar)
        self.patience = patience
        self.best: tuple[GraphNetwork, SimilarRows] | None = None
        self.error = float("inf")
        self.checks_since = 0

    def consider(self, error: float) -> None:
        """Keep a copy if this is the smallest error so far."""
        self.checks_since += 1
        if error < self.error:
            self.error, self.checks_since = error, 0
            self.best = copy.deepcopy(self.current)

    @property
    def is_old(self) -> bool:
        """Whether the best is ``patience`` checks ago."""
        return self.checks_since >= self.patience

    def network_and_similar(self) -> tuple[GraphNetwork, SimilarRows]:
        """Return the best, or the newest where there were no checks."""
        return self.best or self.current


def _edges(cells: Tensor, which: Tensor) -> Edges:
    row, column = which.nonzero(as_tuple=True)
    return Edges(row, column, cells[which])


@torch.no_grad()
def _predict(
    network: GraphNetwork, similar: SimilarRows, known: Edges, cells: Edges, n_rows: int
) -> Tensor:
    rows, columns = network.row_and_column_states(known, n_rows)
    predicted: Tensor = network(rows, columns, similar, cells)
    return predicted

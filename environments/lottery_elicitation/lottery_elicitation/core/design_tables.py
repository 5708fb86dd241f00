"""The tables that Bayesian design works from: candidates, answers, and what estimates earn, on one grid."""

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import holt_laury
from .candidates import candidate_pairs
from .lotteries import Pair
from .posterior import ParameterGrid, parameter_grid
from .ranges import FULL_SCALES, Range, Scales
from .respondent import ChoiceNoise, probabilities_on_grid
from .scoring import SUCCESS_FRACTION, Weights
from .settings import PriorName

_Array = NDArray[np.float64]


class Problem(NamedTuple):
    """What a design depends on: where the parameters may lie, how answers err, what is rewarded."""

    gamma: Range
    loss_aversion: Range
    outcome_bounds: Range
    noise: ChoiceNoise
    weights: Weights
    max_turns: int
    min_turns: int = 1
    prior: PriorName = "uniform"
    scales: Scales = FULL_SCALES


@dataclass(frozen=True, eq=False)
class Design:
    """Tables of one problem: candidates (c), grid cells (g, l), Holt-Laury rows (r), estimates considered (e).

    Candidates come in three blocks, in this order: those whose answer depends on gamma alone, on loss aversion alone
    (both are scored from marginal beliefs), and on both.
    """

    problem: Problem
    grid: ParameterGrid
    pairs: tuple[Pair, ...]
    probability_of_a: _Array  # (c, g, l)
    gamma_block: _Array  # (c1, g)
    lambda_block: _Array  # (c2, l)
    joint_block: NDArray[np.float32]  # (c3, g * l)
    gammas: _Array  # (g,) over the scale of the mse
    loss_aversions: _Array  # (l,) over the scale of the mse
    features: _Array  # (g * l, 3 + r): one, gamma, loss aversion, rows
    rows: _Array  # (g, r): share of a cell that lies in each Holt-Laury row
    intervals: holt_laury.CurvatureIntervals
    gamma_estimates: _Array  # (e,)
    lambda_estimates: _Array  # (e',)
    gamma_window: _Array  # (e, g): share of a cell within the success tolerance of an estimate
    lambda_window: _Array  # (e', l)
    gamma_payoff: _Array  # (e, g): what an estimate expects of mse and hl_accuracy where the truth lies in a cell
    lambda_payoff: _Array  # (e', l): the same of loss aversion's share in mse


@lru_cache(maxsize=64)
def build_design(problem: Problem) -> Design:
    """The tables of a problem: some ten milliseconds."""
    grid = parameter_grid(problem.gamma, problem.loss_aversion, problem.prior)
    tabled = [
        (pair, probabilities_on_grid(pair, grid.gammas, grid.loss_aversions, problem.noise))
        for pair in candidate_pairs(grid, problem.outcome_bounds, is_noisy=problem.noise.scale > 0)
    ]
    blocks = [[item for item in tabled if _block(item[1]) == block] for block in range(3)]
    tables = np.stack([table for block in blocks for _, table in block])
    first_lambda, first_joint = len(blocks[0]), len(blocks[0]) + len(blocks[1])
    intervals = holt_laury.curvature_intervals(*problem.gamma)
    rows = _overlap_shares(_edges(problem.gamma, grid.gammas), intervals.edges)
    gammas, loss_aversions = grid.gammas / problem.scales.gamma, grid.loss_aversions / problem.scales.loss_aversion
    gamma_estimates = _lattice(problem.gamma, len(grid.gammas))
    lambda_estimates = _lattice(problem.loss_aversion, len(grid.loss_aversions))
    estimate_rows = np.searchsorted(intervals.edges[1:-1], gamma_estimates)
    disagreements = np.abs(intervals.num_safe[estimate_rows][:, None] - intervals.num_safe)
    accuracy = (1 - disagreements / holt_laury.NUM_PAIRS) @ rows.T
    gamma_error = _expected_error(problem.gamma, grid.gammas, gamma_estimates) / problem.scales.gamma**2
    lambda_error = _expected_error(problem.loss_aversion, grid.loss_aversions, lambda_estimates)
    weights = problem.weights
    return Design(
        problem=problem,
        grid=grid,
        pairs=tuple(pair for block in blocks for pair, _ in block),
        probability_of_a=tables,
        gamma_block=tables[:first_lambda, :, 0],
        lambda_block=tables[first_lambda:first_joint, 0, :],
        joint_block=tables[first_joint:].reshape(-1, grid.prior.size).astype(np.float32),
        gammas=gammas,
        loss_aversions=loss_aversions,
        features=_features(gammas, loss_aversions, rows),
        rows=rows,
        intervals=intervals,
        gamma_estimates=gamma_estimates,
        lambda_estimates=lambda_estimates,
        gamma_window=_window(problem.gamma, grid.gammas, gamma_estimates, SUCCESS_FRACTION * problem.scales.gamma),
        lambda_window=_window(
            problem.loss_aversion,
            grid.loss_aversions,
            lambda_estimates,
            SUCCESS_FRACTION * problem.scales.loss_aversion,
        ),
        gamma_payoff=weights.hl_accuracy * accuracy - weights.mse * gamma_error,
        lambda_payoff=-weights.mse * lambda_error / problem.scales.loss_aversion**2,
    )


def _block(table: _Array) -> int:
    """0 for a table that depends on gamma alone, 1 on loss aversion alone, 2 on both."""
    if np.allclose(table, table[:, :1], rtol=0, atol=1e-12):
        return 0
    return 1 if np.allclose(table, table[:1], rtol=0, atol=1e-12) else 2


def _features(gammas: _Array, loss_aversions: _Array, rows: _Array) -> _Array:
    gamma, loss_aversion = np.meshgrid(gammas, loss_aversions, indexing="ij")
    columns = [np.ones(gamma.size), gamma.ravel(), loss_aversion.ravel()]
    return np.column_stack([*columns, np.repeat(rows, len(loss_aversions), axis=0)])


def _edges(support: Range, cells: _Array) -> _Array:
    return np.linspace(*support, len(cells) + 1)


def _lattice(support: Range, num_cells: int) -> _Array:
    """Edges and middles of the cells."""
    return np.linspace(*support, 2 * num_cells + 1) if support.width else np.array([support.low])


def _expected_error(support: Range, cells: _Array, estimates: _Array) -> _Array:
    """Expected squared error of each estimate for a truth uniform in each cell: (estimates, cells)."""
    return np.asarray((estimates[:, None] - cells) ** 2 + (support.width / len(cells)) ** 2 / 12)


def _overlap_shares(edges: _Array, intervals: _Array) -> _Array:
    """Share of each cell that each interval covers: (cells, intervals)."""
    inside = np.clip(intervals[None, :], edges[:-1, None], edges[1:, None])
    return np.asarray(np.diff(inside, axis=1) / np.diff(edges)[:, None])


def _window(support: Range, cells: _Array, estimates: _Array, tolerance: float) -> _Array:
    if support.width == 0:
        return np.ones((1, 1))
    edges = _edges(support, cells)
    low = np.maximum(estimates[:, None] - tolerance, edges[:-1])
    high = np.minimum(estimates[:, None] + tolerance, edges[1:])
    return np.asarray(np.clip(high - low, 0, None) / np.diff(edges))

"""Bayesian optimal design on a grid posterior: ask the pair that most raises the expected reward, stop when none pays its turn.

The candidates are analytic. (x, p; 0) against a sure c splits respondents at gamma = ln p / ln(c / x), whatever their loss
aversion; (x, p; -x) against 0 splits them at loss aversion = p / (1 - p), whatever their gamma. Under noise p = 1/e is the
steepest split of gamma, and (x, 1/2; -y) against 0 a steeper one of loss aversion than (x, p; -x), at a place that depends on gamma.
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import holt_laury
from .actions import Estimate
from .lotteries import Choice, Pair, lottery, sure
from .posterior import ParameterGrid, parameter_grid, updated
from .respondent import ChoiceNoise, probabilities_on_grid
from .settings import SUCCESS_FRACTION, PriorName, Range, Scales, Weights

CELLS = 40
_STEEPEST = math.exp(-1)
_EVEN_LOSSES = (0.04, 1.0, 8)
"""Losses of the even-odds gambles, as shares of the stake: lowest, highest, number (geometric)."""
_MIXED_PROBABILITIES = (0.3, 0.4, 0.5, 0.6)
_MIXED_LOSSES = (0.1, 0.3)
"""Shares of the largest amount that can be lost."""
_SURE_GAINS = (0.1, 0.2, 0.4)
"""Shares of the largest gain."""
_LEAST_MASS = 1e-9
"""An answer less likely than this teaches nothing worth counting."""

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
    scales: Scales = Scales()


class Decision(NamedTuple):
    """The estimate that is best now; the pair to ask and its index, and whether to stop instead."""

    estimate: Estimate
    is_stop: bool
    pair: Pair
    candidate: int


@dataclass(frozen=True, eq=False)
class Design:
    """Tables of one problem: candidates (c), grid cells (g, l), Holt-Laury rows (r), estimates considered (e).

    Candidates come in three blocks, in this order: those whose answer depends on gamma alone, on loss aversion alone (both
    are scored from marginal beliefs), and on both.
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
    agreement: _Array  # (e, r): Holt-Laury accuracy of an estimate if the truth lies in a row


@lru_cache(maxsize=64)
def build_design(problem: Problem) -> Design:
    """The tables of a problem: some ten milliseconds."""
    grid = parameter_grid(problem.gamma, problem.loss_aversion, problem.prior, CELLS)
    tabled = [
        (pair, probabilities_on_grid(pair, grid.gammas, grid.loss_aversions, problem.noise))
        for pair in candidate_pairs(problem, grid)
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
            problem.loss_aversion, grid.loss_aversions, lambda_estimates, SUCCESS_FRACTION * problem.scales.loss_aversion
        ),
        agreement=1 - disagreements / holt_laury.NUM_PAIRS,
    )


def gamma_cut(threshold: float, stake: float, probability: float = _STEEPEST) -> Pair:
    """(stake, p; 0) against a sure amount: A is chosen iff gamma >= threshold."""
    return Pair(
        lottery((stake, probability), (0.0, 1 - probability)), sure(stake * probability ** (1 / threshold))
    )


def lambda_cut(threshold: float, stake: float) -> Pair:
    """(stake, p; -stake) against nothing: A is chosen iff loss aversion <= threshold."""
    probability = threshold / (1 + threshold)
    return Pair(lottery((stake, probability), (-stake, 1 - probability)), sure(0.0))


def stakes(outcome_bounds: Range) -> tuple[float, float]:
    """The largest gain, and the largest amount that can be both gained and lost, within bounds around 0."""
    return outcome_bounds.high, min(outcome_bounds.high, -outcome_bounds.low)


def candidate_pairs(problem: Problem, grid: ParameterGrid) -> tuple[Pair, ...]:
    """The pairs considered: cuts at the inner cell edges; under noise also mixed gambles against nothing or a sure gain."""
    gain, mixed = stakes(problem.outcome_bounds)
    pairs = [gamma_cut(float(edge), gain) for edge in _edges(problem.gamma, grid.gammas)[1:-1]]
    if problem.loss_aversion.width > 0:
        edges = _edges(problem.loss_aversion, grid.loss_aversions)[1:-1]
        pairs += [lambda_cut(float(edge), mixed) for edge in edges]
    if problem.noise.scale > 0:
        losses = mixed * np.geomspace(*_EVEN_LOSSES)
        pairs += [Pair(lottery((mixed, 0.5), (-float(loss), 0.5)), sure(0.0)) for loss in losses]
        for probability, loss, sure_gain in product(_MIXED_PROBABILITIES, _MIXED_LOSSES, _SURE_GAINS):
            gamble = lottery((gain, probability), (-loss * mixed, 1 - probability))
            pairs.append(Pair(gamble, sure(sure_gain * gain)))
    return tuple(pairs)


def _block(table: _Array) -> int:
    """0 for a table that depends on gamma alone, 1 on loss aversion alone, 2 on both."""
    if np.allclose(table, table[:, :1], rtol=0, atol=1e-12):
        return 0
    return 1 if np.allclose(table, table[:1], rtol=0, atol=1e-12) else 2


def decide(design: Design, belief: _Array, turn: int) -> Decision:
    """What to do at `turn` (from 1) with a belief (g, l)."""
    problem = design.problem
    value, estimate = value_of_stopping(design, belief)
    is_last = turn >= problem.max_turns
    scores = _expected_scores(design, belief)
    best = int(scores.argmax())
    pair = design.pairs[best]
    if turn < problem.min_turns:
        return Decision(estimate, is_last, pair, best)
    table = design.probability_of_a[best]
    chance = float((belief * table).sum())
    later = problem.weights.eff * -1 / problem.max_turns
    if not is_last:
        for choice, mass in (("A", chance), ("B", 1 - chance)):
            if mass > _LEAST_MASS:
                later += mass * value_of_stopping(design, updated(belief, table, choice))[0]
    return Decision(estimate, is_last or value >= later, pair, best)


def value_of_stopping(design: Design, belief: _Array) -> tuple[float, Estimate]:
    """The expected reward of committing now, without the efficiency term, and the estimate that earns it."""
    problem, grid = design.problem, design.grid
    gamma_belief, lambda_belief = belief.sum(axis=1), belief.sum(axis=0)
    gamma_mean, lambda_mean = gamma_belief @ grid.gammas, lambda_belief @ grid.loss_aversions
    gamma_spread = gamma_belief @ (grid.gammas - gamma_mean) ** 2 + _cell_variance(problem.gamma, grid.gammas)
    lambda_spread = lambda_belief @ (grid.loss_aversions - lambda_mean) ** 2 + _cell_variance(
        problem.loss_aversion, grid.loss_aversions
    )
    rows = gamma_belief @ design.rows
    weights = problem.weights
    by_gamma = weights.hl_accuracy * (design.agreement @ rows)
    by_gamma -= weights.mse * ((design.gamma_estimates - gamma_mean) ** 2 + gamma_spread) / problem.scales.gamma**2
    by_lambda = ((design.lambda_estimates - lambda_mean) ** 2 + lambda_spread) * (-weights.mse / problem.scales.loss_aversion**2)
    if weights.success5 == 0:
        g, j = int(by_gamma.argmax()), int(by_lambda.argmax())
        return float(by_gamma[g] + by_lambda[j]), Estimate(float(design.gamma_estimates[g]), float(design.lambda_estimates[j]))
    total = weights.success5 * (design.gamma_window @ belief @ design.lambda_window.T)
    total += by_gamma[:, None] + by_lambda
    g, j = np.unravel_index(int(total.argmax()), total.shape)
    return float(total[g, j]), Estimate(float(design.gamma_estimates[g]), float(design.lambda_estimates[j]))


def _expected_scores(design: Design, belief: _Array) -> _Array:
    """By candidate, the expected value of mse and hl_accuracy after its answer, up to a constant: (c,)."""
    gammas, loss_aversions, rows = design.gammas, design.loss_aversions, design.rows
    gamma_belief, lambda_belief = belief.sum(axis=1), belief.sum(axis=0)
    by_gamma = np.column_stack(
        [gamma_belief, gamma_belief * gammas, belief @ loss_aversions, gamma_belief[:, None] * rows]
    )
    by_lambda = np.column_stack([lambda_belief, gammas @ belief, lambda_belief * loss_aversions, belief.T @ rows])
    if_a = [design.gamma_block @ by_gamma, design.lambda_block @ by_lambda]
    if len(design.joint_block):
        if_a.append(design.joint_block @ (belief.reshape(-1, 1) * design.features).astype(np.float32))
    sums = np.concatenate(if_a)
    return _branch_scores(design, sums) + _branch_scores(design, by_gamma.sum(axis=0) - sums)


def _branch_scores(design: Design, sums: _Array) -> _Array:
    """One answer's probability times its value, from sums of features over the cells that give it: (c, 3 + r) -> (c,)."""
    weights, scale = design.problem.weights, design.problem.scales.gamma
    mass = np.maximum(sums[:, 0], _LEAST_MASS)
    gamma_mean, lambda_mean = sums[:, 1] / mass, sums[:, 2] / mass
    estimates = holt_laury.estimates_per_interval(design.intervals, gamma_mean * scale) / scale
    accuracies = holt_laury.expected_accuracies(design.intervals, sums[:, 3:] / mass[:, None])
    by_row = weights.hl_accuracy * accuracies - weights.mse * (estimates - gamma_mean[:, None]) ** 2
    return mass * (weights.mse * (gamma_mean**2 + lambda_mean**2) + by_row.max(axis=1))


def _features(gammas: _Array, loss_aversions: _Array, rows: _Array) -> _Array:
    gamma, loss_aversion = np.meshgrid(gammas, loss_aversions, indexing="ij")
    columns = [np.ones(gamma.size), gamma.ravel(), loss_aversion.ravel()]
    return np.column_stack([*columns, np.repeat(rows, len(loss_aversions), axis=0)])


def _edges(support: Range, cells: _Array) -> _Array:
    return np.linspace(*support, len(cells) + 1)


def _lattice(support: Range, num_cells: int) -> _Array:
    """Edges and middles of the cells."""
    return np.linspace(*support, 2 * num_cells + 1) if support.width else np.array([support.low])


def _cell_variance(support: Range, cells: _Array) -> float:
    return (support.width / len(cells)) ** 2 / 12


def _overlap_shares(edges: _Array, intervals: _Array) -> _Array:
    """Share of each cell that each interval covers: (cells, intervals)."""
    inside = np.clip(intervals[None, :], edges[:-1, None], edges[1:, None])
    return np.asarray(np.diff(inside, axis=1) / np.diff(edges)[:, None])


def _window(support: Range, cells: _Array, estimates: _Array, tolerance: float) -> _Array:
    if support.width == 0:
        return np.ones((1, 1))
    edges = _edges(support, cells)
    low, high = np.maximum(estimates[:, None] - tolerance, edges[:-1]), np.minimum(estimates[:, None] + tolerance, edges[1:])
    return np.clip(high - low, 0, None) / np.diff(edges)

"""What it is worth to stop: the exact value of committing in every state of knowledge the dynamic programme knows."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import holt_laury
from .ranges import FULL_SCALES, Range, Scales
from .scoring import SUCCESS_FRACTION, Weights

_Values = NDArray[np.float64]


@dataclass(frozen=True)
class Game:
    """What the dynamic programme needs to know: uniform boxes, scales of the mse, weights, and the turns allowed."""

    gamma: Range
    loss_aversion: Range
    weights: Weights
    scales: Scales = FULL_SCALES
    max_turns: int = 10
    min_turns: int = 1


class Resolution(NamedTuple):
    """Cells of each axis; where loss aversion is known, `gamma_only` cells."""

    gamma: int
    loss_aversion: int
    gamma_only: int


FINE = Resolution(gamma=80, loss_aversion=40, gamma_only=160)
FAST = Resolution(gamma=24, loss_aversion=16, gamma_only=64)


class StateGrid(NamedTuple):
    """Cut points of gamma (n + 1,), ascending widths of loss aversion (k,), and what stopping is worth."""

    knots: _Values
    widths: _Values
    stop_value: _Values
    """(n + 1, n + 1, k) by interval ends: reward without the efficiency term, -inf where there is no interval."""
    stop_gamma: _Values
    """(n + 1, n + 1, k): the curvature to commit."""


def state_grid(game: Game, resolution: Resolution) -> StateGrid:
    is_lambda_known = game.loss_aversion.width == 0
    num_cells = resolution.gamma_only if is_lambda_known else resolution.gamma
    intervals = holt_laury.curvature_intervals(*game.gamma)
    knots = np.union1d(np.linspace(*game.gamma, num_cells + 1), intervals.edges)
    cells = resolution.loss_aversion
    shares = np.zeros(1) if is_lambda_known else np.arange(1, cells + 1) / cells
    widths = shares * game.loss_aversion.width
    first, last = np.triu_indices(len(knots), 1)
    value, gamma = _stop_values(game, intervals, knots[first], knots[last], widths)
    stop_value = np.full((len(knots), len(knots), len(widths)), -np.inf)
    stop_gamma = np.full_like(stop_value, np.nan)
    stop_value[first, last], stop_gamma[first, last] = value, gamma
    return StateGrid(knots, widths, stop_value, stop_gamma)


def _stop_values(
    game: Game, intervals: holt_laury.CurvatureIntervals, low: _Values, high: _Values, widths: _Values
) -> tuple[_Values, _Values]:
    """Best expected reward of committing now, and the curvature that earns it: two arrays (intervals, widths).

    Within one Holt-Laury row squared error and success are both symmetric about the middle of the interval and fall
    away from it, so the best estimate of a row is its point nearest to the middle.
    """
    length, middle = (high - low)[:, None], (low + high) / 2
    edges = np.clip(intervals.edges[None, :], low[:, None], high[:, None])
    accuracies = holt_laury.expected_accuracies(intervals, np.diff(edges, axis=1) / length)
    estimates = holt_laury.estimates_per_interval(intervals, middle)
    tolerance = SUCCESS_FRACTION * game.scales.gamma
    covered = np.minimum(estimates + tolerance, high[:, None]) - np.maximum(estimates - tolerance, low[:, None])
    gamma_success = np.clip(covered / length, 0, 1)
    lambda_tolerance = SUCCESS_FRACTION * game.scales.loss_aversion
    lambda_success = 2 * lambda_tolerance / np.maximum(widths, 2 * lambda_tolerance)
    error = (length**2 / 12 + (estimates - middle[:, None]) ** 2) / game.scales.gamma**2
    weights = game.weights
    value = (weights.hl_accuracy * accuracies - weights.mse * error)[:, :, None]
    value = value + weights.success5 * gamma_success[:, :, None] * lambda_success
    best = value.argmax(axis=1)
    gamma = np.take_along_axis(estimates, best, axis=1)
    return value.max(axis=1) - weights.mse * (widths / game.scales.loss_aversion) ** 2 / 12, gamma


def efficiency(game: Game, answers: int) -> float:
    return game.weights.eff * (game.max_turns - answers - 1) / game.max_turns

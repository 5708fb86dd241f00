"""Bayesian optimal design on a grid posterior: ask what most raises the expected reward, stop when nothing pays."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import holt_laury
from .actions import Estimate
from .design_tables import Design
from .lotteries import Choice, Pair
from .posterior import updated

_LEAST_MASS = 1e-9
"""An answer less likely than this teaches nothing worth counting."""

_Array = NDArray[np.float64]


class Decision(NamedTuple):
    """The estimate that is best now; the pair to ask and its index, and whether to stop instead."""

    estimate: Estimate
    is_stop: bool
    pair: Pair
    candidate: int


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
    later = -problem.weights.eff / problem.max_turns
    answers: tuple[tuple[Choice, float], ...] = (("A", chance), ("B", 1 - chance))
    for choice, mass in answers if not is_last else ():
        if mass > _LEAST_MASS:
            later += mass * value_of_stopping(design, updated(belief, table, choice))[0]
    return Decision(estimate, is_last or value >= later, pair, best)


def value_of_stopping(design: Design, belief: _Array) -> tuple[float, Estimate]:
    """The expected reward of committing now, without the efficiency term, and the estimate that earns it."""
    by_gamma = design.gamma_payoff @ belief.sum(axis=1)
    by_lambda = design.lambda_payoff @ belief.sum(axis=0)
    if design.problem.weights.success5 == 0:
        at_gamma, at_lambda = int(by_gamma.argmax()), int(by_lambda.argmax())
        value = float(by_gamma[at_gamma] + by_lambda[at_lambda])
    else:
        total = design.gamma_window @ belief @ design.lambda_window.T
        total *= design.problem.weights.success5
        total += by_gamma[:, None] + by_lambda
        at_gamma, at_lambda = divmod(int(total.argmax()), len(by_lambda))
        value = float(total[at_gamma, at_lambda])
    return value, Estimate(float(design.gamma_estimates[at_gamma]), float(design.lambda_estimates[at_lambda]))


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
    scores = _branch_scores(design, np.concatenate([sums, by_gamma.sum(axis=0) - sums]))
    return scores[: len(sums)] + scores[len(sums) :]


def _branch_scores(design: Design, sums: _Array) -> _Array:
    """An answer's probability times its value, from features summed over the cells that give it: (b, 3 + r) -> (b,)."""
    weights, scale = design.problem.weights, design.problem.scales.gamma
    mass = np.maximum(sums[:, 0], _LEAST_MASS)
    gamma_mean, lambda_mean = sums[:, 1] / mass, sums[:, 2] / mass
    estimates = holt_laury.estimates_per_interval(design.intervals, gamma_mean * scale) / scale
    accuracies = holt_laury.expected_accuracies(design.intervals, sums[:, 3:] / mass[:, None])
    by_row = weights.hl_accuracy * accuracies - weights.mse * (estimates - gamma_mean[:, None]) ** 2
    return np.asarray(mass * (weights.mse * (gamma_mean**2 + lambda_mean**2) + by_row.max(axis=1)))

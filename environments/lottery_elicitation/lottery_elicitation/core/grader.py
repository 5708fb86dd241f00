"""One pure grade of an episode: every reward and every metric is a field of it."""

import math
from dataclasses import dataclass, fields
from importlib import metadata
from itertools import pairwise

from .._envkit.fingerprint import source_digest, text_digest
from . import holt_laury
from .actions import Malformed, Proposal
from .bounds import reward_bounds
from .posterior import ParameterGrid, entropy_bits, expected_loss, parameter_grid, posterior
from .prompts import SYSTEM_TEMPLATE
from .scoring import NO_ESTIMATE_REWARD, PRESETS, SHAPING_WEIGHT, SUCCESS_FRACTION, RewardName, Weights
from .simulator import State, choice_noise, clipped

_LEAST_SPAN = 1e-9
"""Where adaptive play can gain less than this (a single turn), skill is 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grade:
    """Every reward and metric of one episode; all are plain finite floats."""

    reward: float
    """The selected training signal (with the format term, if any)."""
    robust: float
    """3 mse + 0.25 hl_accuracy + 0.02 eff + 0.5 success5."""
    published: float
    """mse + 0.5 hl_accuracy + 0.1 eff: hackable by guessing and quitting."""
    mse: float
    """-(gamma_nmse + lambda_nmse); -2 without an estimate."""
    hl_accuracy: float
    """Share of the ten Holt-Laury pairs on which the estimate and the truth choose alike; 0 without an estimate."""
    robust_shaped: float
    """robust + the drop of the posterior expected loss of the best estimate so far, from before turn 1 to the end."""
    gamma_nmse: float
    """((estimate - truth) / width of the gamma range)^2; 1 without an estimate."""
    lambda_nmse: float
    """((estimate - truth) / width of the lambda range)^2; 1 without an estimate."""
    eff: float
    """Unused turns / max_turns."""
    success5: float
    """1 if both estimates are within 5 % of their full range, else 0."""
    information_bits: float
    """Entropy of the grid prior minus that of the posterior after every choice the estimate could use."""
    num_turns: float
    malformed_fraction: float
    """Share of turns that did not parse (0 where no turn was taken)."""
    format_score: float
    """Share of turns that parsed (0 where no turn was taken)."""
    terminated_early: float
    """1 if the agent stopped before its last turn."""
    skill: float
    """(R - R_constant) / (R_ceiling - R_constant) of the selected signal: 0 is the best constant, 1 the optimum."""


METRICS = tuple(field.name for field in fields(Grade) if field.name != "reward")


def grade(state: State) -> Grade:
    """Grade an episode. One that has not ended is graded as ended without an estimate."""
    settings = state.settings
    parts = _Parts(state)
    robust, published = parts.reward("robust"), parts.reward("published")
    shaped_terminal = parts.reward("robust_shaped")
    has_estimate = state.estimate is not None
    shaping = SHAPING_WEIGHT * sum(potential_drops(state)) if has_estimate else 0.0
    signals: dict[RewardName, float] = {
        "robust": robust,
        "published": published,
        "mse": parts.reward("mse"),
        "hl_accuracy": parts.reward("hl_accuracy"),
        "robust_shaped": shaped_terminal + shaping,
    }
    terminal = shaped_terminal if settings.reward == "robust_shaped" else signals[settings.reward]
    num_malformed = sum(isinstance(turn.action, Malformed) for turn in state.turns)
    format_score = (state.num_turns - num_malformed) / state.num_turns if state.turns else 0.0
    bonus = settings.format_weight * format_score if has_estimate else 0.0
    return Grade(
        reward=signals[settings.reward] + bonus,
        robust=robust,
        published=published,
        mse=parts.mse,
        hl_accuracy=parts.hl_accuracy,
        robust_shaped=signals["robust_shaped"],
        gamma_nmse=parts.gamma_nmse,
        lambda_nmse=parts.lambda_nmse,
        eff=parts.eff,
        success5=parts.success5,
        information_bits=information_bits(state),
        num_turns=float(state.num_turns),
        malformed_fraction=1 - format_score if state.turns else 0.0,
        format_score=format_score,
        terminated_early=float(state.terminated_early),
        skill=_skill(state, terminal),
    )


class _Parts:
    """The terms of the terminal reward."""

    def __init__(self, state: State) -> None:
        settings, truth, estimate = state.settings, state.world.preferences, state.estimate
        self._settings = settings
        self._has_estimate = estimate is not None
        self.eff = max(0, settings.max_turns - state.num_turns) / settings.max_turns
        self.gamma_nmse = self.lambda_nmse = 1.0
        self.hl_accuracy = self.success5 = 0.0
        if estimate is not None:
            gamma_error = abs(estimate.gamma - truth.gamma) / settings.scales.gamma
            lambda_error = abs(estimate.loss_aversion - truth.loss_aversion) / settings.scales.loss_aversion
            self.gamma_nmse, self.lambda_nmse = gamma_error**2, lambda_error**2
            self.hl_accuracy = holt_laury.accuracy(estimate.gamma, truth.gamma)
            self.success5 = float(max(gamma_error, lambda_error) <= SUCCESS_FRACTION)

    @property
    def mse(self) -> float:
        return -(self.gamma_nmse + self.lambda_nmse)

    def reward(self, name: RewardName) -> float:
        """The terminal reward of a signal, without shaping. Without an estimate it is -2 (0 for hl_accuracy)."""
        if not self._has_estimate:
            return self.hl_accuracy if name == "hl_accuracy" else NO_ESTIMATE_REWARD
        weights = self._settings.weights_of(name)
        terms = Weights(self.mse, self.hl_accuracy, self.eff, self.success5)
        return math.fsum(weight * term for weight, term in zip(weights, terms, strict=True))


def episode_reward(state: State, name: RewardName) -> float:
    """The terminal reward of one signal, without shaping and format term: much quicker than a whole grade."""
    return _Parts(state).reward(name)


def potential_drops(state: State) -> list[float]:
    """By turn, the drop of the posterior expected loss (normalised squared error) of the standing estimate.

    The estimate standing at first is the prior mean; a turn replaces it by the one it gives. Turn k knows the choices
    of turns before k. The drops telescope to (loss of the prior mean under the prior) - (loss of the last estimate
    under the last posterior); for an estimate that ignores the choices this is zero on average, whatever was asked.
    """
    grid = _grid(state)
    scales = state.settings.scales
    standing = state.world.gamma_range.middle, state.world.lambda_support.middle
    losses = [expected_loss(grid, grid.prior, standing, scales)]
    belief = grid.prior
    for turn in state.turns:
        if isinstance(turn.action, Proposal) and turn.action.estimate is not None:
            standing = clipped(state.world, turn.action.estimate)
        losses.append(expected_loss(grid, belief, standing, scales))
        if isinstance(turn.action, Proposal) and turn.action.pair is not None and turn.choice is not None:
            belief = posterior(grid, [(turn.action.pair, turn.choice)], choice_noise(state.settings), belief)
    return [before - after for before, after in pairwise(losses)]


def information_bits(state: State) -> float:
    """Entropy lost, on the grid, by the choices that the ending turn could use (all choices while the episode runs)."""
    grid = _grid(state)
    is_last_choice_unused = state.is_over and bool(state.turns) and state.turns[-1].choice is not None
    answers = state.answers[:-1] if is_last_choice_unused else state.answers
    return entropy_bits(grid.prior) - entropy_bits(posterior(grid, answers, choice_noise(state.settings)))


def _grid(state: State) -> ParameterGrid:
    return parameter_grid(state.world.gamma_range, state.world.lambda_support, state.settings.prior)


def _skill(state: State, reward: float) -> float:
    bounds = reward_bounds(state.settings, state.world)
    span = bounds.ceiling - bounds.constant
    return (reward - bounds.constant) / span if span > _LEAST_SPAN else 0.0


def grader_fingerprint() -> dict[str, object]:
    """What identifies this grader: formulas, weights, wording, source and version."""
    package = __name__.partition(".")[0]
    modules = (
        "ranges scoring settings lotteries respondent holt_laury actions generator simulator "
        "prompts posterior stopping programme bounds bounds_table grader"
    )
    return {
        "environment": "lottery-elicitation",
        "version": metadata.version("lottery-elicitation"),
        "weights": {name: weights._asdict() for name, weights in PRESETS.items()},
        "shaping_weight": SHAPING_WEIGHT,
        "no_estimate_reward": NO_ESTIMATE_REWARD,
        "success_fraction": SUCCESS_FRACTION,
        "extractor": "last-json-object",
        "template_sha256": text_digest(SYSTEM_TEMPLATE),
        "source_sha256": source_digest(
            f"{package}._envkit.reply", *(f"{package}.core.{module}" for module in modules.split())
        ),
    }

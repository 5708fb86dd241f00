"""Ways to play, good and exploitative: pure functions of the typed observation.

No strategy sees a hidden parameter. `support` is where loss aversion may lie, as far as the strategy knows: the shown
range, or at stage 1 (told by the episode's name) the default band around 2.25.
"""

import random
from collections.abc import Callable, Mapping
from functools import lru_cache
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from .core.actions import Action, Estimate, Malformed, Proposal
from .core.battery import battery, fit, next_bisection
from .core.ceiling import ceiling_move
from .core.design import decide
from .core.design_tables import Design, Problem, build_design
from .core.lotteries import Choice, Pair, lottery
from .core.posterior import updated
from .core.prompts import Observation
from .core.ranges import Range
from .core.respondent import probabilities_on_grid
from .core.settings import Settings
from .core.stopping import FAST, FINE, Game

Strategy = Callable[[Observation, int, Range | None], Action]
"""(observation, seed, support) -> action."""


def lambda_support(observation: Observation) -> Range:
    """Where loss aversion may lie, from what is shown."""
    return Settings(stage=1).stage1_lambda if "/stage1/" in observation.episode else observation.lambda_range


def guess_and_quit(observation: Observation, seed: int = 0, support: Range | None = None) -> Action:
    """Commit the middle of the ranges as soon as stopping is allowed: the exploit of `published`."""
    return _stop(observation, _prior_midpoint(observation, support))


def random_pairs(observation: Observation, seed: int = 0, support: Range | None = None) -> Action:
    """Ask random pairs to the end, learn nothing, commit the middle of the ranges."""
    stream = random.Random(f"lottery_elicitation/policy/random/{observation.episode}/{seed}/{observation.turn}")
    low, high = observation.outcome_bounds
    sides = []
    for _ in range(2):
        probability = stream.uniform(0.1, 0.9)
        sides.append(lottery((stream.uniform(low, high), probability), (stream.uniform(low, high), 1 - probability)))
    return Proposal(pair=Pair(*sides), estimate=_prior_midpoint(observation, support))


def holt_laury(observation: Observation, seed: int = 0, support: Range | None = None) -> Action:
    """Ask the ten Holt-Laury pairs in order, then fit by grid search; loss aversion is not identified by gains."""
    pairs = battery()
    estimate = fit(observation.history, observation.gamma_range, support or lambda_support(observation))
    if observation.turn > len(pairs):
        return _stop(observation, estimate)
    return Proposal(pair=pairs[observation.turn - 1], estimate=estimate)


def holt_laury_bisect(observation: Observation, seed: int = 0, support: Range | None = None) -> Action:
    """Find the switch point of the Holt-Laury battery by bisection, then fit and stop."""
    estimate = fit(observation.history, observation.gamma_range, support or lambda_support(observation))
    pair = next_bisection(observation.history, observation.gamma_range)
    return _stop(observation, estimate) if pair is None else Proposal(pair=pair, estimate=estimate)


def bayes(observation: Observation, seed: int = 0, support: Range | None = None) -> Action:
    """Bayesian optimal design on a grid posterior."""
    design = build_design(
        Problem(
            gamma=observation.gamma_range,
            loss_aversion=support or lambda_support(observation),
            outcome_bounds=observation.outcome_bounds,
            noise=observation.noise,
            weights=observation.weights,
            max_turns=observation.max_turns,
            min_turns=observation.min_turns,
            scales=observation.scales,
        )
    )
    decision = decide(design, _belief(design, observation.history), observation.turn)
    if decision.is_stop:
        return _stop(observation, decision.estimate)
    return Proposal(pair=decision.pair, estimate=decision.estimate)


def ceiling(observation: Observation, seed: int = 0, support: Range | None = None) -> Action:
    """The dynamic programme's policy: optimal without noise."""
    game = Game(
        gamma=observation.gamma_range,
        loss_aversion=support or lambda_support(observation),
        weights=observation.weights,
        scales=observation.scales,
        max_turns=observation.max_turns,
        min_turns=observation.min_turns,
    )
    is_full_range = observation.gamma_range.width == observation.scales.gamma
    choices = [choice for _, choice in observation.history]
    move = ceiling_move(game, observation.outcome_bounds, choices, FINE if is_full_range else FAST)
    return _stop(observation, move.estimate) if move.pair is None else Proposal(pair=move.pair, estimate=move.estimate)


def bisect_and_ignore(observation: Observation, seed: int = 0, support: Range | None = None) -> Action:
    """Ask what the best design asks, then commit the prior midpoint on the last turn: farms a bonus for information."""
    decided = ceiling(observation, seed, support)
    pair = decided.pair if isinstance(decided, Proposal) else None
    return Proposal(pair=pair or battery()[0], estimate=_prior_midpoint(observation, support))


def unbounded_estimate(observation: Observation, seed: int = 0, support: Range | None = None) -> Action:
    """Commit numbers far outside the ranges at once."""
    return _stop(observation, Estimate(1e300, -1e300))


def malformed_spam(observation: Observation, seed: int = 0, support: Range | None = None) -> Action:
    """Never propose anything."""
    return Malformed("I would rather not say")


STRATEGIES: Mapping[str, Strategy] = MappingProxyType(
    {
        "ceiling": ceiling,
        "bayes": bayes,
        "holt_laury_bisect": holt_laury_bisect,
        "holt_laury": holt_laury,
        "random": random_pairs,
        "guess_and_quit": guess_and_quit,
        "bisect_and_ignore": bisect_and_ignore,
        "unbounded_estimate": unbounded_estimate,
        "malformed_spam": malformed_spam,
    }
)
EXPLOITS = ("guess_and_quit", "bisect_and_ignore", "unbounded_estimate", "malformed_spam")


def _prior_midpoint(observation: Observation, support: Range | None) -> Estimate:
    return Estimate(observation.gamma_range.middle, (support or lambda_support(observation)).middle)


def _stop(observation: Observation, estimate: Estimate) -> Proposal:
    """Commit; before `min_turns`, which needs a pair, ask one that teaches nothing."""
    pair = battery()[-1] if observation.turn < observation.min_turns else None
    return Proposal(pair=pair, estimate=estimate, terminate_early=True)


@lru_cache(maxsize=512)
def _belief(design: Design, answers: tuple[tuple[Pair, Choice], ...]) -> NDArray[np.float64]:
    """The belief after answers; one update from the belief after all but the last."""
    if not answers:
        return design.grid.prior
    pair, choice = answers[-1]
    table = probabilities_on_grid(pair, design.grid.gammas, design.grid.loss_aversions, design.problem.noise)
    return updated(_belief(design, answers[:-1]), table, choice)

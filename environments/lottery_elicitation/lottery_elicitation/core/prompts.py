"""What the agent reads: the system prompt, and an observation before every turn."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .._envkit.reply import Fault, last_json_object
from .actions import Malformed, Proposal, read_action
from .lotteries import Choice, Pair
from .ranges import Range, Scales
from .respondent import ChoiceNoise
from .scoring import SUCCESS_FRACTION, Weights
from .settings import Settings
from .simulator import State, choice_noise

SYSTEM_TEMPLATE = """\
You study how one person decides under risk. Two numbers describe the person and are hidden from you:
- gamma, the curvature of utility: a gain x is worth x^gamma;
- lambda, loss aversion: a loss of x is worth -lambda * x^gamma.
Shown two lotteries, A and B, the person computes the expected utility of each, the sum of probability times worth, \
and takes A if it is at least as good as B, otherwise B.{noise}

Each turn you propose two lotteries and learn the choice. You have {max_turns} turns in all; when you stop, you commit \
an estimate of gamma and lambda. The choice of your final turn comes too late to inform that estimate.

Reply with one JSON object per turn, for example:
{{"lottery_a": {{"outcomes": [{{"value": 50, "probability": 0.5}}, {{"value": -20, "probability": 0.5}}]}}, \
"lottery_b": {{"outcomes": [{{"value": 10, "probability": 0.9}}, {{"value": 0, "probability": 0.1}}]}}, \
"theta_estimate": {{"gamma": 0.8, "lambda": 2.2}}, "terminate_early": false}}
- A lottery has 2 or 3 outcomes. Values must respect outcome_bounds; probabilities must sum to 1.
- "terminate_early": true ends the episode{from_turn}; the lotteries may then be left out. The last turn always ends it.
- Only the theta_estimate of the turn that ends the episode counts. Ending without one scores -2.
- A reply that breaks these rules costs its turn and changes nothing else.

Your score is {score}, where
- mse = -(((gamma estimate - gamma) / {gamma_width:g})^2 + ((lambda estimate - lambda) / {lambda_width:g})^2);
- hl_accuracy is the share of ten standard gain-only pairs on which your estimate and the person choose alike;
- eff is the share of turns left unused;
- success5 is 1 if both estimates are within {gamma_tolerance:g} and {lambda_tolerance:g} of the truth, else 0."""


def system_prompt(settings: Settings) -> str:
    """The rules and the scoring; it states nothing that is hidden."""
    noise = ""
    if settings.noise_scale > 0:
        unit = " times the range of worth in the pair" if settings.noise_units == "contextual" else ""
        noise = (
            " The person sometimes errs: the chance of taking A is 1 / (1 + exp(-d / s)), where d is the difference in "
            f"expected utility and s is {settings.noise_scale:g}{unit}."
        )
    terms = [f"{weight:g} * {name}" for name, weight in settings.weights._asdict().items() if weight]
    return SYSTEM_TEMPLATE.format(
        noise=noise,
        max_turns=settings.max_turns,
        from_turn=f" (from turn {settings.min_turns} on)" if settings.min_turns > 1 else "",
        score=" + ".join(terms) or "0",
        gamma_width=settings.scales.gamma,
        lambda_width=settings.scales.loss_aversion,
        gamma_tolerance=SUCCESS_FRACTION * settings.scales.gamma,
        lambda_tolerance=SUCCESS_FRACTION * settings.scales.loss_aversion,
    )


@dataclass(frozen=True, kw_only=True)
class Observation:
    """What is shown before a turn. Nothing in it tells the hidden parameters but the choices."""

    episode: str
    turn: int
    """The turn to be taken, from 1."""
    turns_remaining: int
    """Turns left, this one included."""
    min_turns: int
    history: tuple[tuple[Pair, Choice], ...]
    last_choice: Choice | None
    """The choice of the turn before; None at the start and after a turn without one."""
    gamma_range: Range
    lambda_range: Range
    outcome_bounds: Range
    noise: ChoiceNoise
    weights: Weights
    scales: Scales
    """What errors of the estimate are divided by in mse."""
    feedback: str
    """What was wrong or changed in the turn before; empty when nothing was."""

    @property
    def is_last_turn(self) -> bool:
        return self.turns_remaining == 1

    @property
    def max_turns(self) -> int:
        return self.turn + self.turns_remaining - 1

    def to_json(self) -> dict[str, object]:
        return {
            "episode": self.episode,
            "turn": self.turn,
            "turns_remaining": self.turns_remaining,
            "min_turns": self.min_turns,
            "last_choice": self.last_choice,
            "history": [
                {"lottery_a": pair.a.to_json(), "lottery_b": pair.b.to_json(), "choice": choice}
                for pair, choice in self.history
            ],
            "gamma_range": list(self.gamma_range),
            "lambda_range": list(self.lambda_range),
            "outcome_bounds": list(self.outcome_bounds),
            "choice_noise": self.noise._asdict(),
            "scoring": self.weights._asdict(),
            "error_scales": list(self.scales),
            "feedback": self.feedback,
        }


def observe(state: State) -> Observation:
    """The observation before the next turn (at the end of an episode: what is known then, with no turn remaining)."""
    last = state.turns[-1] if state.turns else None
    return Observation(
        episode=str(state.world.key),
        turn=state.num_turns + 1,
        turns_remaining=state.turns_remaining,
        min_turns=state.settings.min_turns,
        history=state.answers,
        last_choice=last.choice if last else None,
        gamma_range=state.world.gamma_range,
        lambda_range=state.world.lambda_range,
        outcome_bounds=state.world.outcome_bounds,
        noise=choice_noise(state.settings),
        weights=state.settings.weights,
        scales=state.settings.scales,
        feedback=feedback(state),
    )


def feedback(state: State) -> str:
    """Faults and changes of the last turn, in words."""
    if not state.turns:
        return ""
    action = state.turns[-1].action
    if isinstance(action, Malformed):
        return f"The turn was lost: {action.reason}."
    notes = []
    if action.is_renormalised:
        notes.append("Probabilities did not sum to 1 and were scaled.")
    if action.estimate is not None and not is_within_ranges(state, action):
        notes.append("The estimate lies outside the ranges; one that ends the episode is moved to their edge.")
    if action.terminate_early and not state.is_over:
        notes.append(f"terminate_early is honoured from turn {state.settings.min_turns} on; the episode continues.")
    return " ".join(notes)


def is_within_ranges(state: State, action: Proposal) -> bool:
    """Whether the action's estimate needs no clipping (True where there is none)."""
    if action.estimate is None:
        return True
    gamma, loss_aversion = action.estimate
    gamma_range, lambda_range = state.world.gamma_range, state.world.lambda_range
    return gamma_range.clip(gamma) == gamma and lambda_range.clip(loss_aversion) == loss_aversion


def render(observation: Observation) -> str:
    """The user message: the last choice in words, then the observation as JSON."""
    lines = [observation.feedback] if observation.feedback else []
    if observation.last_choice is not None:
        lines.append(f"The person chose {observation.last_choice}.")
    if observation.is_last_turn:
        lines.append("This is your last turn: commit your theta_estimate.")
    else:
        lines.append(f"Turn {observation.turn} of {observation.max_turns}: propose two lotteries, or stop.")
    return "\n".join([*lines, json.dumps(observation.to_json())])


def render_end(observation: Observation) -> str:
    """The message after the last turn, for adapters that send one."""
    return f"{observation.feedback} The episode is over.".strip()


def find_observation(message: str) -> Observation | None:
    """The observation in a rendered user message; None where there is none."""
    found = last_json_object(message, having=("error_scales",))
    return None if isinstance(found, Fault) else observation_from_json(found)


def observation_from_json(fields: Mapping[str, Any]) -> Observation:
    """The observation that `to_json` wrote. Raises KeyError or ValueError for anything else."""
    bounds = Range(*fields["outcome_bounds"])
    return Observation(
        episode=fields["episode"],
        turn=fields["turn"],
        turns_remaining=fields["turns_remaining"],
        min_turns=fields["min_turns"],
        history=tuple(_read_answer(item, bounds) for item in fields["history"]),
        last_choice=fields["last_choice"],
        gamma_range=Range(*fields["gamma_range"]),
        lambda_range=Range(*fields["lambda_range"]),
        outcome_bounds=bounds,
        noise=ChoiceNoise(**fields["choice_noise"]),
        weights=Weights(**fields["scoring"]),
        scales=Scales(*fields["error_scales"]),
        feedback=fields["feedback"],
    )


def _read_answer(item: Mapping[str, Any], bounds: Range) -> tuple[Pair, Choice]:
    action = read_action({key: item[key] for key in ("lottery_a", "lottery_b")}, bounds)
    if isinstance(action, Malformed) or action.pair is None:
        raise ValueError(f"the history holds no valid pair: {action}")
    choice: Choice = item["choice"]
    return action.pair, choice

"""The episode as a value: `initial_state`, then `step(state, action)` until `is_over`."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from .actions import Action, Estimate, Malformed, Proposal, read_action
from .generator import World, build_world, noise_draw
from .lotteries import Choice, Pair
from .respondent import ChoiceNoise, choose
from .settings import Settings


class Turn(NamedTuple):
    """One turn that was taken: what the agent did, and what the respondent chose (None where no pair was proposed)."""

    action: Action
    choice: Choice | None


@dataclass(frozen=True)
class State:
    """An episode so far. `noise_seed` names this rollout's stream of choice noise; the hidden world is shared by a
    group.
    """

    settings: Settings
    world: World
    noise_seed: int
    turns: tuple[Turn, ...] = ()
    is_over: bool = False
    terminated_early: bool = False
    estimate: Estimate | None = None
    """What the ending turn committed, clipped to the shown ranges; None before the end or without an estimate."""

    @property
    def num_turns(self) -> int:
        return len(self.turns)

    @property
    def turns_remaining(self) -> int:
        return self.settings.max_turns - self.num_turns

    @property
    def answers(self) -> tuple[tuple[Pair, Choice], ...]:
        """The pairs proposed so far with their choices."""
        return tuple(
            (turn.action.pair, turn.choice)
            for turn in self.turns
            if isinstance(turn.action, Proposal) and turn.action.pair is not None and turn.choice is not None
        )


def initial_state(settings: Settings, index: int = 0, noise_seed: int = 0) -> State:
    """The start of an episode of the task at `index`."""
    return State(settings, build_world(settings, index), noise_seed)


def step(state: State, action: Action) -> State:
    """The state after one turn. Every action takes a turn; stepping an episode that is over raises ValueError."""
    if state.is_over:
        raise ValueError(f"the episode ended after {state.num_turns} turns; start another with initial_state")
    is_last_turn = state.turns_remaining == 1
    if isinstance(action, Malformed):
        return replace(state, turns=(*state.turns, Turn(action, None)), is_over=is_last_turn)
    stops = action.terminate_early and state.num_turns + 1 >= state.settings.min_turns
    is_over = is_last_turn or stops
    if action.pair is None and not is_over:
        return step(state, Malformed(_missing_lotteries(state, action)))
    choice = None if action.pair is None else _choice(state, action.pair)
    return replace(
        state,
        turns=(*state.turns, Turn(action, choice)),
        is_over=is_over,
        terminated_early=stops and not is_last_turn,
        estimate=clipped(state.world, action.estimate) if is_over and action.estimate is not None else None,
    )


def clipped(world: World, estimate: Estimate) -> Estimate:
    """The estimate, moved into the shown ranges."""
    return Estimate(world.gamma_range.clip(estimate.gamma), world.lambda_range.clip(estimate.loss_aversion))


def choice_noise(settings: Settings) -> ChoiceNoise:
    return ChoiceNoise(settings.noise_scale, settings.noise_units)


def _choice(state: State, pair: Pair) -> Choice:
    uniform = noise_draw(state.world.key, state.noise_seed, state.num_turns)
    return choose(pair, state.world.preferences, choice_noise(state.settings), uniform)


def _missing_lotteries(state: State, action: Proposal) -> str:
    if action.terminate_early:
        return (
            f"terminate_early is honoured from turn {state.settings.min_turns}; "
            "until then lottery_a and lottery_b must be given"
        )
    return "lottery_a and lottery_b are missing; they may be left out only on a turn that ends the episode"


def transcript(state: State) -> dict[str, object]:
    """The episode as JSON facts: the task's index, the noise seed and every turn, enough to replay and re-grade it."""
    return {
        "key": str(state.world.key),
        "index": state.world.key.index,
        "noise_seed": state.noise_seed,
        "turns": [
            {"malformed": turn.action.reason}
            if isinstance(turn.action, Malformed)
            else {
                "action": turn.action.to_json(),
                "is_renormalised": turn.action.is_renormalised,
                "choice": turn.choice,
            }
            for turn in state.turns
        ],
    }


def replay(settings: Settings, facts: Mapping[str, Any]) -> State:
    """The state that a transcript tells of. Raises ValueError where it does not fit these settings."""
    state = initial_state(settings, facts["index"], facts["noise_seed"])
    if str(state.world.key) != facts["key"]:
        raise ValueError(f"the transcript is of {facts['key']}, not {state.world.key}: use the settings it ran with")
    for number, turn in enumerate(facts["turns"], start=1):
        state = step(state, _recorded_action(turn, state.world))
        if state.turns[-1].choice != turn.get("choice"):
            raise ValueError(
                f"turn {number}: recorded choice {turn.get('choice')}, replayed {state.turns[-1].choice}; "
                "the transcript was made with other settings or another version"
            )
    return state


def _recorded_action(turn: Mapping[str, Any], world: World) -> Action:
    if "malformed" in turn:
        return Malformed(turn["malformed"])
    action = read_action(turn["action"], world.outcome_bounds)
    return replace(action, is_renormalised=turn["is_renormalised"]) if isinstance(action, Proposal) else action

"""What a newcomer is shown: the ladder of the reference policies, and one annotated playthrough."""

import math
import statistics
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from .core.actions import Malformed, parse_action
from .core.generator import mission_of
from .core.grader import grade, step_reward
from .core.mission import Mission
from .core.observation import observe
from .core.prompts import turn_text
from .core.simulator import step
from .core.solver import solve
from .core.state import State, initial_state
from .policies import LADDER, PLAYERS, play, turn_stream

_MAX_REPLY_SHOWN = 300


class Rung(NamedTuple):
    """How one policy did."""

    policy: str
    num_episodes: int
    mean_return: float
    half_width: float
    """Of the 95 % interval of the mean over episodes, by the normal approximation; 0 for a policy that never varies."""
    win_fraction: float
    mean_grade: float


def policy_ladder(missions: Sequence[Mission], num_seeds: int, policies: Iterable[str] = LADDER) -> list[Rung]:
    """Play every mission with `num_seeds` seeds by each policy."""
    return [_rung(policy, missions, num_seeds) for policy in policies]


def _rung(policy: str, missions: Sequence[Mission], num_seeds: int) -> Rung:
    grades = [grade(play(mission, PLAYERS[policy], seed)) for mission in missions for seed in range(num_seeds)]
    returns = [graded.shaped for graded in grades]
    spread = statistics.stdev(returns) if len(returns) > 1 else 0.0
    return Rung(
        policy=policy,
        num_episodes=len(returns),
        mean_return=statistics.fmean(returns),
        half_width=1.96 * spread / math.sqrt(len(returns)),
        win_fraction=statistics.fmean(graded.success for graded in grades),
        mean_grade=statistics.fmean(graded.grader for graded in grades),
    )


def playthrough(task_key: str, policy: str, seed: int = 0) -> str:
    """One episode as text: what the agent reads, what it replies, what each turn pays, and the grade at the end."""
    mission = mission_of(task_key)
    state = initial_state(mission)
    lines = [f"# {task_key}, {policy}, seed {seed}", "", *_indented(turn_text(observe(state)))]
    while not state.is_finished:
        reply = PLAYERS[policy](state, turn_stream(state, seed))
        after = step(state, parse_action(reply))
        lines += ["", f"> {reply[:_MAX_REPLY_SHOWN]}", f"  [{_annotation(state, after)}]", ""]
        lines += _indented(turn_text(observe(after, state)))
        state = after
    return "\n".join((*lines, "", *_verdict(state))) + "\n"


def _annotation(before: State, after: State) -> str:
    action = after.ledger.last_action
    kind = "malformed" if isinstance(action, Malformed) else "played"
    penalties = ", ".join(after.ledger.last_penalties) or "no penalty"
    return f"{kind}; {penalties}; reward {step_reward(before, after):+.4f}"


def _verdict(state: State) -> list[str]:
    graded = grade(state)
    solution = solve(state.mission)
    optimum = f"{solution.max_return:+.4f} in {len(solution.best)} turns" if solution else "none"
    gates = ", ".join(f"{name} {value:.2f}" for name, value in graded.gates._asdict().items())
    return [
        f"return {graded.shaped:+.4f} (optimum {optimum}), grade {graded.grader:.4f}, turns {graded.num_turns}",
        f"gates: {gates}",
    ]


def _indented(text: str) -> list[str]:
    return [f"  {line}" for line in text.splitlines()]

"""The grader, and the shaped reward whose sum over an episode is exact.

Grade of an episode: G = 0.30 alliance + 0.25 resources + 0.20 operation + 0.15 message + 0.10 extraction.
Potential while running: F, the same weights over partial credit; at the end F := G. One step pays
F(next) - F(now) - penalties (+ the bonus on the winning step), so a return is G - F(start) - penalties + bonus.
"""

from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from . import balance
from .balance import PENALTY, REPUTATION_TO_ALLY, Penalty
from .mission import Mission
from .state import State, World, initial_state

RewardName = Literal["shaped", "grader", "success"]
METRIC_OF_REWARD: Final[dict[RewardName, str]] = {
    "shaped": "shaped_return",
    "grader": "grader_score",
    "success": "success",
}
"""Under which metric each training signal is always recorded."""


class Gates(NamedTuple):
    """How far each gate is open, in [0, 1]."""

    alliance: float
    resources: float
    operation: float
    message: float
    extraction: float


def gates(state: State) -> Gates:
    """The gates as the grader reads them: the scarcest lane, no partial credit for operation and extraction."""
    world = state.world
    return Gates(
        alliance=_alliance(state.mission, world),
        resources=min(_ratios(state.mission, world)),
        operation=float(world.is_operation_done),
        message=world.extraction.message_score if world.extraction else 0.0,
        extraction=float(state.is_success),
    )


def grader_score(state: State) -> float:
    """G of a state, in [0, 1]."""
    return _weigh(gates(state))


def potential(state: State) -> float:
    """F of a running state, G of a finished one."""
    if state.is_finished:
        return grader_score(state)
    world = state.world
    ratios = _ratios(state.mission, world)
    value = balance.WEIGHT_ALLIANCE * _alliance(state.mission, world)
    value += balance.WEIGHT_RESOURCES * sum(ratios) / len(ratios)
    if world.is_operation_done:
        return value + balance.WEIGHT_OPERATION + balance.HALF_CREDIT * balance.WEIGHT_EXTRACTION
    return value + balance.HALF_CREDIT * balance.WEIGHT_OPERATION if world.deployed else value


def step_reward(before: State, after: State) -> float:
    """What one step pays; 0 once the episode is over."""
    if before.is_finished:
        return 0.0
    reward = potential(after) - potential(before)
    for kind in after.ledger.last_penalties:
        reward -= PENALTY[kind]
    return reward + balance.WIN_BONUS if after.is_success else reward


def moves_a_gate(mission: Mission, before: World, after: World) -> bool:
    """Whether a turn moved a gate forward: allies, a short lane, deployment, operation, code words or a win."""
    if before is after:
        return False
    if after.lanes is not before.lanes:
        for old, new, need in zip(before.lanes, after.lanes, mission.need, strict=True):
            if old < need and old < new:
                return True
    if after.reputation is not before.reputation and _alliance(mission, after) > _alliance(mission, before):
        return True
    return (
        after.is_operation_done > before.is_operation_done
        or (after.deployed is not None and before.deployed is None)
        or len(after.known.keywords) > len(before.known.keywords)
        or (after.extraction is not None and after.extraction.is_success)
    )


@dataclass(frozen=True, slots=True)
class Grade:
    """Everything said about one finished episode."""

    shaped: float
    """The return: G - F(start) - penalties + bonus. Negative for a bad loss, at most 1.30."""
    grader: float
    """G, in [0, 1]; 1 only for a win with every code word."""
    success: float
    """1 for a win, else 0."""
    gates: Gates
    penalties: dict[Penalty, float]
    """Sum by kind; every kind is present."""
    num_turns: int
    """Turns the agent played."""
    malformed_fraction: float
    illegal_fraction: float
    process_reward: float
    """Fraction of played turns that moved a gate forward."""
    guardrail_hits: int
    """Turns that earned a penalty: those a guardrail would have stopped had it known all."""

    def signal(self, reward: RewardName) -> float:
        """The selected training signal."""
        return self.metrics()[METRIC_OF_REWARD[reward]]

    def metrics(self) -> dict[str, float]:
        """Every number of the grade under its metric name."""
        return {
            "success": self.success,
            "grader_score": self.grader,
            "shaped_return": self.shaped,
            **{f"gate_{name}": value for name, value in self.gates._asdict().items()},
            "penalty_total": sum(self.penalties.values()),
            **{f"penalty_{kind}": value for kind, value in self.penalties.items()},
            "num_turns": float(self.num_turns),
            "malformed_fraction": self.malformed_fraction,
            "illegal_fraction": self.illegal_fraction,
            "process_reward": self.process_reward,
            "guardrail_hits": float(self.guardrail_hits),
        }


def grade(state: State) -> Grade:
    """Grade a finished episode. Raises ValueError for a running one: settle it first."""
    if not state.is_finished:
        raise ValueError(f"state: got a running episode at turn {state.ledger.turn}; call settle(state) first")
    ledger = state.ledger
    score = grader_score(state)
    bonus = balance.WIN_BONUS if state.is_success else 0.0
    played = ledger.turn - ledger.num_silent
    return Grade(
        shaped=score - potential(initial_state(state.mission)) - ledger.penalty + bonus,
        grader=score,
        success=float(state.is_success),
        gates=gates(state),
        penalties={kind: count * PENALTY[kind] for kind, count in zip(Penalty, ledger.penalty_counts, strict=True)},
        num_turns=played,
        malformed_fraction=ledger.num_malformed / max(1, played),
        illegal_fraction=ledger.num_illegal / max(1, played),
        process_reward=ledger.num_productive / max(1, played),
        guardrail_hits=ledger.num_penalised,
    )


def _weigh(at: Gates) -> float:
    return (
        balance.WEIGHT_ALLIANCE * at.alliance
        + balance.WEIGHT_RESOURCES * at.resources
        + balance.WEIGHT_OPERATION * at.operation
        + balance.WEIGHT_MESSAGE * at.message
        + balance.WEIGHT_EXTRACTION * at.extraction
    )


def _alliance(mission: Mission, world: World) -> float:
    won = [seat for seat in mission.ally_seats if world.reputation[seat] >= REPUTATION_TO_ALLY]
    return len(won) / len(mission.ally_seats)


def _ratios(mission: Mission, world: World) -> list[float]:
    return [has / need if has < need else 1.0 for has, need in zip(world.lanes, mission.need, strict=True)]

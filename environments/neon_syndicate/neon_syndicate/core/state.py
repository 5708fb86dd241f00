"""The state of an episode as a value: the world the rules change, and the ledger of how it was played."""

from typing import NamedTuple

from .actions import Action, Malformed, Signature
from .balance import PENALTY, REPUTATION_TO_ALLY, Penalty
from .clues import Known, briefing
from .mission import Mission
from .vocabulary import FACTIONS, HOME_BY_SEAT, Faction, Lanes, Sector, Threat


class Extraction(NamedTuple):
    """How the episode was closed by the agent."""

    message_score: float
    """Of the message delivered, in [0, 1]; 0 away from the target sector, where nobody hears it."""
    is_success: bool


class World(NamedTuple):
    """What the rules read and change."""

    lanes: Lanes
    reputation: tuple[int, int, int, int]
    """By seat of the faction; an ally from `REPUTATION_TO_ALLY` on."""
    threat: Threat
    known: Known
    scouted: tuple[Sector, ...] = ()
    """In the order of the first visits."""
    deployed: Sector | None = None
    is_operation_done: bool = False
    extraction: Extraction | None = None

    @property
    def allies(self) -> tuple[Faction, ...]:
        """Every faction won over, in the order of `FACTIONS`."""
        return tuple(
            faction
            for faction, reputation in zip(FACTIONS, self.reputation, strict=True)
            if reputation >= REPUTATION_TO_ALLY
        )

    @property
    def is_success(self) -> bool:
        """Whether every gate was open at the extraction."""
        return self.extraction is not None and self.extraction.is_success

    @property
    def leverage(self) -> tuple[Faction, ...]:
        """Factions whose home has been scouted, in the order of `FACTIONS`."""
        return tuple([faction for faction, home in zip(FACTIONS, HOME_BY_SEAT, strict=True) if home in self.scouted])


class Ledger(NamedTuple):
    """How the episode was played so far."""

    turn: int = 0
    """Turns used."""
    last_action: Action | Malformed | None = None
    last_penalties: tuple[Penalty, ...] = ()
    repeat_signature: Signature | None = None
    """Of the last action that parsed: playing it again now is a repeat."""
    penalty_counts: tuple[int, ...] = (0,) * len(Penalty)
    """By kind, in the order of `Penalty`."""
    num_silent: int = 0
    num_malformed: int = 0
    num_illegal: int = 0
    """Turns whose action parsed and was refused by the rules."""
    num_penalised: int = 0
    num_productive: int = 0
    """Turns that moved a gate forward."""

    @property
    def penalty(self) -> float:
        """Sum of all penalties so far, at least 0."""
        return sum(count * PENALTY[kind] for kind, count in zip(Penalty, self.penalty_counts, strict=True) if count)


class State(NamedTuple):
    """One moment of one episode."""

    mission: Mission
    world: World
    ledger: Ledger

    @property
    def is_finished(self) -> bool:
        """Whether the agent has extracted or used up its turns."""
        return self.world.extraction is not None or self.ledger.turn >= self.mission.budget

    @property
    def is_success(self) -> bool:
        """Whether every gate was open at the extraction."""
        return self.world.is_success


def initial_state(mission: Mission) -> State:
    """A mission before its first turn."""
    world = World(lanes=mission.start, reputation=(0, 0, 0, 0), threat=mission.threat, known=briefing(mission))
    return State(mission, world, Ledger())

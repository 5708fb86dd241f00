"""What the agent sees: everything visible, typed; nothing hidden."""

from typing import NamedTuple

from .actions import Action, Malformed, Signature
from .balance import Penalty
from .mission import Briefing, Packet
from .state import State, World


class Observation(NamedTuple):
    """One turn's view: the mission's briefing, the world, and what the last action did."""

    briefing: Briefing
    world: World
    turn: int
    """Turns used."""
    last_action: Action | Malformed | None
    last_penalties: tuple[Penalty, ...]
    repeat_signature: Signature | None
    """Of the agent's last action that parsed; playing it again is penalised."""
    report: str
    """Prose of the packet the last action opened, or empty."""

    @property
    def is_finished(self) -> bool:
        """Whether the agent has extracted or used up its turns."""
        return self.world.extraction is not None or self.turn >= self.briefing.budget

    @property
    def is_success(self) -> bool:
        """Whether the mission is won."""
        return self.world.is_success


def observe(state: State, before: State | None = None) -> Observation:
    """The view of a state; with the state `before` it, the view also carries the report just opened."""
    mission, world, ledger = state
    is_new = before is not None and len(world.scouted) > len(before.world.scouted)
    report = mission.packets.get(world.scouted[-1], Packet()).report if is_new else ""
    return Observation(
        mission.briefing,
        world,
        ledger.turn,
        ledger.last_action,
        ledger.last_penalties,
        ledger.repeat_signature,
        report,
    )

"""What the agent sees: everything visible, typed; nothing hidden."""

from typing import NamedTuple

from .actions import Action, Malformed, Signature
from .balance import Penalty
from .clues import Known
from .mission import Packet
from .state import State
from .vocabulary import Faction, Lanes, Sector, Threat


class Observation(NamedTuple):
    """One turn's view."""

    task: str
    difficulty: str
    title: str
    stakes: str
    rumour: str
    turn: int
    """Turns used."""
    budget: int
    lanes: Lanes
    need: Lanes
    reputation: tuple[int, int, int, int]
    allies: tuple[Faction, ...]
    leverage: tuple[Faction, ...]
    num_allies_needed: int
    num_keywords_needed: int
    threat: Threat
    scouted: tuple[Sector, ...]
    deployed: Sector | None
    is_operation_done: bool
    known: Known
    last_action: Action | Malformed | None
    last_penalties: tuple[Penalty, ...]
    repeat_signature: Signature | None
    """Of the agent's last action that parsed; playing it again is penalised."""
    report: str
    """Prose of the packet the last action opened, or empty."""
    is_finished: bool
    is_success: bool


def observe(state: State, before: State | None = None) -> Observation:
    """The view of a state; with the state `before` it, the view also carries the report just opened."""
    mission, world, ledger = state.mission, state.world, state.ledger
    is_new = before is not None and len(world.scouted) > len(before.world.scouted)
    report = mission.packets.get(world.scouted[-1], Packet()).report if is_new else ""
    return Observation(
        task=mission.key,
        difficulty=mission.difficulty,
        title=mission.title,
        stakes=mission.stakes,
        rumour=mission.rumour,
        turn=ledger.turn,
        budget=mission.budget,
        lanes=world.lanes,
        need=mission.need,
        reputation=world.reputation,
        allies=world.allies,
        leverage=world.leverage,
        num_allies_needed=len(mission.allies),
        num_keywords_needed=len(mission.keywords),
        threat=world.threat,
        scouted=world.scouted,
        deployed=world.deployed,
        is_operation_done=world.is_operation_done,
        known=world.known,
        last_action=ledger.last_action,
        last_penalties=ledger.last_penalties,
        repeat_signature=ledger.repeat_signature,
        report=report,
        is_finished=state.is_finished,
        is_success=state.is_success,
    )

"""The solver's view of a mission: compact positions, and what each set of scouted sectors has revealed."""

from typing import NamedTuple

from .actions import Signature
from .mission import Mission, Packet
from .state import State
from .vocabulary import LANE, SECTORS, Lanes, Resource, lane_tuple

Reputation = tuple[int, int, int, int]
INTEL = LANE[Resource.INTEL]


class Position(NamedTuple):
    """A state of the world as far as it matters for what can still happen."""

    lanes: Lanes
    """Intel is cut off at what the mission needs: nothing is paid in intel."""
    reputation: Reputation
    scouted: int
    """Bit mask in the order of `SECTORS`."""
    is_deployed: bool
    """In the target sector."""
    is_done: bool
    """Whether the operation is."""
    threat: int
    """0 where losses do not count."""
    last: Signature | None
    """Of the action just played; None where losses do not count."""


class Clues:
    """What is known by each mask of scouted sectors; a win must know at least `num_keywords` code words."""

    def __init__(self, mission: Mission, num_keywords: int) -> None:
        packets = [mission.packets.get(sector, Packet()) for sector in SECTORS]
        masks = range(1 << len(SECTORS))
        opened = [[mission.public, *(p for bit, p in enumerate(packets) if mask >> bit & 1)] for mask in masks]
        self.has_code = [any(packet.has_code for packet in found) for found in opened]
        self.keywords = [
            tuple(mission.keywords[word] for packet in found for word in packet.keywords) for found in opened
        ]
        self.is_enough = [self.has_code[mask] and len(self.keywords[mask]) >= num_keywords for mask in masks]


def position_of(state: State, is_loss_counted: bool) -> Position:
    """The position of a state."""
    world, mission = state.world, state.mission
    return Position(
        cut_intel(world.lanes, mission),
        world.reputation,
        sum(1 << SECTORS.index(sector) for sector in world.scouted),
        world.deployed == mission.sector,
        world.is_operation_done,
        world.threat if is_loss_counted else 0,
        state.ledger.repeat_signature if is_loss_counted else None,
    )


def cut_intel(lanes: Lanes, mission: Mission) -> Lanes:
    """The lanes with no more intel than needed."""
    if lanes[INTEL] <= mission.need[INTEL]:
        return lanes
    return lane_tuple(mission.need[INTEL] if lane == INTEL else units for lane, units in enumerate(lanes))

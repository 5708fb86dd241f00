"""What a mission is: its stakes, its hidden target and the packet each sector hides."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from .balance import TURN_BUDGET
from .vocabulary import SEAT, Faction, Lanes, Sector, Threat


@dataclass(frozen=True, slots=True)
class Packet:
    """What the first scout of a sector reveals.

    `keywords` are positions in `Mission.keywords`; `leads` are the candidate sectors of the next packet
    (none, one, or two when the lead is ambiguous), in the order of `SECTORS`.
    """

    report: str = ""
    has_code: bool = False
    has_sector: bool = False
    keywords: tuple[int, ...] = ()
    allies: tuple[Faction, ...] = ()
    leads: tuple[Sector, ...] = ()


class Briefing(NamedTuple):
    """What the agent is told of a mission, the same on every turn."""

    task: str
    difficulty: str
    title: str
    stakes: str
    rumour: str
    budget: int
    need: Lanes
    num_allies_needed: int
    num_keywords_needed: int


@dataclass(frozen=True)
class Mission:
    """One mission. `allies`, `code`, `sector` and `keywords` are hidden until a packet reveals them."""

    key: str
    """Task key, `builtin/ID` or `SPLIT/LEVEL/INDEX`."""
    difficulty: str
    """A tier (easy, medium, hard) or a level (1 to 5), as the agent reads it."""
    title: str
    stakes: str
    rumour: str
    allies: tuple[Faction, ...]
    code: str
    sector: Sector
    keywords: tuple[str, ...]
    need: Lanes
    start: Lanes
    threat: Threat
    public: Packet
    """What the briefing itself reveals."""
    packets: Mapping[Sector, Packet] = field(hash=False)
    """By sector; a sector without a packet holds nothing but intel."""
    budget: int = TURN_BUDGET

    @cached_property
    def ally_seats(self) -> tuple[int, ...]:
        """Where the required allies sit in a reputation tuple."""
        return tuple(SEAT[ally] for ally in self.allies)

    @cached_property
    def briefing(self) -> Briefing:
        """The part of the mission that is no secret."""
        return Briefing(
            task=self.key,
            difficulty=self.difficulty,
            title=self.title,
            stakes=self.stakes,
            rumour=self.rumour,
            budget=self.budget,
            need=self.need,
            num_allies_needed=len(self.allies),
            num_keywords_needed=len(self.keywords),
        )

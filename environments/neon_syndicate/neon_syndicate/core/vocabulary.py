"""The names of the game, in one copy: factions, sectors, resources, threat levels, verbs, tiers."""

from collections.abc import Iterable
from enum import IntEnum, StrEnum
from typing import Final


class Name(StrEnum):
    """A name of the game."""

    # Enum's own hash is a Python function; names are keys of every table the rules look up.
    __hash__ = str.__hash__


class Faction(Name):
    """A crew that may become an ally."""

    GHOSTWIRE = "ghostwire"
    IRON_VULTURES = "iron_vultures"
    CIVIC_SHIELD = "civic_shield"
    BLACK_ORCHID = "black_orchid"


class Sector(Name):
    """A district of the city."""

    DOCKLANDS = "docklands"
    DATA_SPIRE = "data_spire"
    UNDERGRID = "undergrid"
    CITADEL_GATE = "citadel_gate"


class Resource(Name):
    """A lane of the stockpile; the order here is the order of every lane tuple."""

    CREDITS = "credits"
    INTEL = "intel"
    INFLUENCE = "influence"
    ENERGY = "energy"


class Threat(IntEnum):
    """How hot the city is."""

    LOW = 0
    MEDIUM = 1
    HIGH = 2
    CRITICAL = 3

    @property
    def label(self) -> str:
        """The name as the agent reads it."""
        return self.name.lower()


class Verb(Name):
    """What an action can do."""

    SCOUT = "scout_sector"
    NEGOTIATE = "negotiate_pact"
    TRADE = "trade_resources"
    DEPLOY = "deploy_asset"
    OPERATION = "run_operation"
    EXTRACTION = "secure_extraction"
    NOOP = "noop"


class Tier(Name):
    """The difficulty class of a written mission."""

    EASY = "easy"
    MEDIUM = "medium"
    HARD = "hard"


FACTIONS: Final = tuple(Faction)
SECTORS: Final = tuple(Sector)
RESOURCES: Final = tuple(Resource)
THREATS: Final = tuple(Threat)

LANE: Final[dict[Resource, int]] = {resource: lane for lane, resource in enumerate(RESOURCES)}
"""Position of a resource in a lane tuple."""

SEAT: Final[dict[Faction, int]] = {faction: seat for seat, faction in enumerate(FACTIONS)}
"""Position of a faction in a reputation tuple."""

HOME: Final[dict[Faction, Sector]] = {
    Faction.GHOSTWIRE: Sector.UNDERGRID,
    Faction.IRON_VULTURES: Sector.DOCKLANDS,
    Faction.CIVIC_SHIELD: Sector.DATA_SPIRE,
    Faction.BLACK_ORCHID: Sector.CITADEL_GATE,
}
"""The sector each faction is based in; scouting it gives leverage on the faction."""

HOME_BY_SEAT: Final = tuple(HOME[faction] for faction in FACTIONS)
"""`HOME` in the order of `FACTIONS`."""

Lanes = tuple[int, int, int, int]
"""One whole number per resource, in the order of `RESOURCES`."""


def lane_tuple(values: Iterable[int]) -> Lanes:
    """The four values as a tuple."""
    first, second, third, fourth = values
    return first, second, third, fourth

"""Partial observability: what the agent knows, and how a packet adds to it."""

from typing import NamedTuple

from .mission import Mission, Packet
from .vocabulary import Faction, Sector


class Known(NamedTuple):
    """What has been revealed so far; everything else about the target is hidden."""

    code: str | None = None
    sector: Sector | None = None
    keywords: tuple[str, ...] = ()
    allies: tuple[Faction, ...] = ()
    leads: tuple[tuple[Sector, ...], ...] = ()
    """Each lead is the candidate sectors of one packet, in the order the leads came up."""


def briefing(mission: Mission) -> Known:
    """What the agent knows before its first turn."""
    return _add(Known(), mission, mission.public)


def reveal(known: Known, mission: Mission, scouted: Sector) -> Known:
    """What the agent knows after its first scout of a sector. The target sector gives itself away when walked."""
    packet = mission.packets.get(scouted)
    after = known if packet is None else _add(known, mission, packet)
    return confirm_sector(after, mission) if scouted == mission.sector else after


def confirm_sector(known: Known, mission: Mission) -> Known:
    """The same knowledge with the target sector in it."""
    return known._replace(sector=mission.sector)


def _add(known: Known, mission: Mission, packet: Packet) -> Known:
    words = [mission.keywords[position] for position in packet.keywords]
    allies = [faction for faction in packet.allies if faction not in known.allies]
    return Known(
        code=mission.code if packet.has_code else known.code,
        sector=mission.sector if packet.has_sector else known.sector,
        keywords=(*known.keywords, *words) if words else known.keywords,
        allies=(*known.allies, *allies) if allies else known.allies,
        leads=(*known.leads, packet.leads) if packet.leads else known.leads,
    )

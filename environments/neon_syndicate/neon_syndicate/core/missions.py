"""The six written missions, easy to hard, as data."""

from typing import Final

from .balance import START_LANES
from .mission import Mission, Packet
from .vocabulary import Faction, Lanes, Sector, Threat, Tier

_DOCKLANDS, _DATA_SPIRE, _UNDERGRID, _CITADEL_GATE = Sector
_GHOSTWIRE, _IRON_VULTURES, _CIVIC_SHIELD, _BLACK_ORCHID = Faction
_THREAT: Final = {Tier.EASY: Threat.MEDIUM, Tier.MEDIUM: Threat.HIGH, Tier.HARD: Threat.CRITICAL}


def _mission(
    mission_id: str,
    tier: Tier,
    *,
    prose: tuple[str, str, str],
    allies: tuple[Faction, ...],
    target: tuple[str, Sector],
    keywords: tuple[str, ...],
    need: Lanes,
    public: Packet,
    packets: dict[Sector, Packet],
) -> Mission:
    title, stakes, rumour = prose
    code, sector = target
    return Mission(
        key=f"builtin/{mission_id}",
        difficulty=tier.value,
        title=title,
        stakes=stakes,
        rumour=rumour,
        allies=allies,
        code=code,
        sector=sector,
        keywords=keywords,
        need=need,
        start=START_LANES[tier],
        threat=_THREAT[tier],
        public=public,
        packets=packets,
    )


BUILTIN_MISSIONS: Final = (
    _mission(
        "task_easy_docklands_relay",
        Tier.EASY,
        prose=(
            "The Lamp on Pier Nine",
            "One harbour relay carries every medicine order in town. At dawn its new owners start selling the queue.",
            "ghostwire still has a splice on that relay. The shift book never leaves the docklands.",
        ),
        allies=(_GHOSTWIRE,),
        target=("OP-LANTERN", _DOCKLANDS),
        keywords=("tide bell", "salt ledger"),
        need=(30, 35, 20, 20),
        public=Packet(has_sector=True, allies=(_GHOSTWIRE,), leads=(_DOCKLANDS,)),
        packets={
            _DOCKLANDS: Packet(
                report="A night clerk slides the shift book across, eyes on the cranes.",
                has_code=True,
                keywords=(0, 1),
            ),
        },
    ),
    _mission(
        "task_easy_data_spire_broker",
        Tier.EASY,
        prose=(
            "The Broker Who Forgot",
            "A memory broker wants out before her buyers find her and auction the names of all her informants.",
            "civic_shield is holding a lift for her. Someone inside the data_spire knows which one.",
        ),
        allies=(_CIVIC_SHIELD,),
        target=("OP-MIRAGE", _DATA_SPIRE),
        keywords=("glass elevator", "quiet ink"),
        need=(25, 40, 30, 15),
        public=Packet(has_sector=True, allies=(_CIVIC_SHIELD,), leads=(_DATA_SPIRE,)),
        packets={
            _DATA_SPIRE: Packet(
                report="A lift mechanic trades her floor number for a night off.",
                has_code=True,
                keywords=(0, 1),
            ),
        },
    ),
    _mission(
        "task_medium_undergrid_blackout",
        Tier.MEDIUM,
        prose=(
            "Nine Seconds of Dark",
            "Someone rehearses a blackout under the hospitals, nine seconds a night. Tomorrow it will be real.",
            "ghostwire counts the breakers clicking under its own floor. Listen in the undergrid.",
        ),
        allies=(_GHOSTWIRE, _IRON_VULTURES),
        target=("OP-SUNFALL", _UNDERGRID),
        keywords=("copper hymn", "ninth breaker", "cold start"),
        need=(40, 55, 30, 35),
        public=Packet(has_sector=True, allies=(_GHOSTWIRE,), leads=(_UNDERGRID,)),
        packets={
            _UNDERGRID: Packet(
                report="The breaker log is signed in a vulture's scrawl, with two delivery stamps on it.",
                has_code=True,
                keywords=(0,),
                allies=(_IRON_VULTURES,),
                leads=(_DOCKLANDS, _CITADEL_GATE),
            ),
            _DOCKLANDS: Packet(
                report="A crate of spare fuses is still warm, its label half peeled.",
                keywords=(1, 2),
            ),
            _CITADEL_GATE: Packet(report="The gate stamped that delivery and never looked inside. A cold trail."),
        },
    ),
    _mission(
        "task_medium_citadel_convoy",
        Tier.MEDIUM,
        prose=(
            "Twelve Trucks at Midnight",
            "Twelve trucks cross the gate tonight. Eleven carry machine parts; the last one carries witnesses.",
            "black_orchid bought the timetable, and the timetable hangs in the guardroom at citadel_gate.",
        ),
        allies=(_BLACK_ORCHID, _CIVIC_SHIELD),
        target=("OP-VEIL", _CITADEL_GATE),
        keywords=("paper moon", "left lane", "white glove"),
        need=(35, 50, 45, 30),
        public=Packet(has_sector=True, allies=(_BLACK_ORCHID,), leads=(_CITADEL_GATE,)),
        packets={
            _CITADEL_GATE: Packet(
                report="The timetable is real, the driver list is not: it was printed in one of two places.",
                has_code=True,
                keywords=(0,),
                allies=(_CIVIC_SHIELD,),
                leads=(_DATA_SPIRE, _UNDERGRID),
            ),
            _DATA_SPIRE: Packet(
                report="A shield archivist keeps the true driver list under a lunch box.",
                keywords=(1, 2),
            ),
            _UNDERGRID: Packet(report="The press down here prints ration cards and nothing else. A cold trail."),
        },
    ),
    _mission(
        "task_hard_orchid_coup",
        Tier.HARD,
        prose=(
            "A Garden Without a Gardener",
            "Its own guards have sold the black_orchid council. Seat it again by morning or the gate stays shut.",
            "black_orchid talks only to people who have walked its wall. Begin at citadel_gate.",
        ),
        allies=(_GHOSTWIRE, _CIVIC_SHIELD, _BLACK_ORCHID),
        target=("OP-NIGHTHAVEN", _UNDERGRID),
        keywords=("root key", "mute choir", "last thorn"),
        need=(45, 70, 65, 45),
        public=Packet(allies=(_BLACK_ORCHID,), leads=(_CITADEL_GATE,)),
        packets={
            _CITADEL_GATE: Packet(
                report="A gardener names the clerk who drew up the sale, and two offices he keeps.",
                keywords=(0,),
                allies=(_CIVIC_SHIELD,),
                leads=(_DOCKLANDS, _DATA_SPIRE),
            ),
            _DATA_SPIRE: Packet(
                report="The deed of sale hides a floor plan; the council is held under the street.",
                has_sector=True,
                keywords=(1,),
                allies=(_GHOSTWIRE,),
                leads=(_UNDERGRID,),
            ),
            _UNDERGRID: Packet(
                report="Through a grating: nine voices, one guard, a door that wants a password.",
                has_code=True,
                keywords=(2,),
            ),
            _DOCKLANDS: Packet(report="The clerk's second office is an empty boat shed. A cold trail."),
        },
    ),
    _mission(
        "task_hard_citywide_failsafe",
        Tier.HARD,
        prose=(
            "The Dead Hand at Daybreak",
            "At sunrise a failsafe erases every debt and pension in town. Three crews hold parts of the stop order.",
            "iron_vultures fished their third out of the harbour. Begin in the docklands.",
        ),
        allies=(_GHOSTWIRE, _IRON_VULTURES, _CIVIC_SHIELD),
        target=("OP-DAWNFALL", _DATA_SPIRE),
        keywords=("rust prayer", "second sun", "open palm"),
        need=(50, 80, 60, 55),
        public=Packet(allies=(_IRON_VULTURES,), leads=(_DOCKLANDS,)),
        packets={
            _DOCKLANDS: Packet(
                report="A diver lifted a cable drum off the harbour bed; its far end runs one of two ways.",
                keywords=(0,),
                allies=(_GHOSTWIRE,),
                leads=(_UNDERGRID, _CITADEL_GATE),
            ),
            _UNDERGRID: Packet(
                report="The cable ends in a humming vault. Its manual names the room that can stop it.",
                has_sector=True,
                keywords=(1,),
                allies=(_CIVIC_SHIELD,),
                leads=(_DATA_SPIRE,),
            ),
            _DATA_SPIRE: Packet(
                report="Floor ninety: one red switch, one sleeping engineer, a card on the wall.",
                has_code=True,
                keywords=(2,),
            ),
            _CITADEL_GATE: Packet(report="The cable was cut at the gate years ago. A cold trail."),
        },
    ),
)
"""Easy to hard."""

BUILTIN_IDS: Final = tuple(mission.key.removeprefix("builtin/") for mission in BUILTIN_MISSIONS)
"""The ids, in the order of `BUILTIN_MISSIONS`."""

"""Missions by task key: the written six, variants of them, and an endless supply at levels 1 to 5.

Every generated mission is certified by the solver.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from random import Random
from typing import Final, Literal, get_args

from . import lexicon
from .mission import Mission, Packet
from .missions import BUILTIN_IDS, BUILTIN_MISSIONS
from .solver import clean_win, shortest_win
from .state import initial_state
from .vocabulary import FACTIONS, HOME, SECTORS, Faction, Lanes, Sector, Threat, lane_tuple

Split = Literal["train", "eval"]
SPLITS: Final[tuple[Split, ...]] = get_args(Split)
LEVELS: Final = (1, 2, 3, 4, 5)

_KEY: Final = re.compile(
    r"(?P<split>train|eval)(?:\.[1-9][0-9]*)?/(?P<series>[1-9]|task_[a-z_]+)/(?:0|[1-9][0-9]*)", re.ASCII
)
_VARIANT_SYLLABLES: Final = 3
_NEED_BASE: Final[Lanes] = (32, 44, 36, 30)
_NEED_SPREAD: Final = (0.92, 1.08)
_START_OFFSETS: Final = (-5, 0, 5)


@dataclass(frozen=True, slots=True)
class Level:
    """What a level asks for."""

    number: int
    num_allies: int
    num_keywords: int
    num_packets: int
    num_ambiguous: int
    """Leads with a second, cold candidate."""
    num_syllables: int
    has_number: bool
    """Whether the code ends in two digits."""
    threat: Threat
    need_scale: float
    start: Lanes
    """Each lane is moved by one of `_START_OFFSETS`."""
    fewest_turns: tuple[int, int]
    """The solver's minimum lies between these."""


LEVEL: Final[dict[int, Level]] = {
    1: Level(1, 1, 2, 1, 0, 2, False, Threat.LOW, 1.0, (40, 25, 45, 45), (5, 6)),
    2: Level(2, 1, 2, 1, 1, 3, False, Threat.LOW, 1.1, (35, 30, 50, 40), (7, 7)),
    3: Level(3, 2, 3, 2, 1, 3, False, Threat.MEDIUM, 1.2, (40, 30, 60, 50), (8, 9)),
    4: Level(4, 3, 3, 3, 1, 4, True, Threat.HIGH, 1.3, (45, 30, 70, 55), (10, 10)),
    5: Level(5, 3, 4, 3, 2, 4, True, Threat.CRITICAL, 1.4, (45, 30, 60, 45), (11, 12)),
}
"""By level; the bands of `fewest_turns` rise strictly."""


def task_key(split: Split, series: int | str, index: int, seed: int = 0) -> str:
    """The key of a task. The series is a level, or the id of a written mission.

    The first of a written mission's series in `train` is the mission as written; the others, and all of `eval`, are
    variants with a code and code words of their own. Seeds other than 0 name further streams of the same split.
    """
    if series in BUILTIN_IDS and (split, index, seed) == ("train", 0, 0):
        return f"builtin/{series}"
    return f"{split if seed == 0 else f'{split}.{seed}'}/{series}/{index}"


@lru_cache(maxsize=4096)
def mission_of(key: str) -> Mission:
    """The mission of a task key. Raises ValueError for a text that is none."""
    written = {mission.key: mission for mission in BUILTIN_MISSIONS}
    if key in written:
        return written[key]
    named = _KEY.fullmatch(key)
    if named is None or f"builtin/{named['series']}" not in {*written, *(f"builtin/{level}" for level in LEVELS)}:
        allowed = ", ".join((*written, "SPLIT/LEVEL/INDEX such as train/3/17"))
        raise ValueError(f"task key: got {key!r}, allowed: {allowed}, or a written mission's id in place of LEVEL")
    rng, first_letters = Random(f"neon-syndicate/{key}"), lexicon.CODE_FIRST_LETTERS[named["split"]]
    if named["series"].isdecimal():
        return _certified(rng, key, LEVEL[int(named["series"])], first_letters)
    mission = written[f"builtin/{named['series']}"]
    code = _draw_code(rng, first_letters, _VARIANT_SYLLABLES)
    return replace(mission, key=key, code=code, keywords=_draw_keywords(rng, len(mission.keywords)))


def generate_mission(split: Split, level: int, index: int, seed: int = 0) -> Mission:
    """The generated mission of a level, certified by the solver. Raises ValueError for what there is none of."""
    return mission_of(task_key(split, level, index, seed))


def _certified(rng: Random, key: str, level: Level, first_letters: str) -> Mission:
    """Draw missions from the task's stream until the solver certifies one.

    Certified means: the fewest turns lie in the level's band, and some play wins without any penalty.
    """
    low, high = level.fewest_turns
    while True:
        mission = _draw(rng, key, level, first_letters)
        start = initial_state(mission)
        win = shortest_win(start)
        if win is not None and low <= len(win) <= high and clean_win(start) is not None:
            return mission


def chosen_series(
    missions: Sequence[str] | None, difficulty: str | int | None, is_procedural: bool
) -> Sequence[int | str]:
    """The series a choice of tasks names: levels, or ids of written missions; with no choice the written six."""
    if is_procedural or difficulty in LEVELS:
        return [level for level in LEVELS if difficulty in (None, level)]
    of_tier = [mission for mission in BUILTIN_MISSIONS if difficulty in (None, mission.difficulty)]
    return missions or [mission.key.removeprefix("builtin/") for mission in of_tier]


def nth_task_key(series: Sequence[int | str], position: int, split: Split, seed: int = 0) -> str:
    """The key at a position, from 0, of the series taken in turn, again and again."""
    index, place = divmod(position, len(series))
    return task_key(split, series[place], index, seed)


def next_level(recent_success_fraction: float) -> int:
    """The level an adaptive sampler asks for: five times the recent success, rounded, within 1..5."""
    return min(LEVELS[-1], max(LEVELS[0], round(LEVELS[-1] * recent_success_fraction)))


def _draw(rng: Random, key: str, asked: Level, first_letters: str) -> Mission:
    trail = rng.sample(SECTORS, asked.num_packets)
    allies = _draw_allies(rng, asked, trail)
    cold = [sector for sector in SECTORS if sector not in trail]
    leads = _draw_leads(rng, trail, cold, asked.num_ambiguous)
    cargo = rng.choice(lexicon.CARGO)
    return Mission(
        key=key,
        difficulty=f"level {asked.number}",
        title=f"{rng.choice(lexicon.CODE_WORD_FIRST)} {rng.choice(lexicon.CODE_WORD_SECOND)}".title(),
        stakes=f"{cargo[0].upper()}{cargo[1:]} {rng.choice(lexicon.DANGER)}.",
        rumour=_rumour(rng, leads[0]),
        allies=allies,
        code=_draw_code(rng, first_letters, asked.num_syllables, asked.has_number),
        sector=trail[-1],
        keywords=_draw_keywords(rng, asked.num_keywords),
        need=lane_tuple(round(base * asked.need_scale * rng.uniform(*_NEED_SPREAD)) for base in _NEED_BASE),
        start=lane_tuple(lane + rng.choice(_START_OFFSETS) for lane in asked.start),
        threat=asked.threat,
        public=Packet(allies=allies[:1], leads=leads[0]),
        packets=_draw_packets(rng, asked, allies, trail, leads) | {sector: Packet(lexicon.COLD) for sector in cold},
    )


def _draw_allies(rng: Random, asked: Level, trail: list[Sector]) -> tuple[Faction, ...]:
    """Where the trail is long enough the allies live along it, so that a cold sector is a plain detour."""
    at_home = [faction for faction in FACTIONS if HOME[faction] in trail]
    return tuple(rng.sample(at_home if asked.num_allies > 1 else FACTIONS, asked.num_allies))


def _draw_leads(rng: Random, trail: list[Sector], cold: list[Sector], num_ambiguous: int) -> list[tuple[Sector, ...]]:
    """The lead to each sector of the trail; the ambiguous ones also name a cold sector, in the order of `SECTORS`."""
    ambiguous = rng.sample(range(len(trail)), num_ambiguous)
    candidates = [{sector, rng.choice(cold)} if place in ambiguous else {sector} for place, sector in enumerate(trail)]
    return [tuple(sector for sector in SECTORS if sector in named) for named in candidates]


def _draw_packets(
    rng: Random, asked: Level, allies: tuple[Faction, ...], trail: list[Sector], leads: list[tuple[Sector, ...]]
) -> dict[Sector, Packet]:
    """Code words and allies are spread along the trail; its last sector, the target, holds the code."""
    packets = {}
    for place, sector in enumerate(trail):
        is_last = place == len(trail) - 1
        packets[sector] = Packet(
            report=rng.choice(lexicon.LAST if is_last else lexicon.LINK),
            has_code=is_last,
            has_sector=is_last,
            keywords=tuple(word for word in range(asked.num_keywords) if word % len(trail) == place),
            allies=allies[place + 1 :] if is_last else allies[place + 1 : place + 2],
            leads=() if is_last else leads[place + 1],
        )
    return packets


def _draw_code(rng: Random, first_letters: str, num_syllables: int, has_number: bool = False) -> str:
    first = rng.choice(first_letters) + rng.choice(lexicon.VOWELS)
    rest = (rng.choice(lexicon.CONSONANTS) + rng.choice(lexicon.VOWELS) for _ in range(num_syllables - 1))
    number = f"-{rng.randint(10, 99)}" if has_number else ""
    return "OP-" + first + "".join(rest) + number


def _draw_keywords(rng: Random, num_keywords: int) -> tuple[str, ...]:
    firsts = rng.sample(lexicon.CODE_WORD_FIRST, num_keywords)
    seconds = rng.sample(lexicon.CODE_WORD_SECOND, num_keywords)
    return tuple(f"{first} {second}" for first, second in zip(firsts, seconds, strict=True))


def _rumour(rng: Random, lead: tuple[Sector, ...]) -> str:
    places = ", or ".join(lexicon.PLACE[sector] for sector in lead)
    return f"{rng.choice(lexicon.WITNESS)} saw it last {places}."

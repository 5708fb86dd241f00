"""What the agent sees: enough to play, nothing hidden, short."""

import re
from dataclasses import replace
from random import Random

import pytest

from neon_syndicate.core.actions import Action, Malformed, RunOperation, ScoutSector, SecureExtraction
from neon_syndicate.core.balance import MESSAGE_MAX_CHARS, PENALTY, TRADE_PRICE, Penalty
from neon_syndicate.core.generator import mission_of
from neon_syndicate.core.mission import Mission
from neon_syndicate.core.missions import BUILTIN_MISSIONS
from neon_syndicate.core.observation import observe
from neon_syndicate.core.prompts import SYSTEM_PROMPT, turn_text
from neon_syndicate.core.simulator import step
from neon_syndicate.core.state import State, initial_state
from neon_syndicate.core.vocabulary import FACTIONS, HOME, RESOURCES, SECTORS, Verb
from neon_syndicate.policies import PLAYERS, play

from .conftest import any_action

MISSIONS = [*BUILTIN_MISSIONS, *(mission_of(f"eval/{level}/{index}") for level in range(1, 6) for index in range(6))]


def num_tokens_at_most(text: str) -> int:
    """More tokens than any common byte-pair tokenizer makes of the text: words in pieces of four, marks one by one."""
    return len(re.findall(r"\w{1,4}|[^\w\s]|\n", text))


def episode(mission: Mission, seed: int) -> list[tuple[State, State]]:
    rng = Random(f"tests/neon/observation/{seed}")
    state, pairs = initial_state(mission), []
    while not state.is_finished:
        after = step(state, any_action(rng, mission))
        pairs.append((state, after))
        state = after
    return pairs


@pytest.mark.parametrize("mission", MISSIONS, ids=lambda mission: mission.key)
def test_every_turn_is_short(mission: Mission) -> None:
    assert num_tokens_at_most(turn_text(observe(initial_state(mission)))) < 250
    for seed in range(10):
        for before, after in episode(mission, seed):
            assert num_tokens_at_most(turn_text(observe(after, before))) < 250


def test_a_turn_is_short_even_after_the_longest_fault() -> None:
    state = initial_state(MISSIONS[-1])
    after = step(state, Malformed("x" * 200))
    assert num_tokens_at_most(turn_text(observe(after, state))) < 250


@pytest.mark.parametrize("mission", MISSIONS, ids=lambda mission: mission.key)
def test_codes_and_words_are_shown_once_revealed_and_never_before(mission: Mission) -> None:
    for seed in range(20):
        for before, after in episode(mission, seed):
            seen = observe(after, before)
            known = after.world.known
            shown = f"{seen._replace(last_action=None, repeat_signature=None)!r}\n{turn_text(seen)}".casefold()
            assert (mission.code.casefold() in shown) == (known.code is not None)
            for word in mission.keywords:
                assert (word in shown) == (word in known.keywords)


@pytest.mark.parametrize("mission", MISSIONS, ids=lambda mission: mission.key)
def test_nothing_hidden_can_be_told_apart_before_it_is_revealed(mission: Mission) -> None:
    """Two missions that differ in what is hidden alone look the same until the difference is revealed."""
    twin = replace(mission, code="OP-OTHER", keywords=tuple(f"word {n}" for n in range(len(mission.keywords))))
    for seed in range(20):
        rng = Random(f"tests/neon/twins/{seed}")
        state, other = initial_state(mission), initial_state(twin)
        while not state.is_finished and not state.world.known.code and not state.world.known.keywords:
            assert turn_text(observe(state)) == turn_text(observe(other))
            assert observe(state) == observe(other)
            action: Action | Malformed = any_action(rng, mission)
            state, other = step(state, action), step(other, action)


def test_a_hidden_target_sector_cannot_be_probed() -> None:
    """Deploying, trying codes and extracting everywhere tells nothing about where the target is."""
    mission = BUILTIN_MISSIONS[4]
    assert initial_state(mission).world.known.sector is None
    for sector in SECTORS:
        twin = replace(mission, sector=sector)
        rng = Random("tests/neon/probe")
        state, other = initial_state(mission), initial_state(twin)
        while not state.is_finished:
            action = any_action(rng, mission)
            if isinstance(action, ScoutSector):
                continue
            state, other = step(state, action), step(other, action)
            assert turn_text(observe(state)) == turn_text(observe(other))


def test_the_target_sector_gives_itself_away_when_scouted() -> None:
    for mission in MISSIONS:
        assert step(initial_state(mission), ScoutSector(mission.sector)).world.known.sector is mission.sector


@pytest.mark.parametrize("mission", BUILTIN_MISSIONS, ids=lambda mission: mission.key)
def test_the_first_turn_names_the_task_and_the_story(mission: Mission) -> None:
    text = turn_text(observe(initial_state(mission)))
    assert text.startswith(f"Task {mission.key}\n")
    for part in (
        mission.title,
        mission.stakes,
        mission.rumour,
        mission.allies[0] if len(mission.allies) == 1 else "Leads",
    ):
        assert part in text
    assert all(
        f"{name} {has}/{need}" in text for name, has, need in zip(RESOURCES, mission.start, mission.need, strict=True)
    )


@pytest.mark.parametrize("mission", MISSIONS, ids=lambda mission: mission.key)
def test_every_fact_needed_can_be_found_and_leads_lead_to_packets(mission: Mission) -> None:
    everything = step(initial_state(mission), ScoutSector(SECTORS[0]))
    for sector in SECTORS[1:]:
        everything = step(everything, ScoutSector(sector))
    known = everything.world.known
    assert known.code == mission.code
    assert known.sector is mission.sector
    assert set(known.keywords) == set(mission.keywords)
    assert set(known.allies) == set(mission.allies)
    holders = {sector for sector, packet in mission.packets.items() if packet.keywords or packet.has_code}
    named = {sector for lead in known.leads for sector in lead}
    assert holders <= named
    for lead in known.leads:
        assert 1 <= len(lead) <= 2
        assert len(holders & set(lead)) == 1
        assert list(lead) == sorted(lead, key=SECTORS.index)
    assert all("," not in word and "/" not in word for word in mission.keywords)
    assert len(", ".join(mission.keywords)) <= MESSAGE_MAX_CHARS


def test_code_words_and_codes_appear_in_no_prose() -> None:
    for mission in MISSIONS:
        prose = " ".join((mission.title, mission.stakes, mission.rumour, *(p.report for p in mission.packets.values())))
        for hidden in (mission.code, *mission.keywords):
            assert hidden.casefold() not in prose.casefold()


def test_the_rules_told_are_the_rules_played() -> None:
    for verb in Verb:
        assert f'"{verb}"' in SYSTEM_PROMPT
    flat = " ".join(SYSTEM_PROMPT.split())
    for faction in FACTIONS:
        assert faction in flat
        assert HOME[faction] in flat
    for resource, (paid, rate) in TRADE_PRICE.items():
        assert f"25 {resource} cost {rate} {paid}" in flat


def test_a_penalty_is_told_with_its_size() -> None:
    state = step(initial_state(MISSIONS[0]), RunOperation("x"))
    assert f"(-{PENALTY[Penalty.OPERATION_BEFORE_DEPLOY]:.2f})" in turn_text(observe(state))


def test_the_end_is_told() -> None:
    won = play(MISSIONS[0], PLAYERS["oracle"], 0)
    assert turn_text(observe(won)) == "Mission won."
    lost = step(won, SecureExtraction(SECTORS[0], "x"))
    assert turn_text(observe(lost)) == "Mission won."
    assert turn_text(observe(play(MISSIONS[0], PLAYERS["idle"], 0))) == "Mission lost."

"""The table of transitions and penalties, row by row."""

from typing import Any

import pytest

from neon_syndicate.core.actions import (
    Action,
    DeployAsset,
    NegotiatePact,
    Noop,
    RunOperation,
    ScoutSector,
    SecureExtraction,
    TradeResources,
    parse_action,
)
from neon_syndicate.core.balance import PENALTY, START_LANES, TRADE_PRICE, Penalty, trade_cost
from neon_syndicate.core.missions import BUILTIN_MISSIONS
from neon_syndicate.core.simulator import step
from neon_syndicate.core.state import State, initial_state
from neon_syndicate.core.vocabulary import LANE, Faction, Resource, Sector, Threat, Tier

from .conftest import played

RELAY, BROKER, BLACKOUT, CONVOY, COUP, FAILSAFE = BUILTIN_MISSIONS
SCOUT = ScoutSector(Sector.DOCKLANDS)
PACT = NegotiatePact(Faction.GHOSTWIRE)
DEPLOY = DeployAsset(Sector.DOCKLANDS)
OPERATION = RunOperation("OP-LANTERN")
WORDS = "tide bell, salt ledger"


def start(**changes: Any) -> State:
    """The easy relay mission with some of the world changed."""
    state = initial_state(RELAY)
    return state._replace(world=state.world._replace(**changes))


def after(state: State, *actions: Action) -> State:
    for action in actions:
        state = step(state, action)
    return state


def penalties(state: State) -> tuple[Penalty, ...]:
    return state.ledger.last_penalties


def test_the_starts_and_the_missions_are_the_published_ones() -> None:
    assert START_LANES == {Tier.EASY: (30, 20, 20, 20), Tier.MEDIUM: (35, 25, 35, 30), Tier.HARD: (50, 30, 65, 55)}
    facts = [
        (
            m.key,
            m.difficulty,
            {str(a) for a in m.allies},
            m.code,
            str(m.sector),
            m.need,
            len(m.keywords),
            m.threat.label,
        )
        for m in BUILTIN_MISSIONS
    ]
    assert facts == [
        ("builtin/task_easy_docklands_relay", "easy", {"ghostwire"}, "OP-LANTERN", "docklands", (30, 35, 20, 20), 2, "medium"),
        ("builtin/task_easy_data_spire_broker", "easy", {"civic_shield"}, "OP-MIRAGE", "data_spire", (25, 40, 30, 15), 2, "medium"),
        ("builtin/task_medium_undergrid_blackout", "medium", {"ghostwire", "iron_vultures"}, "OP-SUNFALL", "undergrid", (40, 55, 30, 35), 3, "high"),
        ("builtin/task_medium_citadel_convoy", "medium", {"black_orchid", "civic_shield"}, "OP-VEIL", "citadel_gate", (35, 50, 45, 30), 3, "high"),
        ("builtin/task_hard_orchid_coup", "hard", {"ghostwire", "civic_shield", "black_orchid"}, "OP-NIGHTHAVEN", "undergrid", (45, 70, 65, 45), 3, "critical"),
        ("builtin/task_hard_citywide_failsafe", "hard", {"ghostwire", "iron_vultures", "civic_shield"}, "OP-DAWNFALL", "data_spire", (50, 80, 60, 55), 3, "critical"),
    ]  # fmt: skip


def test_scouting_pays_energy_for_intel_and_reveals_once() -> None:
    first = after(start(), SCOUT)
    assert first.world.lanes == (30, 32, 20, 18)
    assert first.world.known.code == "OP-LANTERN"
    assert first.world.known.keywords == RELAY.keywords
    assert first.world.leverage == (Faction.IRON_VULTURES,)
    assert first.world.threat is Threat.LOW
    again = after(first, ScoutSector(Sector.UNDERGRID), SCOUT)
    assert again.world.lanes == (30, 50, 20, 14)
    assert again.world.threat is Threat.LOW


def test_scouting_stops_at_the_intel_cap_and_never_lowers_intel() -> None:
    assert after(start(lanes=(30, 119, 20, 20)), SCOUT).world.lanes[1] == 120
    assert penalties(after(start(lanes=(30, 20, 20, 1)), SCOUT)) == (Penalty.NO_ENERGY,)


def test_two_pacts_or_one_with_leverage_make_an_ally() -> None:
    assert after(start(), PACT).world.allies == ()
    assert after(start(), PACT, SCOUT, PACT).world.allies == (Faction.GHOSTWIRE,)
    allied = after(start(), ScoutSector(Sector.UNDERGRID), PACT)
    assert allied.world.allies == (Faction.GHOSTWIRE,)
    assert allied.world.lanes[2] == 12
    again = after(allied, SCOUT, PACT)
    assert again.world.lanes[2] == 12
    assert penalties(again) == (Penalty.REDUNDANT,)
    assert penalties(after(start(lanes=(30, 20, 7, 20)), PACT)) == (Penalty.NO_INFLUENCE,)


@pytest.mark.parametrize("resource", list(Resource))
@pytest.mark.parametrize("amount", [1, 6, 7, 24, 25])
def test_a_trade_costs_its_rate_rounded_up(resource: Resource, amount: int) -> None:
    paid, rate = TRADE_PRICE[resource]
    assert (paid, rate) == {
        Resource.CREDITS: (Resource.ENERGY, 4),
        Resource.INTEL: (Resource.CREDITS, 5),
        Resource.INFLUENCE: (Resource.CREDITS, 6),
        Resource.ENERGY: (Resource.CREDITS, 4),
    }[resource]
    traded = after(start(), TradeResources(resource, amount)).world.lanes
    assert traded[LANE[resource]] == RELAY.start[LANE[resource]] + amount
    assert traded[LANE[paid]] == RELAY.start[LANE[paid]] - -(-rate * amount // 25)
    assert trade_cost(resource, 25) == rate


@pytest.mark.parametrize("amount", [0, -500, 26, 10**30])
def test_an_amount_out_of_range_is_refused_not_clamped(amount: int) -> None:
    state = after(start(), TradeResources(Resource.CREDITS, amount))
    assert state.world == start().world
    assert penalties(state) == (Penalty.INVALID_ARGUMENT,)
    assert state.ledger.num_illegal == 1


def test_a_trade_must_be_affordable_and_stops_at_the_cap() -> None:
    broke = after(start(lanes=(3, 20, 20, 20)), TradeResources(Resource.INTEL, 25))
    assert penalties(broke) == (Penalty.UNAFFORDABLE_TRADE,)
    assert broke.world.lanes == (3, 20, 20, 20)
    assert after(start(lanes=(30, 110, 20, 20)), TradeResources(Resource.INTEL, 25)).world.lanes == (25, 120, 20, 20)


def test_deploying_costs_energy_and_twice_in_one_place_is_redundant() -> None:
    deployed = after(start(), DEPLOY)
    assert deployed.world.deployed is Sector.DOCKLANDS
    assert deployed.world.lanes[3] == 10
    assert penalties(after(deployed, SCOUT, DEPLOY)) == (Penalty.REDUNDANT,)
    assert after(deployed, DeployAsset(Sector.UNDERGRID)).world.deployed is Sector.UNDERGRID
    assert penalties(after(start(lanes=(30, 20, 20, 9)), DEPLOY)) == (Penalty.NO_ENERGY,)


ALLIED = (ScoutSector(Sector.UNDERGRID), PACT)


def test_the_operation_needs_deployment_an_ally_and_the_revealed_code_in_the_right_place() -> None:
    assert penalties(after(start(), OPERATION)) == (Penalty.OPERATION_BEFORE_DEPLOY,)
    assert penalties(after(start(), DEPLOY, OPERATION)) == (Penalty.OPERATION_WITHOUT_ALLY,)
    unrevealed = after(start(), *ALLIED, DEPLOY, OPERATION)
    assert penalties(unrevealed) == (Penalty.WRONG_CODE,)
    assert unrevealed.world.threat is Threat.HIGH
    elsewhere = after(start(), *ALLIED, SCOUT, DeployAsset(Sector.UNDERGRID), OPERATION)
    assert penalties(elsewhere) == (Penalty.WRONG_CODE,)
    done = after(start(), *ALLIED, SCOUT, DEPLOY, OPERATION)
    assert penalties(done) == ()
    assert done.world.is_operation_done
    assert done.world.lanes == (40, 59, 12, 6)
    again = after(done, SCOUT, OPERATION)
    assert penalties(again) == (Penalty.REDUNDANT,)
    assert again.world.lanes == (40, 65, 12, 4)
    assert penalties(after(done, RunOperation("OP-HALO"))) == (Penalty.REDUNDANT,)


@pytest.mark.parametrize("code", ["op-lantern", " OP-LANTERN ", "OP-LANTERN\n", "\uff2f\uff30-LANTERN"])
def test_codes_compare_after_compatibility_case_and_trim(code: str) -> None:
    assert after(start(), *ALLIED, SCOUT, DEPLOY, RunOperation(code)).world.is_operation_done


@pytest.mark.parametrize(
    "code", ["OP\u2011LANTERN", "OP-LANTERN\u200b", "\u041eP-LANTERN", "OPLANTERN", "OP-LANTERN OP-LANTERN"]
)
def test_look_alike_codes_are_wrong_codes(code: str) -> None:
    assert penalties(after(start(), *ALLIED, SCOUT, DEPLOY, RunOperation(code))) == (Penalty.WRONG_CODE,)


READY = (*ALLIED, SCOUT, DEPLOY, OPERATION)


def test_extraction_before_the_operation_is_refused_and_the_episode_goes_on() -> None:
    state = after(start(), SecureExtraction(Sector.DOCKLANDS, WORDS))
    assert penalties(state) == (Penalty.PREMATURE_EXTRACTION,)
    assert not state.is_finished
    assert state.world == start().world


@pytest.mark.parametrize(
    ("message", "score"),
    [
        ("tide bell, salt ledger", 1.0),
        ("SALT  LEDGER / Tide Bell", 1.0),
        ("tide bell\uff0c salt ledger,", 1.0),
        ("tide bell", 0.5),
        ("tide bell, tide bell", 0.0),
        ("tide bell, salt ledger, neon", 0.5),
        ("tide bell, salt ledger, a, b, c", 0.0),
        ("tide bellsalt ledger", 0.0),
        ("not tide bell, not salt ledger", 0.0),
        ("tide bell and salt ledger", 0.0),
        ("t\u0456de bell, salt ledger", 0.0),
    ],
)
def test_a_message_is_worth_its_code_words_less_what_is_foreign(message: str, score: float) -> None:
    extraction = after(start(), *READY, SecureExtraction(Sector.DOCKLANDS, message)).world.extraction
    assert extraction is not None
    assert extraction.message_score == score


def test_unrevealed_code_words_are_foreign() -> None:
    state = initial_state(BLACKOUT)
    state = after(
        state,
        ScoutSector(Sector.UNDERGRID),
        PACT,
        DeployAsset(Sector.UNDERGRID),
        RunOperation("OP-SUNFALL"),
        SecureExtraction(Sector.UNDERGRID, ", ".join(BLACKOUT.keywords)),
    )
    assert state.world.extraction is not None
    assert state.world.extraction.message_score == 0.0


def test_a_message_away_from_the_target_reaches_nobody() -> None:
    extraction = after(start(), *READY, SecureExtraction(Sector.UNDERGRID, WORDS)).world.extraction
    assert extraction is not None
    assert extraction.message_score == 0.0


@pytest.mark.parametrize("message", ["x" * 161, "tide bell, salt ledger" + " " * 160])
def test_a_message_over_the_limit_is_refused(message: str) -> None:
    state = after(start(), *READY, SecureExtraction(Sector.DOCKLANDS, message))
    assert penalties(state) == (Penalty.INCOMPLETE_EXTRACTION,)
    assert not state.is_finished


def test_waiting_and_trading_under_a_critical_threat_are_penalised() -> None:
    assert penalties(after(start(), Noop())) == (Penalty.NOOP,)
    assert after(start(), Noop()).world.threat is Threat.HIGH
    hot = start(threat=Threat.CRITICAL)
    assert set(penalties(after(hot, Noop()))) == {Penalty.NOOP, Penalty.PASSIVE_WHILE_CRITICAL}
    assert penalties(after(hot, TradeResources(Resource.INTEL, 5))) == (Penalty.PASSIVE_WHILE_CRITICAL,)
    assert penalties(after(hot, SCOUT)) == ()


def test_the_same_action_twice_running_is_a_repeat_whatever_its_amount() -> None:
    assert penalties(after(start(), SCOUT, SCOUT)) == (Penalty.REPEAT,)
    varied = after(start(), TradeResources(Resource.INTEL, 5), TradeResources(Resource.INTEL, 4))
    assert penalties(varied) == (Penalty.REPEAT,)
    assert penalties(after(start(), TradeResources(Resource.INTEL, 5), TradeResources(Resource.ENERGY, 5))) == ()
    assert Penalty.REPEAT in penalties(after(start(), RunOperation("a"), RunOperation(" A ")))


def test_a_malformed_reply_costs_a_turn_and_changes_nothing_else() -> None:
    once = after(start(), SCOUT)
    faulty = step(once, parse_action("hello"))
    assert faulty.world is once.world
    assert faulty.ledger.turn == 2
    assert penalties(faulty) == (Penalty.MALFORMED,)
    assert penalties(step(faulty, SCOUT)) == (Penalty.REPEAT,)
    assert penalties(step(faulty, PACT)) == ()


def test_a_winning_extraction_on_the_last_turn_wins() -> None:
    from neon_syndicate.core.solver import solve

    solution = solve(RELAY)
    assert solution is not None
    state = played(RELAY, [parse_action("hello")] * (12 - len(solution.best)) + list(solution.best))
    assert state.ledger.turn == 12
    assert state.is_success


def test_steps_after_the_end_change_nothing() -> None:
    state = played(RELAY, [Noop()] * 12)
    assert state.is_finished
    assert step(state, SCOUT) is state


def test_every_penalty_has_its_published_value() -> None:
    assert {kind.value: value for kind, value in PENALTY.items()} == {
        "repeat": 0.08,
        "malformed": 0.08,
        "invalid_argument": 0.08,
        "silence": 0.08,
        "redundant": 0.08,
        "no_influence": 0.07,
        "unaffordable_trade": 0.07,
        "no_energy": 0.08,
        "operation_before_deploy": 0.10,
        "operation_without_ally": 0.10,
        "wrong_code": 0.05,
        "incomplete_extraction": 0.10,
        "premature_extraction": 0.10,
        "noop": 0.06,
        "passive_while_critical": 0.04,
    }

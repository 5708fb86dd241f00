"""What a model types becomes an action, or a named fault."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neon_syndicate.core.actions import (
    Action,
    DeployAsset,
    Malformed,
    NegotiatePact,
    Noop,
    RunOperation,
    ScoutSector,
    SecureExtraction,
    TradeResources,
    action_text,
    parse_action,
)
from neon_syndicate.core.balance import Penalty
from neon_syndicate.core.vocabulary import Faction, Resource, Sector

EVERY_VERB: list[Action] = [
    ScoutSector(Sector.DOCKLANDS),
    NegotiatePact(Faction.GHOSTWIRE),
    TradeResources(Resource.INTEL, 25),
    DeployAsset(Sector.CITADEL_GATE),
    RunOperation("OP-LANTERN"),
    SecureExtraction(Sector.UNDERGRID, "tide bell, salt ledger"),
    Noop(),
]


@pytest.mark.parametrize("action", EVERY_VERB, ids=lambda action: action.verb)
def test_every_action_reads_back_from_its_own_text(action: Action) -> None:
    assert parse_action(action_text(action)) == action
    assert parse_action([{"role": "assistant", "content": action_text(action)}]) == action
    assert action.signature[0] == action.verb


@pytest.mark.parametrize(
    "reply",
    [
        '<think>maybe {"action_type":"noop"}</think>{"action_type":"scout_sector","sector":"docklands"}',
        '```python\nx = {"action_type": "noop"}\n```\n```json\n{"action_type":"scout_sector","sector":"docklands"}\n```',
        '{"action_type":"scout_sector","sector":"docklands"}\n\nSee [docs], ref [1].',
        '{"action_type":"scout_sector","sector":"docklands"} {"action_type":"scout_sector","sector":"docklands"}',
        '{"action_type":"noop"} on second thoughts {"action_type":"scout_sector","sector":"docklands"}',
        '{"action_type":" Scout_Sector ","sector":"DOCKLANDS","nonce":17}',
        '{"action_type":"\uff53cout_sector","sector":"docklands"}',
    ],
)
def test_the_last_action_of_a_reply_counts_and_its_surroundings_do_not(reply: str) -> None:
    assert parse_action(reply) == ScoutSector(Sector.DOCKLANDS)


@pytest.mark.parametrize(
    "amount", ["NaN", "Infinity", "-Infinity", "true", "false", '"25"', "25.0", "1e999", "null", "[25]"]
)
def test_an_amount_that_is_no_whole_number_is_malformed(amount: str) -> None:
    found = parse_action(f'{{"action_type": "trade_resources", "resource": "credits", "amount": {amount}}}')
    assert isinstance(found, Malformed)
    assert found.penalty in {Penalty.INVALID_ARGUMENT, Penalty.MALFORMED}


@pytest.mark.parametrize(
    ("fields", "penalty", "told"),
    [
        ({"action_type": "hack"}, Penalty.MALFORMED, "action_type"),
        ({"action_type": ["noop"]}, Penalty.MALFORMED, "action_type"),
        ({"action_type": True}, Penalty.MALFORMED, "action_type"),
        ({"action_type": "scout_sector"}, Penalty.INVALID_ARGUMENT, "sector: got nothing"),
        ({"action_type": "scout_sector", "sector": 3}, Penalty.INVALID_ARGUMENT, "sector: got 3"),
        ({"action_type": "deploy_asset", "sector": "moon"}, Penalty.INVALID_ARGUMENT, 'sector: got "moon"'),
        ({"action_type": "negotiate_pact", "faction": None}, Penalty.INVALID_ARGUMENT, "faction"),
        ({"action_type": "trade_resources", "resource": "gold", "amount": 1}, Penalty.INVALID_ARGUMENT, "resource"),
        ({"action_type": "run_operation", "operation_code": "  "}, Penalty.INVALID_ARGUMENT, "operation_code"),
        ({"action_type": "run_operation", "operation_code": 7}, Penalty.INVALID_ARGUMENT, "operation_code"),
        ({"action_type": "secure_extraction", "sector": "docklands"}, Penalty.INCOMPLETE_EXTRACTION, "message"),
        (
            {"action_type": "secure_extraction", "sector": "docklands", "message": 1},
            Penalty.INCOMPLETE_EXTRACTION,
            "message",
        ),
        ({"action_type": "secure_extraction", "message": "a"}, Penalty.INCOMPLETE_EXTRACTION, "sector"),
    ],
)
def test_a_fault_is_named_and_priced(fields: dict[str, Any], penalty: Penalty, told: str) -> None:
    found = parse_action(json.dumps(fields))
    assert isinstance(found, Malformed)
    assert found.penalty is penalty
    assert told in found.reason


@pytest.mark.parametrize("name", ["d\u043ecklands", "docklands\u200b", "dock lands", "docklands;", "\u2160docklands"])
def test_look_alike_names_are_not_names(name: str) -> None:
    assert isinstance(parse_action(json.dumps({"action_type": "scout_sector", "sector": name})), Malformed)


def test_nothing_typed_is_echoed_at_length() -> None:
    for reply in (
        json.dumps({"action_type": "x" * 60_000}),
        json.dumps({"action_type": "scout_sector", "sector": "\u0007\n" * 9_000}),
        json.dumps({"action_type": "trade_resources", "resource": "credits", "amount": [1] * 9_000}),
        '{"action_type": "trade_resources", "resource": "y", "amount": ' + "9" * 4_000 + "}",
        "x" * 10_000_000,
    ):
        found = parse_action(reply)
        assert isinstance(found, Malformed)
        assert len(found.reason) <= 250
        assert found.reason.isprintable()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
FIELDS = st.fixed_dictionaries(
    {"action_type": st.sampled_from([action.verb.value for action in EVERY_VERB]) | JSON},
    optional={
        name: JSON | st.sampled_from(["docklands", "ghostwire", "intel", 25])
        for name in ("sector", "faction", "resource", "amount", "operation_code", "message")
    },
)


@given(FIELDS.map(json.dumps) | st.text())
def test_nothing_a_model_can_type_raises(reply: str) -> None:
    assert parse_action(reply) is not None

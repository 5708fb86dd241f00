"""What a reply means: the rules of the parser, one by one."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lottery_elicitation.core.actions import Estimate, Malformed, Proposal, parse_action
from lottery_elicitation.core.lotteries import Lottery, Outcome, lottery
from lottery_elicitation.core.ranges import Range

A = {"outcomes": [{"value": 50, "probability": 0.5}, {"value": 0, "probability": 0.5}]}
B = {"outcomes": [{"value": 20, "probability": 1}, {"value": 0, "probability": 0}]}
THETA = {"gamma": 0.8, "lambda": 2.2}


def reply(**changed: Any) -> str:
    return json.dumps({"lottery_a": A, "lottery_b": B, "theta_estimate": THETA, "terminate_early": False} | changed)


def outcomes(*items: tuple[Any, Any]) -> dict[str, Any]:
    return {"outcomes": [{"value": value, "probability": probability} for value, probability in items]}


def reason(text: str) -> str:
    parsed = parse_action(text)
    assert isinstance(parsed, Malformed), parsed
    return parsed.reason


def proposal(text: str) -> Proposal:
    parsed = parse_action(text)
    assert isinstance(parsed, Proposal), parsed
    return parsed


def test_a_complete_action_is_read() -> None:
    action = proposal(reply())
    assert action.pair is not None
    assert action.pair.a == lottery((50, 0.5), (0, 0.5))
    assert action.estimate == Estimate(0.8, 2.2)
    assert not action.terminate_early
    assert not action.is_renormalised


def test_extra_keys_and_prose_around_are_ignored() -> None:
    assert (
        proposal(f"I try this:\n```json\n{reply(reasoning='because', confidence=None)}\n```\nSee [1].").pair is not None
    )


def test_thoughts_are_no_part_of_the_action_and_the_last_object_counts() -> None:
    first, second = reply(theta_estimate={"gamma": 0.3, "lambda": 1}), reply(theta_estimate={"gamma": 1, "lambda": 2})
    assert proposal(f"<think>{first}</think>{second}").estimate == Estimate(1.0, 2.0)
    assert proposal(f"{first}\n{second}").estimate == Estimate(1.0, 2.0)
    assert proposal(f"{first}\n{first}").estimate == Estimate(0.3, 1.0)


def test_chat_messages_and_text_parse_alike() -> None:
    messages = [{"role": "user", "content": "?"}, {"role": "assistant", "content": [{"type": "text", "text": reply()}]}]
    assert parse_action(messages) == parse_action(reply())


def test_lotteries_may_be_left_out_where_an_estimate_or_an_end_is_given() -> None:
    assert proposal(json.dumps({"theta_estimate": THETA, "terminate_early": True})).pair is None
    assert proposal(json.dumps({"theta_estimate": THETA})).pair is None
    assert proposal(json.dumps({"terminate_early": True})).estimate is None
    assert "lottery_a and lottery_b are missing" in reason(json.dumps({"terminate_early": False}))
    assert "lottery_b is missing" in reason(json.dumps({"lottery_a": A}))


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("hello", "no JSON object"),
        ("", "no JSON object"),
        (reply()[:-20], "not valid"),
        (reply().replace("50", "NaN"), "NaN"),
        (reply().replace("50", "Infinity"), "Infinity"),
        (reply().replace("50", "1e999"), "not finite"),
        (reply(lottery_a=outcomes((None, 0.5), (0, 0.5))), "null"),
        (reply(lottery_a=outcomes((True, 0.5), (0, 0.5))), "true"),
        (reply(lottery_a=outcomes((50, True), (0, False))), "true"),
        (reply(lottery_a=outcomes((50, "50%"), (0, "50%"))), "50%"),
        (reply(lottery_a=outcomes((50, 0.5), (0, 0.4))), "sum to 0.9"),
        (reply(lottery_a=outcomes((50, 0.53), (0, 0.5))), "sum to 1.03"),
        (reply(lottery_a=outcomes((50, 1.5), (0, -0.5))), "must lie in [0, 1]"),
        (reply(lottery_a=outcomes((101, 0.5), (0, 0.5))), "must lie in [-50, 100]"),
        (reply(lottery_a=outcomes((-50.1, 0.5), (0, 0.5))), "must lie in [-50, 100]"),
        (reply(lottery_a=outcomes((50, 1.0))), "it must have 2 or 3"),
        (reply(lottery_a=outcomes((50, 0.25), (1, 0.25), (2, 0.25), (3, 0.25))), "it must have 2 or 3"),
        (reply(lottery_a=[]), "must be an object"),
        (reply(lottery_a={"outcomes": {}}), "must be a list"),
        (reply(lottery_a={"outcomes": [{"value": 1}, {"value": 2}]}), "has no 'probability'"),
        (reply(lottery_a={"outcomes": [1, 2]}), "must be an object"),
        (reply(lottery_a=None), "null"),
        (reply(theta_estimate=None), "theta_estimate must be an object"),
        (reply(theta_estimate={"gamma": 0.8}), "has no 'lambda'"),
        (reply(theta_estimate={"gamma": "0.8", "lambda": 2}), "must be a JSON number"),
        (reply(theta_estimate={"gamma": False, "lambda": 2}), "false"),
        (reply(theta_estimate={"gamma": 10**400, "lambda": 2}), "not finite"),
        (reply(terminate_early="yes"), "terminate_early must be true or false"),
        (reply(terminate_early=1), "terminate_early must be true or false"),
        (reply(terminate_early=None), "terminate_early must be true or false"),
    ],
)
def test_a_malformed_action_is_named_and_never_guessed(text: str, fault: str) -> None:
    assert fault in reason(text)


def test_a_small_drift_of_probabilities_is_scaled_and_flagged() -> None:
    action = proposal(reply(lottery_a=outcomes((50, 0.33), (20, 0.33), (0, 0.33))))
    assert action.is_renormalised
    assert action.pair is not None
    assert action.pair.a.total_probability == pytest.approx(1.0, abs=1e-12)
    assert proposal(reply(lottery_a=outcomes((50, 0.5), (0, 0.52)))).is_renormalised
    assert proposal(reply(lottery_a=outcomes((50, 0.5), (0, 0.48)))).is_renormalised


def test_the_bounds_of_the_episode_apply() -> None:
    assert isinstance(parse_action(reply(), Range(-10, 40)), Malformed)


def test_an_action_survives_being_written_and_read() -> None:
    action = proposal(reply(lottery_a=outcomes((50, 0.1), (1 / 3, 0.9))))
    assert parse_action(json.dumps(action.to_json())) == action


@pytest.mark.parametrize(
    "bad", [(), ((1, 0.5),), ((1, 0.5), (2, 0.4)), ((float("nan"), 0.5), (2, 0.5)), ((1, 1.5), (2, -0.5))]
)
def test_a_lottery_that_is_none_cannot_be_made(bad: tuple[tuple[float, float], ...]) -> None:
    with pytest.raises(ValueError, match=r"lottery|finite|sum"):
        Lottery(tuple(Outcome(*outcome) for outcome in bad))


@given(
    st.text(max_size=300) | st.recursive(st.none() | st.booleans() | st.floats() | st.text(), st.lists).map(json.dumps)
)
def test_no_text_raises(text: str) -> None:
    assert isinstance(parse_action(text), Proposal | Malformed)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["outcomes", "value", "probability", "gamma", "lambda"]), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(st.dictionaries(st.sampled_from(["lottery_a", "lottery_b", "theta_estimate", "terminate_early"]), json_values))
def test_no_json_object_raises(fields: dict[str, Any]) -> None:
    assert isinstance(parse_action(json.dumps(fields)), Proposal | Malformed)

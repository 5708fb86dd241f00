"""The reference policies: their ladder, their chat form, the guardrail."""

import itertools
import json
import statistics
import subprocess
import sys
from collections.abc import Mapping

import pytest

from neon_syndicate.core.actions import Malformed, Noop, RunOperation, TradeResources, parse_action
from neon_syndicate.core.generator import LEVELS, generate_mission, mission_of
from neon_syndicate.core.grader import grade
from neon_syndicate.core.guardrail import decide, objection
from neon_syndicate.core.mission import Mission
from neon_syndicate.core.missions import BUILTIN_MISSIONS
from neon_syndicate.core.observation import observe
from neon_syndicate.core.prompts import SYSTEM_PROMPT, turn_text
from neon_syndicate.core.simulator import step
from neon_syndicate.core.state import initial_state
from neon_syndicate.core.strategies import heuristic, legal_actions
from neon_syndicate.core.vocabulary import Resource
from neon_syndicate.policies import LADDER, PLAYERS, POLICIES, play, turn_stream

NUM_SEEDS = 30


def returns(missions: list[Mission], name: str, num_seeds: int) -> list[float]:
    seeds = range(1 if name in {"idle", "oracle"} else num_seeds)
    return [grade(play(mission, PLAYERS[name], seed)).shaped for mission in missions for seed in seeds]


def test_the_ladder_holds_over_thirty_seeds_of_the_written_missions() -> None:
    means = [statistics.fmean(returns(list(BUILTIN_MISSIONS), name, NUM_SEEDS)) for name in LADDER]
    assert all(worse + 0.05 < better for worse, better in itertools.pairwise(means)), means


def test_the_ladder_holds_over_the_five_levels() -> None:
    missions = [generate_mission("eval", level, index) for level in LEVELS for index in range(6)]
    means = [statistics.fmean(returns(missions, name, 5)) for name in LADDER]
    assert all(worse < better for worse, better in itertools.pairwise(means)), means


def test_the_heuristic_is_not_already_optimal() -> None:
    hardest = [generate_mission("eval", 5, index) for index in range(12)]
    wins = [play(mission, PLAYERS["heuristic"], 0).is_success for mission in hardest]
    assert 0 < sum(wins) < len(wins)


def converse(name: str, mission: Mission, seed: int) -> list[dict[str, str]]:
    """One episode as a conversation of a chat policy."""
    state = initial_state(mission)
    messages = [{"role": "system", "content": SYSTEM_PROMPT}, {"role": "user", "content": turn_text(observe(state))}]
    while not state.is_finished:
        reply = POLICIES[name](messages, seed)
        before, state = state, step(state, parse_action(reply))
        messages += [
            {"role": "assistant", "content": reply},
            {"role": "user", "content": turn_text(observe(state, before))},
        ]
    return messages


@pytest.mark.parametrize(
    "name", ["random", "heuristic", "oracle", "hybrid_random", "exploit_memorised", "exploit_toggle_codes"]
)
@pytest.mark.parametrize("key", ["builtin/task_hard_orchid_coup", "eval/2/1"])
def test_a_chat_policy_plays_as_its_player_does(name: str, key: str) -> None:
    mission = mission_of(key)
    replies = [message["content"] for message in converse(name, mission, seed=3) if message["role"] == "assistant"]
    state, expected = initial_state(mission), []
    while not state.is_finished:
        expected.append(PLAYERS[name](state, turn_stream(state, 3)))
        state = step(state, parse_action(expected[-1]))
    assert replies == expected


def test_a_conversation_without_the_first_observation_is_refused() -> None:
    with pytest.raises(ValueError, match="Task KEY"):
        POLICIES["heuristic"]([{"role": "user", "content": "hello"}], 0)


def test_policies_do_not_depend_on_the_hash_seed() -> None:
    code = (
        "from neon_syndicate.policies import PLAYERS, play; from neon_syndicate.core.generator import mission_of;"
        "print([play(mission_of(k), PLAYERS[p], s).ledger for k in ('builtin/task_medium_citadel_convoy', 'eval/5/1')"
        " for p in ('random', 'curriculum', 'heuristic', 'oracle', 'noisy', 'hybrid_noisy') for s in range(3)])"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code], check=True, capture_output=True, text=True, env={"PYTHONHASHSEED": seed}
        ).stdout
        for seed in ("0", "7")
    }
    assert len(outputs) == 1


def test_seeds_matter_to_the_random_player() -> None:
    ends = {play(BUILTIN_MISSIONS[0], PLAYERS["random"], seed).ledger for seed in range(5)}
    assert len(ends) == 5


@pytest.mark.parametrize("name", ["hybrid_idle", "hybrid_random", "hybrid_curriculum", "hybrid_noisy"])
def test_every_override_stands_in_the_reply_with_its_reason(name: str) -> None:
    num_overrides = 0
    for mission in BUILTIN_MISSIONS:
        state = initial_state(mission)
        while not state.is_finished:
            reply = json.loads(PLAYERS[name](state, turn_stream(state, 0)))
            if override := reply.get("override"):
                num_overrides += 1
                assert override["objection"] == objection(observe(state), parse_action(override["proposed"]))
            else:
                assert objection(observe(state), parse_action(json.dumps(reply))) is None
            state = step(state, parse_action(json.dumps(reply)))
    assert num_overrides > 0


@pytest.mark.parametrize("proposer", ["random", "curriculum", "noisy", "idle"])
def test_the_guardrail_helps_its_proposer(proposer: str) -> None:
    missions = list(BUILTIN_MISSIONS)
    bare = statistics.fmean(returns(missions, proposer, 10))
    assert statistics.fmean(returns(missions, f"hybrid_{proposer}", 10)) > bare


def test_the_guardrail_lets_perfect_play_pass_where_nothing_hidden_is_used() -> None:
    state = initial_state(BUILTIN_MISSIONS[0])
    while not state.is_finished:
        reply = PLAYERS["oracle"](state, turn_stream(state, 0))
        assert objection(observe(state), parse_action(reply)) is None
        state = step(state, parse_action(reply))
    assert state.is_success


def test_a_malformed_proposal_is_overridden() -> None:
    seen = observe(initial_state(BUILTIN_MISSIONS[0]))
    decision = decide(seen, Malformed("no reply"), turn_stream(initial_state(BUILTIN_MISSIONS[0]), 0))
    assert decision.objection == "malformed"
    assert decision.played == heuristic(seen, turn_stream(initial_state(BUILTIN_MISSIONS[0]), 0))


def test_objections_name_the_rule() -> None:
    seen = observe(initial_state(BUILTIN_MISSIONS[0]))
    cases: Mapping[str, object] = {
        "waiting": Noop(),
        "not deployed in the target sector": RunOperation("x"),
        "amount out of range": TradeResources(Resource.INTEL, 26),
    }
    for reason, action in cases.items():
        assert objection(seen, action) == reason  # type: ignore[arg-type]


def test_no_legal_action_is_refused() -> None:
    for mission in BUILTIN_MISSIONS:
        state = initial_state(mission)
        while not state.is_finished:
            actions = legal_actions(observe(state))
            refused = [
                action for action in actions if step(state, action).ledger.num_illegal > state.ledger.num_illegal
            ]
            assert all(isinstance(action, RunOperation) for action in refused), refused
            state = step(state, parse_action(PLAYERS["noisy"](state, turn_stream(state, 0))))
        assert legal_actions(observe(state)) == ()

"""The environment in the real verifiers stack, against the policy server."""

import asyncio
from typing import Any

import pytest
import verifiers.v1 as vf

from neon_syndicate.core.generator import mission_of
from neon_syndicate.core.grader import grade
from neon_syndicate.core.simulator import replay, settle
from neon_syndicate.policies import PLAYERS, play
from vf_grpo.policies import policies_of
from vf_grpo.policy_server import PolicyServer, serving


def play_one(policy: str, *, taskset: dict[str, Any] | None = None, **agent: Any) -> vf.Trace[Any, Any, Any]:
    """The trace of one episode of a policy."""
    policies = {f"neon-syndicate/{name}": played for name, played in policies_of("neon-syndicate").items()}
    config = vf.resolve_env_config({"taskset": {"id": "neon-syndicate", **(taskset or {})}, "agent": agent})

    async def run() -> vf.Episode:
        env = vf.load_environment(config)
        async with serving(PolicyServer(policies)) as url, env.serving():
            client = vf.EvalClientConfig(base_url=url, api_key_var="NO_KEY")
            model = f"neon-syndicate/{policy}"
            context = vf.ModelContext(model=model, client=client, sampling=vf.SamplingConfig(seed=0))
            (task,) = env.taskset.take(1)
            return await env.run_slot(env.slots(task)[0], context)

    episode = asyncio.run(run())
    assert episode.ok, episode.errors
    return episode.traces[0]


@pytest.mark.parametrize("policy", ["oracle", "random", "exploit_chatter", "exploit_toggle_codes"])
def test_an_episode_in_the_stack_is_graded_as_in_the_simulator(policy: str) -> None:
    trace = play_one(policy)
    expected = grade(play(mission_of("builtin/task_easy_docklands_relay"), PLAYERS[policy], seed=0))
    assert trace.metrics == expected.metrics()
    assert {name: reward.score for name, reward in trace.rewards.items()} == {"shaped": expected.shaped}
    assert trace.num_turns == expected.num_turns
    assert trace.info["grader_fingerprint"]["environment"] == "neon-syndicate"


def test_a_run_that_is_cut_short_is_settled_as_silence() -> None:
    trace = play_one("heuristic", taskset={"difficulty": "hard", "reward": "grader"}, max_turns=3)
    assert len(trace.info["replies"]) == 3
    expected = grade(settle(replay(mission_of("builtin/task_hard_orchid_coup"), trace.info["replies"])))
    assert trace.metrics == expected.metrics()
    assert trace.metrics["penalty_silence"] == pytest.approx(9 * 0.08)
    assert trace.metrics["num_turns"] == 3
    assert trace.rewards["grader"].score == expected.grader

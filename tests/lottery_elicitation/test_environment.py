"""Whole episodes through verifiers v1: groups, noise seeds, replays, exploits."""

import asyncio
from typing import Any

import verifiers.v1 as vf

from lottery_elicitation.core.grader import grade
from lottery_elicitation.core.settings import Settings
from lottery_elicitation.core.simulator import replay
from lottery_elicitation.policies import POLICIES
from vf_grpo.policy_server import PolicyServer, serving


def episodes(policy: str, num_rollouts: int, **arguments: Any) -> list[vf.Episode]:
    """Rollouts of the first task."""

    async def play() -> list[vf.Episode]:
        config = vf.resolve_env_config({"taskset": {"id": "lottery-elicitation", **arguments}})
        env = vf.load_environment(config)
        async with serving(PolicyServer({policy: POLICIES[policy]})) as url, env.serving():
            client = vf.EvalClientConfig(base_url=url, api_key_var="NO_KEY")
            context = vf.ModelContext(model=policy, client=client, sampling=vf.SamplingConfig())
            (task,) = env.taskset.take(1)
            return [await env.run_slot(env.slots(task)[0], context) for _ in range(num_rollouts)]

    played = asyncio.run(play())
    assert all(episode.ok for episode in played), [episode.errors for episode in played]
    return played


def test_rollouts_of_a_group_share_the_world_and_replay_from_their_noise_seeds() -> None:
    traces = [episode.traces[0] for episode in episodes("ceiling", 6, noise=5.0, reward="robust_shaped")]
    facts = [trace.info["episode"] for trace in traces]
    assert len({fact["noise_seed"] for fact in facts}) == 6
    assert len({fact["key"] for fact in facts}) == 1
    settings = Settings(noise=5.0, reward="robust_shaped")
    states = [replay(settings, fact) for fact in facts]
    assert len({state.world for state in states}) == 1
    assert len({tuple(turn.choice for turn in state.turns) for state in states}) > 1
    for trace, state in zip(traces, states, strict=True):
        assert trace.reward == grade(state).reward


def test_a_malformed_reply_keeps_the_episode_alive_and_spam_pays_minus_two() -> None:
    (episode,) = episodes("malformed_spam", 1, max_turns=3)
    trace = episode.traces[0]
    assert trace.reward == -2.0
    assert trace.metrics["num_turns"] == 3.0
    assert trace.metrics["malformed_fraction"] == 1.0


def test_the_optimal_policy_scores_its_skill_through_the_stack() -> None:
    (episode,) = episodes("ceiling", 1)
    assert episode.traces[0].metrics["skill"] > 0.99

"""verifiers v1: the environment plays the respondent and drives the agent one turn at a time."""

from uuid import uuid4

import verifiers.v1 as vf

from ._envkit.chat_harness import close_session
from .core.actions import parse_action
from .core.prompts import observe, render
from .core.simulator import step, transcript
from .taskset import LotteryTask


class LotteryEnvConfig(vf.SingleAgentEnvConfig):
    # The framework's default runtime is a remote sandbox; a text-only task needs none.
    agent: vf.AgentConfig = vf.AgentConfig(runtime=vf.SubprocessConfig())


class LotteryEnv(vf.SingleAgentEnv, vf.Env[LotteryEnvConfig]):
    async def run(self, task: LotteryTask, agents: vf.Agents) -> None:
        # Rollouts of a group share the hidden parameters and differ in choice noise; the seed is kept with the episode.
        state = task.start(noise_seed=uuid4().int >> 96)
        async with agents.agent.interaction(task) as chat:
            while not state.is_over:
                segment = await chat.turn(render(observe(state)))
                if segment.terminated:  # a limit, a stop or an error ended the run
                    break
                state = step(state, parse_action(segment.last_reply, state.world.outcome_bounds))
                # Leaving the block scores the trace, so the facts must be on it by then.
                chat.trace.info["episode"] = transcript(state)

    async def stop(self) -> None:
        await close_session()

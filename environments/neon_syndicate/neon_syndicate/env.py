"""verifiers v1: the environment is the user; it drives the agent one turn at a time, in this process."""

from typing import Any

import verifiers.v1 as vf

from ._envkit.chat_harness import close_session
from .core.actions import parse_action
from .core.generator import mission_of
from .core.observation import observe
from .core.prompts import turn_text
from .core.simulator import step
from .core.state import initial_state
from .taskset import NeonTask


class NeonEnvConfig(vf.SingleAgentEnvConfig):
    # The framework's default runtime is a remote sandbox; a text-only task needs none.
    agent: vf.AgentConfig = vf.AgentConfig(runtime=vf.SubprocessConfig())


class NeonEnv(vf.SingleAgentEnv, vf.Env[NeonEnvConfig]):
    async def run(self, task: NeonTask, agents: Any) -> None:
        """Play one episode. The replies go on the trace, which is graded as the interaction closes."""
        state = initial_state(mission_of(task.data.id))
        message, replies = turn_text(observe(state)), list[str]()
        async with agents.agent.interaction(task) as chat:
            chat.trace.info["replies"] = replies
            while not state.is_finished:
                segment = await chat.turn(message)
                if segment.terminated:
                    break
                replies.append(segment.last_reply)
                before, state = state, step(state, parse_action(segment.last_reply))
                message = turn_text(observe(state, before))

    async def stop(self) -> None:
        await close_session()

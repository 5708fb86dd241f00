"""verifiers v1: the environment, one chat reply per task in this process."""

import verifiers.v1 as vf

from ._envkit.chat_harness import close_session


class Add3DigitEnvConfig(vf.SingleAgentEnvConfig):
    # The framework's default runtime is a remote sandbox; a text-only task needs none.
    agent: vf.AgentConfig = vf.AgentConfig(runtime=vf.SubprocessConfig(), max_turns=1)


class Add3DigitEnv(vf.SingleAgentEnv, vf.Env[Add3DigitEnvConfig]):
    async def stop(self) -> None:
        await close_session()

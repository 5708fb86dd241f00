"""A toy verifiers environment for the trainer's tests: say the digit you are told, for as many turns as the task has.

Task `index` lasts `index % max_turns + 1` turns, so a batch mixes episodes of different lengths. The reward is the share of
turns whose reply begins with the digit asked for. `fail_every` makes every n-th task raise, `slow_s` makes each turn wait.
"""

import asyncio
import uuid
from collections.abc import Iterator
from typing import Literal

import aiohttp
import verifiers.v1 as vf
from verifiers.v1.dialects.chat import message_to_wire

__all__ = ["ToyEchoEnv", "ToyEchoHarness", "ToyEchoTaskset"]


class ToyEchoData(vf.TaskData):
    id: str
    digits: str
    must_fail: bool
    slow_s: float


class ToyEchoTask(vf.Task[ToyEchoData, vf.State, vf.TaskConfig]):
    @property
    def key(self) -> str:
        return self.data.id

    @vf.metric
    async def diagnostics(self, trace: vf.Trace) -> dict[str, float]:
        replies: list[str] = trace.info.get("replies", [])
        return {"right": self._score(replies), "malformed": float(any(not reply for reply in replies))}

    @vf.reward
    async def echo(self, trace: vf.Trace) -> float:
        return self._score(trace.info.get("replies", []))

    def _score(self, replies: list[str]) -> float:
        hits = sum(reply[:1] == digit for reply, digit in zip(replies, self.data.digits, strict=False))
        return hits / len(self.data.digits)


class ToyEchoConfig(vf.TasksetConfig):
    num_tasks: int = 64
    max_turns: int = 1
    level: Literal["one-digit", "ten-digits"] = "ten-digits"
    fail_every: int = 0
    slow_s: float = 0.0


class ToyEchoTaskset(vf.Taskset[ToyEchoTask, ToyEchoConfig]):
    def load(self) -> Iterator[ToyEchoTask]:
        config = self.config
        for index in range(config.num_tasks):
            num_turns = index % config.max_turns + 1
            first = index if config.level == "ten-digits" else 7
            digits = "".join(str((first + turn) % 10) for turn in range(num_turns))
            must_fail = bool(config.fail_every) and index % config.fail_every == config.fail_every - 1
            key = f"{config.level}/{index}"
            data = ToyEchoData(id=key, digits=digits, must_fail=must_fail, slow_s=config.slow_s, prompt=None)
            yield ToyEchoTask(data, config.task)


class ToyEchoEnvConfig(vf.SingleAgentEnvConfig):
    agent: vf.AgentConfig = vf.AgentConfig(runtime=vf.SubprocessConfig())


class ToyEchoEnv(vf.SingleAgentEnv, vf.Env[ToyEchoEnvConfig]):
    async def run(self, task: ToyEchoTask, agents: vf.Agents) -> None:
        if task.data.must_fail:
            raise RuntimeError("this task always fails")
        async with agents.agent.interaction(task) as chat:
            replies: list[str] = []
            for digit in task.data.digits:
                await asyncio.sleep(task.data.slow_s)
                segment = await chat.turn(f"say {digit}")
                if segment.terminated:
                    break
                replies.append(segment.last_reply)
            chat.trace.info["replies"] = replies


class ToyEchoHarnessConfig(vf.HarnessConfig):
    id: str = "toy-echo"


class ToyEchoHarness(vf.Harness[ToyEchoHarnessConfig]):
    """One model call a turn, in this process. Offered tools are not taken up."""

    APPENDS_SYSTEM_PROMPT = True
    SUPPORTS_MCP = True
    SUPPORTS_RESUME = True
    EXECUTES_CODE = False
    NEEDS_CONTAINER = False

    async def launch(self, ctx, trace, runtime, endpoint, secret, mcp_urls, data):  # type: ignore[no-untyped-def]
        _, prompt = self.resolve_prompt(data)
        request = {"model": ctx.model, "messages": [message_to_wire(message) for message in prompt or []]}
        headers = {"Authorization": f"Bearer {secret}", "Idempotency-Key": uuid.uuid4().hex}
        async with (
            aiohttp.ClientSession() as session,
            session.post(f"{endpoint}/chat/completions", headers=headers, json=request) as reply,
        ):
            body = await reply.text()
        return vf.ProgramResult(exit_code=int(reply.status >= 400), stdout="", stderr=body)

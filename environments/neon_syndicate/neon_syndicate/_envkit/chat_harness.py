# Generated from envkit/chat_harness.py by scripts/vendor.py: edit there.
"""An in-process chat harness: each turn is one model call through verifiers' interception endpoint.

The endpoint is the contract, not the process: the built-in harness starts a Python process for every turn.
"""

import asyncio
import random
import uuid
from weakref import WeakKeyDictionary

import aiohttp
import verifiers.v1 as vf
from verifiers.v1.dialects.chat import message_to_wire

_RETRIED = frozenset({408, 409, 429, 500, 502, 503, 504})
_sessions: WeakKeyDictionary[asyncio.AbstractEventLoop, aiohttp.ClientSession] = WeakKeyDictionary()


def _session() -> aiohttp.ClientSession:
    """The event loop's connection pool: a harness object lives for one episode, the pool for all of them."""
    loop = asyncio.get_running_loop()
    if loop not in _sessions or _sessions[loop].closed:
        _sessions[loop] = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0), timeout=aiohttp.ClientTimeout(total=None)
        )
    return _sessions[loop]


async def close_session() -> None:
    """Close the running loop's connection pool, if it has one."""
    session = _sessions.pop(asyncio.get_running_loop(), None)
    if session is not None:
        await session.close()


class ChatHarnessConfig(vf.HarnessConfig):
    max_attempts: int = 4
    """Tries per model call when the endpoint answers with a rate limit, a conflict, a timeout or a server error."""


class ChatHarness(vf.Harness[ChatHarnessConfig]):
    APPENDS_SYSTEM_PROMPT = True
    SUPPORTS_RESUME = True
    EXECUTES_CODE = False
    NEEDS_CONTAINER = False

    async def launch(
        self,
        ctx: vf.ModelContext,
        trace: vf.Trace,
        runtime: vf.Runtime,
        endpoint: str,
        secret: str,
        mcp_urls: dict[str, str],
        data: vf.TaskData,
    ) -> vf.ProgramResult:
        """Send the conversation once and return; the interception endpoint has recorded the reply on the trace."""
        system, prompt = self.resolve_prompt(data)
        opening = [vf.UserMessage(content=prompt)] if isinstance(prompt, str) else prompt or []
        messages = [{"role": "system", "content": system}] if system else []
        messages += [message_to_wire(message) for message in opening]
        request = {"model": ctx.model, "messages": messages}
        headers = {
            "Authorization": f"Bearer {secret}",
            # However often it is retried, one logical call commits at most one turn.
            "Idempotency-Key": uuid.uuid4().hex,
        }
        for attempt in range(1, self.config.max_attempts + 1):
            async with _session().post(f"{endpoint}/chat/completions", headers=headers, json=request) as reply:
                status, body = reply.status, await reply.text()
            if status not in _RETRIED or attempt == self.config.max_attempts:
                break
            await asyncio.sleep(min(8.0, 2.0 ** (attempt - 1)) * random.uniform(0.5, 1.0))
        # A turn refused by a limit or a @vf.stop is a 400 too; the framework tells the two apart.
        return vf.ProgramResult(exit_code=int(status >= 400), stdout="", stderr=body if status >= 400 else "")

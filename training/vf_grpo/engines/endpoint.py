"""A token-in, token-out endpoint inside the trainer's process.

Speaks the part of vLLM's `/inference/v1/generate` that verifiers' train client uses. Handlers run on the episodes' loop
and queue each request; the trainer's thread, which waits for the episodes anyway, takes them out and samples.
"""

import asyncio
import queue
import socket
import uuid
from dataclasses import dataclass, field
from typing import Any, Literal

from aiohttp import web

from vf_grpo.episodes import submit

SHUTDOWN_TIMEOUT_S = 1.0
"""How long open connections may linger after the last step."""

HONOURED = frozenset({"temperature", "max_tokens", "seed", "stop_token_ids"})
IGNORED = frozenset({"logprobs", "skip_special_tokens", "routed_experts_prompt_start"})
"""Sent with every request and of no effect here: the sampled log-probability is always returned, nothing is
detokenised.
"""

FinishReason = Literal["stop", "length"]


@dataclass(frozen=True)
class GenerateRequest:
    """One model call: a prompt in tokens and how to sample its reply. `finish` answers it from any thread, once."""

    token_ids: list[int]
    temperature: float
    max_tokens: int
    seed: int
    stop_token_ids: frozenset[int]
    reply: asyncio.Future[dict[str, Any]]
    id: str = field(default_factory=lambda: uuid.uuid4().hex)

    @property
    def is_abandoned(self) -> bool:
        """The episode behind the request is gone (timeout, shutdown)."""
        return self.reply.done()

    def finish(self, token_ids: list[int], logprobs: list[float], reason: FinishReason) -> None:
        content = [{"token": f"token_id:{t}", "logprob": p} for t, p in zip(token_ids, logprobs, strict=True)]
        choice = {"index": 0, "token_ids": token_ids, "finish_reason": reason, "logprobs": {"content": content}}
        self.reply.get_loop().call_soon_threadsafe(self._set, {"request_id": self.id, "choices": [choice]})

    def _set(self, body: dict[str, Any]) -> None:
        if not self.reply.done():
            self.reply.set_result(body)


class TokenEndpoint:
    """Serves `/inference/v1/generate` and `/v1/models` on a free loopback port; `requests` holds what waits."""

    def __init__(self, model: str, max_context: int) -> None:
        self.model = model
        self.max_context = max_context
        self.requests: queue.Queue[GenerateRequest] = queue.Queue()
        self._socket = socket.socket()
        self._socket.bind(("127.0.0.1", 0))
        self.base_url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"

    def start(self) -> None:
        submit(self._listen()).result()

    def close(self) -> None:
        """Answer nothing more; requests that still wait are dropped with their connections."""
        submit(self._server.cleanup()).result()

    def take(self, timeout_s: float) -> GenerateRequest | None:
        """The next request that still has an episode behind it, or None after `timeout_s` without one."""
        try:
            request = self.requests.get(timeout=timeout_s) if timeout_s > 0 else self.requests.get_nowait()
        except queue.Empty:
            return None
        return request if not request.is_abandoned else self.take(0.0)

    async def _listen(self) -> None:
        app = web.Application(client_max_size=2**28)
        app.router.add_post("/inference/v1/generate", self._generate)
        app.router.add_get("/v1/models", self._models)
        # A caller that hangs up cancels its handler, which marks its request as abandoned.
        self._server = web.AppRunner(
            app, access_log=None, shutdown_timeout=SHUTDOWN_TIMEOUT_S, handler_cancellation=True
        )
        await self._server.setup()
        await web.SockSite(self._server, self._socket, backlog=1024).start()

    async def _models(self, _: web.Request) -> web.Response:
        card = {"id": self.model, "object": "model", "max_model_len": self.max_context}
        return web.json_response({"object": "list", "data": [card]})

    async def _generate(self, http_request: web.Request) -> web.Response:
        body = await http_request.json()
        sampling = body["sampling_params"]
        unknown = sorted(set(sampling) - HONOURED - IGNORED)
        if unknown:
            return _refusal(f"sampling settings {unknown} are not supported here; supported: {sorted(HONOURED)}")
        room = self.max_context - len(body["token_ids"])
        if room <= 0:
            return _refusal(f"a prompt of {len(body['token_ids'])} tokens leaves no room in {self.max_context}")
        request = GenerateRequest(
            token_ids=body["token_ids"],
            temperature=float(sampling.get("temperature", 1.0)),
            max_tokens=min(int(sampling.get("max_tokens", room)), room),
            seed=int(sampling.get("seed", 0)),
            stop_token_ids=frozenset(sampling.get("stop_token_ids", ())),
            reply=asyncio.get_running_loop().create_future(),
        )
        self.requests.put(request)
        return web.json_response(await request.reply)


def _refusal(message: str) -> web.Response:
    return web.json_response({"error": {"message": message, "type": "BadRequestError", "code": 400}}, status=400)

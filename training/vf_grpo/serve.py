"""`vf-grpo serve CHECKPOINT`: a checkpoint as an OpenAI-compatible API on loopback, sampled with transformers.

For `vf-eval` and `vf-grpo evaluate` to judge what was trained, on a machine without vLLM. Requests that arrive together
are sampled in one batch. Simplifications: no tools, no top-p; a stream carries the reply in one piece.
"""

import asyncio
import json
import queue
import secrets
import sys
import threading
import uuid
from pathlib import Path
from typing import Annotated, Any

from aiohttp import web
from pydantic import BaseModel, Field, ValidationError
from pydantic_config import BaseConfig

from vf_grpo.command_line import parse_config
from vf_grpo.engines.endpoint import FinishReason, GenerateRequest

USAGE = "usage: vf-grpo serve CHECKPOINT [--name NAME] [--host H] [--port P] [--max-context N]"
GATHER_S = 0.01
"""How long a batch waits for further requests."""


class ServeConfig(BaseConfig):
    name: str | None = None
    """Model name that clients use; the checkpoint's folder name when unset."""
    host: str = "127.0.0.1"
    port: int = Field(8766, ge=0, le=65535)
    """0 takes a free one."""
    max_context: int = Field(4096, ge=2)
    max_batch: int = Field(64, ge=1)


class ChatRequest(BaseModel):
    model: str
    messages: Annotated[list[dict[str, Any]], Field(min_length=1)]
    max_tokens: Annotated[int, Field(ge=1)] | None = None
    max_completion_tokens: Annotated[int, Field(ge=1)] | None = None
    temperature: Annotated[float, Field(ge=0)] = 1.0
    seed: int | None = None
    stream: bool = False
    n: Annotated[int, Field(ge=1, le=1)] = 1
    chat_template_kwargs: dict[str, Any] = Field(default_factory=dict)


class CheckpointServer:
    """Request handlers over one model; `sample_forever` runs in a thread of its own."""

    def __init__(self, checkpoint: str, config: ServeConfig) -> None:
        from transformers import AutoModelForCausalLM, AutoTokenizer

        self.name = config.name or Path(checkpoint).name
        self._config = config
        self._tokenizer = AutoTokenizer.from_pretrained(checkpoint)
        self._model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype="auto").eval()
        self._requests: queue.Queue[GenerateRequest] = queue.Queue()

    def app(self) -> web.Application:
        app = web.Application(client_max_size=2**24)
        app.router.add_get("/v1/models", self._models)
        app.router.add_post("/v1/chat/completions", self._complete)
        return app

    def sample_forever(self) -> None:
        """Answer requests batch by batch."""
        from vf_grpo.engines.batch_sampling import sample_batch

        pad_token_id = self._tokenizer.pad_token_id or 0
        while True:
            batch = [self._requests.get()]
            while len(batch) < self._config.max_batch:
                try:
                    batch.append(self._requests.get(timeout=GATHER_S))
                except queue.Empty:
                    break
            sample_batch(self._model, batch, pad_token_id)

    async def _models(self, _: web.Request) -> web.Response:
        card = {"id": self.name, "object": "model", "max_model_len": self._config.max_context, "owned_by": "vf-grpo"}
        return web.json_response({"object": "list", "data": [card]})

    async def _complete(self, http_request: web.Request) -> web.StreamResponse:
        try:
            chat = ChatRequest.model_validate_json(await http_request.read())
        except ValidationError as error:
            return _refusal(400, "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors()))
        if chat.model != self.name:
            return _refusal(404, f"no model {chat.model!r}: this server has {self.name!r}")
        prompt_ids = self._tokenizer.apply_chat_template(
            chat.messages, add_generation_prompt=True, tokenize=True, return_dict=False, **chat.chat_template_kwargs
        )
        room = self._config.max_context - len(prompt_ids)
        if room <= 0:
            return _refusal(400, f"a prompt of {len(prompt_ids)} tokens leaves no room in {self._config.max_context}")
        token_ids, reason = await self._sample(chat, prompt_ids, room)
        text = self._tokenizer.decode(token_ids, skip_special_tokens=True)
        usage = {"prompt_tokens": len(prompt_ids), "completion_tokens": len(token_ids)}
        usage["total_tokens"] = sum(usage.values())
        return self._reply(chat, text, reason, usage)

    async def _sample(self, chat: ChatRequest, prompt_ids: list[int], room: int) -> tuple[list[int], FinishReason]:
        request = GenerateRequest(
            token_ids=prompt_ids,
            temperature=chat.temperature,
            max_tokens=min(chat.max_completion_tokens or chat.max_tokens or room, room),
            seed=secrets.randbits(31) if chat.seed is None else chat.seed,
            stop_token_ids=self._stop_token_ids(),
            reply=asyncio.get_running_loop().create_future(),
        )
        self._requests.put(request)
        choice = (await request.reply)["choices"][0]
        return choice["token_ids"], choice["finish_reason"]

    def _stop_token_ids(self) -> frozenset[int]:
        declared = self._model.generation_config.eos_token_id
        listed = declared if isinstance(declared, list) else [declared]
        return frozenset(i for i in [*listed, self._tokenizer.eos_token_id] if i is not None)

    def _reply(self, chat: ChatRequest, text: str, reason: FinishReason, usage: dict[str, int]) -> web.Response:
        envelope = {"id": f"chatcmpl-{uuid.uuid4().hex[:24]}", "created": 0, "model": self.name}
        message = {"role": "assistant", "content": text}
        if not chat.stream:
            choice = {"index": 0, "message": message, "finish_reason": reason, "logprobs": None}
            return web.json_response(envelope | {"object": "chat.completion", "choices": [choice], "usage": usage})
        envelope["object"] = "chat.completion.chunk"
        chunks: list[dict[str, Any]] = [
            {"choices": [{"index": 0, "delta": message, "finish_reason": None}]},
            {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]},
            {"choices": [], "usage": usage},
        ]
        events = [f"data: {json.dumps(envelope | chunk)}\n\n" for chunk in chunks]
        return web.Response(text="".join(events) + "data: [DONE]\n\n", content_type="text/event-stream")


def main(argv: list[str]) -> int:
    """Serve until interrupted."""
    if not argv or argv[0].startswith(("-", "@")):
        print(USAGE, file=sys.stderr)
        return 0 if {"-h", "--help"} & set(argv) else 2
    config = parse_config(ServeConfig, argv[1:], "serve")
    try:
        asyncio.run(_serve(CheckpointServer(argv[0], config), config))
    except KeyboardInterrupt:
        return 130
    return 0


async def _serve(server: CheckpointServer, config: ServeConfig) -> None:
    runner = web.AppRunner(server.app(), access_log=None)
    await runner.setup()
    await web.TCPSite(runner, config.host, config.port).start()
    threading.Thread(target=server.sample_forever, daemon=True).start()
    print(f"serving {server.name} at http://{config.host}:{runner.addresses[0][1]}/v1", flush=True)
    await asyncio.Event().wait()


def _refusal(status: int, message: str) -> web.Response:
    body = {"error": {"message": message, "type": "invalid_request_error", "code": status}}
    return web.json_response(body, status=status)

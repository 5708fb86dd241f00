"""`vf-grpo serve-policies`: reference policies as the models of an OpenAI-compatible server on loopback.

Chat completions (also streamed) and the model list. A reply depends on the policy, the seed and the conversation alone,
so any client can be calibrated against policies of known reward.
"""

import argparse
import asyncio
import hashlib
import json
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Annotated, Any

from aiohttp import web
from pydantic import AfterValidator, BaseModel, Field, ValidationError

from vf_grpo.policies import ChatPolicy, canonical_id, installed_policies

MAX_BODY_BYTES = 16 * 2**20
CREATED = 0
"""Responses carry no clock time: they are the same every time."""


def _require_role(message: dict[str, Any]) -> dict[str, Any]:
    if not isinstance(message.get("role"), str):
        raise ValueError("a message has no role: pass system, user or assistant")
    return message


class ChatRequest(BaseModel):
    model: str
    messages: Annotated[list[Annotated[dict[str, Any], AfterValidator(_require_role)]], Field(min_length=1)]
    stream: bool = False
    seed: int | None = None
    n: Annotated[int, Field(ge=1, le=1)] = 1


class Completion(BaseModel):
    """One reply in the words of the wire format."""

    id: str
    model: str
    text: str
    num_prompt_tokens: int

    @property
    def usage(self) -> dict[str, int]:
        """Whitespace-separated tokens: policies have no tokenizer."""
        num_reply_tokens = len(self.text.split())
        return {
            "prompt_tokens": self.num_prompt_tokens,
            "completion_tokens": num_reply_tokens,
            "total_tokens": self.num_prompt_tokens + num_reply_tokens,
        }

    def body(self) -> dict[str, Any]:
        message = {"role": "assistant", "content": self.text}
        choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}
        return self._envelope("chat.completion", [choice]) | {"usage": self.usage}

    def chunks(self) -> list[dict[str, Any]]:
        deltas: list[tuple[dict[str, str], str | None]] = [({"role": "assistant", "content": ""}, None)]
        deltas += [({"content": piece}, None) for piece in self.text.splitlines(keepends=True)]
        deltas.append(({}, "stop"))
        chunks = [
            self._envelope("chat.completion.chunk", [{"index": 0, "delta": delta, "finish_reason": reason}])
            for delta, reason in deltas
        ]
        return [*chunks, self._envelope("chat.completion.chunk", []) | {"usage": self.usage}]

    def _envelope(self, kind: str, choices: list[dict[str, Any]]) -> dict[str, Any]:
        return {"id": self.id, "object": kind, "created": CREATED, "model": self.model, "choices": choices}


class PolicyServer:
    """The request handlers over a table of model id -> policy."""

    def __init__(self, policies: Mapping[str, ChatPolicy], seed: int = 0) -> None:
        self.policies = policies
        self.seed = seed

    def app(self) -> web.Application:
        app = web.Application(client_max_size=MAX_BODY_BYTES, middlewares=[_errors_as_json])
        app.router.add_get("/v1/models", self._models)
        app.router.add_post("/v1/chat/completions", self._complete)
        return app

    async def _models(self, request: web.Request) -> web.Response:
        data = [{"id": name, "object": "model", "created": CREATED, "owned_by": "vf-grpo"} for name in self.policies]
        return web.json_response({"object": "list", "data": data})

    async def _complete(self, request: web.Request) -> web.StreamResponse:
        try:
            chat = ChatRequest.model_validate_json(await request.read())
        except ValidationError as error:
            return _error(400, "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors()))
        policy = self.policies.get(chat.model)
        if policy is None:
            return _error(404, f"no model {chat.model!r}: GET /v1/models lists {len(self.policies)}")
        try:
            completion = self._play(policy, chat)
        except ValueError as error:
            return _error(400, f"{chat.model} cannot play this conversation: {error}")
        if not chat.stream:
            return web.json_response(completion.body())
        events = [f"data: {json.dumps(chunk)}\n\n" for chunk in completion.chunks()]
        return web.Response(text="".join(events) + "data: [DONE]\n\n", content_type="text/event-stream")

    def _play(self, policy: ChatPolicy, chat: ChatRequest) -> Completion:
        seed = self.seed if chat.seed is None else chat.seed
        conversation = json.dumps([chat.model, seed, chat.messages], sort_keys=True)
        return Completion(
            id="chatcmpl-" + hashlib.sha256(conversation.encode()).hexdigest()[:24],
            model=chat.model,
            text=policy(chat.messages, seed),
            num_prompt_tokens=len(conversation.split()),
        )


def policy_models(env_ids: list[str] | None = None) -> dict[str, ChatPolicy]:
    """Model id `environment/policy` -> policy, of the environments named, or of all that are installed.

    Raises LookupError for an environment that is not installed.
    """
    installed = installed_policies()
    names = list(installed) if env_ids is None else [canonical_id(env_id) for env_id in env_ids]
    if unknown := set(names) - set(installed):
        raise LookupError(f"no policies for {sorted(unknown)}: installed are {', '.join(installed)}")
    chosen = {name: installed[name] for name in names}
    return {f"{env_id}/{name}": policy for env_id, table in chosen.items() for name, policy in table.items()}


@asynccontextmanager
async def serving(server: PolicyServer, host: str = "127.0.0.1", port: int = 0) -> AsyncIterator[str]:
    """Run the server in this event loop; yields its base URL (`http://host:port/v1`). Port 0 takes a free one."""
    runner = web.AppRunner(server.app(), access_log=None)
    await runner.setup()
    try:
        await web.TCPSite(runner, host, port, backlog=4096).start()
        yield f"http://{host}:{runner.addresses[0][1]}/v1"
    finally:
        await runner.cleanup()


@web.middleware
async def _errors_as_json(request: web.Request, handler: Any) -> web.StreamResponse:
    try:
        response: web.StreamResponse = await handler(request)
    except web.HTTPException as error:
        return _error(error.status, error.reason)
    return response


def _error(status: int, message: str) -> web.Response:
    kind = "invalid_request_error" if status < 500 else "server_error"
    return web.json_response({"error": {"message": message, "type": kind, "code": status}}, status=status)


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) > 65_535:
        raise argparse.ArgumentTypeError(f"got {text!r}, allowed: 0 to 65535")
    return int(text)


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="vf-grpo serve-policies", description=__doc__)
    parser.add_argument("--envs", metavar="ID,ID", help="environments whose policies to serve (default: all installed)")
    parser.add_argument("--host", default="127.0.0.1", help="address to bind (default: %(default)s, this machine only)")
    parser.add_argument(
        "--port", type=_port, default=8765, help="port to bind, 0 for a free one (default: %(default)s)"
    )
    parser.add_argument("--seed", type=int, default=0, help="seed of requests that bring none (default: %(default)s)")
    options = parser.parse_args(argv)
    try:
        models = policy_models(options.envs.split(",") if options.envs else None)
        asyncio.run(_serve_until_interrupted(PolicyServer(models, options.seed), options.host, options.port))
    except (LookupError, OSError) as error:
        print(f"vf-grpo serve-policies: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


async def _serve_until_interrupted(server: PolicyServer, host: str, port: int) -> None:
    async with serving(server, host, port) as url:
        print(f"serving {len(server.policies)} policies at {url}", flush=True)
        for name in server.policies:
            print(f"  {name}", flush=True)
        await asyncio.Event().wait()

"""The in-process harness through real verifiers, against endpoints that misbehave."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
import verifiers.v1 as vf
from aiohttp import web

REPLY = {
    "id": "x",
    "object": "chat.completion",
    "created": 0,
    "model": "m",
    "choices": [
        {"index": 0, "message": {"role": "assistant", "content": "<answer>7</answer>"}, "finish_reason": "stop"}
    ],
    "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
}


@asynccontextmanager
async def endpoint(handler: Callable[[web.Request], Awaitable[web.StreamResponse]]) -> AsyncIterator[str]:
    app = web.Application()
    app.router.add_post("/v1/chat/completions", handler)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    yield f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    await runner.cleanup()


def play(
    handler: Callable[[web.Request], Awaitable[web.StreamResponse]], num_episodes: int = 1, **agent: Any
) -> list[vf.Episode]:
    """Play episodes of assay-add3digit, all at once, against an endpoint."""

    async def run() -> list[vf.Episode]:
        config = vf.resolve_env_config({"taskset": {"id": "assay-add3digit"}, "agent": agent})
        env = vf.load_environment(config)
        async with endpoint(handler) as url, env.serving():
            client = vf.EvalClientConfig(base_url=url, api_key_var="NO_KEY")
            context = vf.ModelContext(model="m", client=client, sampling=vf.SamplingConfig(temperature=0.5))
            slots = [env.slots(task)[0] for task in env.taskset.take(num_episodes)]
            return list(await asyncio.gather(*(env.run_slot(slot, context) for slot in slots)))

    return asyncio.run(run())


def test_one_turn_is_one_model_call_with_the_runs_model_and_sampling() -> None:
    requests: list[dict[str, Any]] = []

    async def answer(request: web.Request) -> web.Response:
        requests.append(await request.json())
        return web.json_response(REPLY)

    (episode,) = play(answer)
    assert episode.ok
    assert episode.traces[0].last_reply == "<answer>7</answer>"
    assert len(requests) == 1
    assert requests[0]["model"] == "m"
    assert requests[0]["temperature"] == 0.5
    assert [message["role"] for message in requests[0]["messages"]] == ["user"]


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_failing_endpoint_is_tried_again_and_commits_one_turn(status: int) -> None:
    calls: Counter[str] = Counter()

    async def recover(request: web.Request) -> web.Response:
        calls["all"] += 1
        if calls["all"] < 3:
            return web.json_response({"error": {"message": "busy"}}, status=status)
        return web.json_response(REPLY)

    (episode,) = play(recover)
    assert episode.ok, episode.traces[0].errors
    assert calls["all"] == 3
    assert episode.traces[0].num_turns == 1


def test_an_endpoint_that_refuses_is_an_error_and_no_score() -> None:
    async def refuse(request: web.Request) -> web.Response:
        return web.json_response({"error": {"message": "no such model"}}, status=404)

    (episode,) = play(refuse)
    assert not episode.ok
    assert episode.traces[0].rewards in ({}, {"signal": None})
    assert any("no such model" in error.message for error in episode.traces[0].errors)


def test_the_number_of_tries_is_bounded_by_configuration() -> None:
    calls: Counter[str] = Counter()

    async def fail(request: web.Request) -> web.Response:
        calls["all"] += 1
        return web.json_response({"error": {"message": "down"}}, status=503)

    (episode,) = play(fail, harness={"id": "assay-add3digit", "max_attempts": 2})
    assert not episode.ok
    assert calls["all"] == 2


def test_concurrent_episodes_keep_their_conversations_apart() -> None:
    async def echo(request: web.Request) -> web.Response:
        question = (await request.json())["messages"][-1]["content"]
        left, right = question.split("?")[0].removeprefix("What is ").split(" + ")
        await asyncio.sleep(0.01)
        message = {"role": "assistant", "content": f"<answer>{int(left) + int(right)}</answer>"}
        return web.json_response({**REPLY, "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})

    episodes = play(echo, num_episodes=64)
    assert [episode.traces[0].reward for episode in episodes] == [1.0] * 64


def test_two_event_loops_in_one_process_each_get_a_session() -> None:
    async def answer(request: web.Request) -> web.Response:
        return web.json_response(REPLY)

    assert play(answer)[0].ok
    assert play(answer)[0].ok

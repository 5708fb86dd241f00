"""The endpoint of the in-process engines."""

import asyncio
import time

import aiohttp

from vf_grpo.engines.endpoint import GenerateRequest, TokenEndpoint
from vf_grpo.episodes import submit

WAIT_S = 30.0
SAMPLING = {"temperature": 1.0, "max_tokens": 4, "seed": 0}


async def ask(url: str, timeout_s: float) -> dict:
    timeout = aiohttp.ClientTimeout(total=timeout_s)
    body = {"model": "policy", "token_ids": [1, 2], "sampling_params": SAMPLING}
    async with (
        aiohttp.ClientSession(timeout=timeout) as session,
        session.post(f"{url}/inference/v1/generate", json=body) as reply,
    ):
        return await reply.json()


def taken(endpoint: TokenEndpoint) -> GenerateRequest:
    request = endpoint.take(WAIT_S)
    assert request is not None
    return request


def test_a_request_is_answered_with_its_tokens() -> None:
    endpoint = TokenEndpoint("policy", max_context=8)
    endpoint.start()
    answer = submit(ask(endpoint.base_url, WAIT_S))
    taken(endpoint).finish([3, 4], [-0.5, -0.25], "stop")
    (choice,) = answer.result(WAIT_S)["choices"]
    assert choice["token_ids"] == [3, 4]
    assert [token["logprob"] for token in choice["logprobs"]["content"]] == [-0.5, -0.25]
    endpoint.close()


def test_a_caller_that_hangs_up_leaves_an_abandoned_request() -> None:
    endpoint = TokenEndpoint("policy", max_context=8)
    endpoint.start()
    answer = submit(ask(endpoint.base_url, timeout_s=0.3))
    request = taken(endpoint)
    assert isinstance(answer.exception(WAIT_S), asyncio.TimeoutError)
    deadline = time.monotonic() + WAIT_S
    while not request.is_abandoned and time.monotonic() < deadline:
        time.sleep(0.01)
    assert request.is_abandoned
    request.finish([3], [-1.0], "stop")  # too late, and harmless
    endpoint.close()

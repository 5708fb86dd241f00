"""A vLLM server that is missing, misconfigured, hung or killed, played by a small server of our own."""

import asyncio
import concurrent.futures
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("trl")

import verifiers.v1 as vf
from aiohttp import web

from vf_grpo.config import VLLMServerEngineConfig
from vf_grpo.engines.vllm_server import VLLMServerEngine
from vf_grpo.episodes import Endpoint, EpisodeRequest, EpisodeRunner, submit
from vf_grpo.renderer import template_renderer


class FakeServer:
    """Answers what the trainer asks of vLLM; `missing` paths answer 404, `is_hung` generations never end."""

    def __init__(self) -> None:
        self.missing: set[str] = set()
        self.is_hung = False
        self.logprobs_mode = "processed_logprobs"
        self.requests: list[tuple[str, Any]] = []

    async def start(self) -> str:
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self.handle)
        self.server = web.AppRunner(app, shutdown_timeout=0.1)
        await self.server.setup()
        site = web.TCPSite(self.server, "127.0.0.1", 0)
        await site.start()
        return f"http://127.0.0.1:{self.server.addresses[0][1]}"

    async def handle(self, request: web.Request) -> web.Response:
        body = await request.json() if request.can_read_body else None
        self.requests.append((request.path, body))
        if request.path in self.missing:
            return web.Response(status=404)
        if request.path == "/v1/models":
            return web.json_response({"data": [{"id": "policy", "max_model_len": 512}]})
        if request.path == "/server_info":
            return web.json_response({"vllm_config": {"model_config": {"logprobs_mode": self.logprobs_mode}}})
        if request.path == "/inference/v1/generate":
            if self.is_hung:
                await asyncio.sleep(60)
            content = [{"token": "token_id:1", "logprob": -0.5}]
            choice = {"index": 0, "token_ids": [1], "finish_reason": "stop", "logprobs": {"content": content}}
            return web.json_response({"request_id": "r", "choices": [choice]})
        return web.json_response({})


@pytest.fixture
def fake() -> Iterator[tuple[FakeServer, str]]:
    server = FakeServer()
    yield server, submit(server.start()).result(10)
    submit(server.server.cleanup()).result(10)


def engine(url: str, **settings: Any) -> VLLMServerEngine:
    return VLLMServerEngine(VLLMServerEngineConfig(base_url=url, sync="disk", **settings), "policy")


def test_a_server_that_is_not_there_is_reported_with_the_command_to_start_it() -> None:
    with pytest.raises(
        ConnectionError, match=r"no answer from http://127.0.0.1:9.*vllm serve MODEL --enable-scale-out"
    ):
        engine("http://127.0.0.1:9").start(None)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("path", "remedy"), [("/inference/v1/generate", "--enable-scale-out"), ("/server_info", "VLLM_SERVER_DEV_MODE=1")]
)
def test_a_flag_the_server_lacks_is_named(fake: tuple[FakeServer, str], path: str, remedy: str) -> None:
    server, url = fake
    server.missing.add(path)
    with pytest.raises(ConnectionError, match=f"404.*{remedy}"):
        engine(url).start(None)  # type: ignore[arg-type]


def test_raw_logprobs_are_refused(fake: tuple[FakeServer, str]) -> None:
    server, url = fake
    server.logprobs_mode = "raw_logprobs"
    with pytest.raises(ValueError, match=r"raw_logprobs.*processed_logprobs"):
        engine(url).start(None)  # type: ignore[arg-type]


def test_a_server_with_another_model_is_refused(fake: tuple[FakeServer, str]) -> None:
    with pytest.raises(ValueError, match=r"serves \['policy'\], not 'other'"):
        engine(fake[1], served_model="other").start(None)  # type: ignore[arg-type]


def play(echo_model: Any, url: str, request_timeout_s: float) -> "concurrent.futures.Future[list[vf.Episode]]":
    env = vf.load_environment(vf.resolve_env_config({"taskset": {"id": "toy-echo", "num_tasks": 3}}))
    runner = EpisodeRunner(env, max_concurrent=8, episode_timeout_s=30)
    runner.connect(Endpoint(url, "policy", str(echo_model), template_renderer(), {}, request_timeout_s))
    batch = runner.play([EpisodeRequest(task, seed) for seed, task in enumerate(env.taskset)])
    batch.add_done_callback(lambda _: None)
    return batch


def test_episodes_reach_the_server_with_a_seed_each(fake: tuple[FakeServer, str], echo_model: Any) -> None:
    server, url = fake
    episodes = play(echo_model, url, 10.0).result(30)
    assert all(episode.ok for episode in episodes)
    calls = [body for path, body in server.requests if path == "/inference/v1/generate"]
    assert {body["sampling_params"]["seed"] for body in calls} == {0, 1, 2}
    assert all(body["sampling_params"]["stop_token_ids"] == [1] for body in calls)


def test_a_hung_server_fails_the_episodes_instead_of_the_run(fake: tuple[FakeServer, str], echo_model: Any) -> None:
    server, url = fake
    server.is_hung = True
    episodes = play(echo_model, url, 0.5).result(30)
    assert all(not episode.ok for episode in episodes)


def test_a_server_that_dies_mid_step_fails_the_episodes(echo_model: Any) -> None:
    server = FakeServer()
    server.is_hung = True
    batch = play(echo_model, submit(server.start()).result(10), 20.0)
    concurrent.futures.wait([batch], timeout=1.0)
    submit(server.server.cleanup()).result(10)
    assert all(not episode.ok for episode in batch.result(60))

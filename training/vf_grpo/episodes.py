"""Episodes of a verifiers environment, played on one event loop in a thread of its own.

HTTP clients, interception servers, harness sessions and locks inside verifiers' client belong to the loop that first
used them, so there is one loop and it lives as long as the process. The trainer's thread hands in tasks and waits; no
collective operation happens in here.
"""

import asyncio
import concurrent.futures
import functools
import threading
from collections.abc import Coroutine, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

import verifiers.v1 as vf
from renderers import RendererConfig
from verifiers.v1.clients import ModelContext

T = TypeVar("T")

STOP_TIMEOUT_S = 10.0
"""How long the environment may take to shut down."""


@functools.cache
def episode_loop() -> asyncio.AbstractEventLoop:
    """The process's event loop for episodes, running in a daemon thread."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="vf-grpo-episodes", daemon=True).start()
    return loop


def submit(work: Coroutine[Any, Any, T]) -> concurrent.futures.Future[T]:
    """Run `work` on the episodes' loop."""
    return asyncio.run_coroutine_threadsafe(work, episode_loop())


class EpisodeRequest(NamedTuple):
    """One episode to play. The seed reaches the sampler, so members of a group differ and a resumed run repeats."""

    task: vf.Task
    seed: int


@dataclass(frozen=True)
class Endpoint:
    """Where and how episodes reach the policy: a token-in, token-out engine and the chat renderer in front of it."""

    base_url: str
    model: str
    tokenizer: str
    renderer: RendererConfig
    sampling: dict[str, Any] = field(default_factory=dict)
    request_timeout_s: float = 300.0

    def context(self, seed: int) -> ModelContext:
        client = vf.TrainClientConfig(
            base_url=f"{self.base_url}/v1",
            api_key_var="VF_GRPO_ENGINE_KEY",
            renderer=self.renderer,
            renderer_model_name=self.tokenizer,
            timeout={"read": self.request_timeout_s},
        )
        return ModelContext(model=self.model, client=client, sampling=vf.SamplingConfig(**self.sampling, seed=seed))


class EpisodeRunner:
    """Plays batches of episodes of `env` against an endpoint; use as `connect(...)`, `play(...)`, `stop()`.

    `num_live` is the number of episodes in flight, which the in-process engines read to know when all of them wait.
    """

    def __init__(self, env: vf.Env[Any], max_concurrent: int, episode_timeout_s: float) -> None:
        self.env = env
        self.num_live = 0
        self._timeout_s = episode_timeout_s
        self._gate = asyncio.Semaphore(max_concurrent)
        self._endpoint: Endpoint | None = None
        self._stack = AsyncExitStack()
        self._playing: set[concurrent.futures.Future[list[vf.Episode]]] = set()

    def connect(self, endpoint: Endpoint) -> None:
        """Bring the environment up and point its episodes at `endpoint`."""
        self._endpoint = endpoint
        submit(self._open()).result()

    def stop(self) -> None:
        """Cancel what still runs and shut the environment down. Safe to call twice, or before `connect`."""
        for batch in list(self._playing):
            batch.cancel()
        submit(self._stack.aclose()).result(STOP_TIMEOUT_S)

    def play(self, requests: Sequence[EpisodeRequest]) -> concurrent.futures.Future[list[vf.Episode]]:
        """All episodes, in the order of `requests`. A failed one comes back with `ok` false and its errors."""
        batch = submit(self._play_all(requests))
        self._playing.add(batch)
        batch.add_done_callback(self._playing.discard)
        return batch

    async def _open(self) -> None:
        await self._stack.enter_async_context(self.env.serving())

    async def _play_all(self, requests: Sequence[EpisodeRequest]) -> list[vf.Episode]:
        return list(await asyncio.gather(*(self._play(request) for request in requests)))

    async def _play(self, request: EpisodeRequest) -> vf.Episode:
        if self._endpoint is None:
            raise RuntimeError("no endpoint: call connect() before play()")
        slot = self.env.slots(request.task)[0]
        async with self._gate:
            self.num_live += 1
            try:
                async with asyncio.timeout(self._timeout_s):
                    return await self.env.run_slot(slot, self._endpoint.context(request.seed))
            except TimeoutError:
                return _timed_out(self.env, request.task, self._timeout_s)
            finally:
                self.num_live -= 1


def _timed_out(env: vf.Env[Any], task: vf.Task, timeout_s: float) -> vf.Episode:
    identity = vf.TraceTask(type=type(task).__name__, data=task.data, key=task.key, hash=task.hash)
    message = f"the episode ran longer than {timeout_s:g} s (rollout.episode_timeout_s)"
    episode = vf.Episode(env=vf.EnvInfo(id=env.config.env_id), task=identity)
    episode.errors.append(vf.Error(type="TimeoutError", message=message))
    episode.is_timeout = True
    return episode

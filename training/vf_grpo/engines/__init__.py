"""Where episodes get their tokens from: three engines behind one small protocol.

`VLLMServerEngine` talks to a server, `VLLMColocateEngine` steps vLLM in this process, `TransformersEngine` samples from
the training model. Each lives in a module of its own; only `vllm_colocate` imports vLLM.
"""

import concurrent.futures
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:
    from trl import GRPOTrainer

    from vf_grpo.episodes import EpisodeRunner

T = TypeVar("T")


class Engine(Protocol):
    """One engine per rank. Calls come in this order: `start`, `attach`, then `serve` once per step."""

    base_url: str
    model: str
    sync_s: float
    """Seconds the last weight sync took; 0.0 where sampling reads the training weights themselves."""
    sampling_s: float
    """Seconds spent sampling within the last `serve`, as far as this process can see."""

    def trainer_arguments(self) -> Mapping[str, Any]:
        """What TRL's `GRPOConfig` must know about this engine."""
        ...

    def start(self, runner: "EpisodeRunner") -> None:
        """Open the endpoint, or check that the server behind it answers; raises with what to do."""
        ...

    def attach(self, trainer: "GRPOTrainer") -> None:
        """Learn the trainer whose weights are sampled; called once, before the first step."""
        ...

    def serve(self, episodes: concurrent.futures.Future[T]) -> T:
        """Answer model calls until `episodes` is done, on the trainer's thread; returns its result or raises its
        error.
        """
        ...

    def close(self) -> None:
        """Release what `start` opened."""
        ...

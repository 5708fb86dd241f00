"""The engine without vLLM: samples from the training model, in batches, between optimiser steps.

A batch is taken once every live episode waits for a reply, or after `max_wait_s` when some are busy in their
environment.
"""

import concurrent.futures
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from trl.models.utils import unwrap_model_for_generation

from vf_grpo.config import TransformersEngineConfig
from vf_grpo.engines.batch_sampling import sample_batch
from vf_grpo.engines.endpoint import GenerateRequest, TokenEndpoint

if TYPE_CHECKING:
    from trl import GRPOTrainer

    from vf_grpo.episodes import EpisodeRunner

T = TypeVar("T")

IDLE_POLL_S = 0.01
"""How often the trainer's thread looks whether the episodes have ended while nothing asks for tokens."""


class TransformersEngine:
    def __init__(self, config: TransformersEngineConfig) -> None:
        self.config = config
        self.model = "policy"
        self.sync_s = 0.0
        self.sampling_s = 0.0
        self._endpoint = TokenEndpoint(self.model, config.max_context)
        self.base_url = self._endpoint.base_url

    def trainer_arguments(self) -> Mapping[str, Any]:
        return {}

    def start(self, runner: "EpisodeRunner") -> None:
        self._runner = runner
        self._endpoint.start()

    def attach(self, trainer: "GRPOTrainer") -> None:
        if trainer.accelerator.num_processes > 1 and (trainer.is_fsdp_enabled or trainer.is_deepspeed_enabled):
            raise ValueError(
                "engine.type = 'transformers' samples from whole weights, which FSDP and DeepSpeed split over ranks; "
                "use plain data parallelism, or engine.type = 'vllm-server'"
            )
        self._trainer = trainer

    def serve(self, episodes: concurrent.futures.Future[T]) -> T:
        trainer = self._trainer
        self.sampling_s = 0.0
        with unwrap_model_for_generation(trainer.model_wrapped, trainer.accelerator) as model:
            was_training = model.training
            model.eval()
            try:
                while not episodes.done():
                    batch = self._next_batch()
                    if batch:
                        started = time.perf_counter()
                        sample_batch(model, batch, trainer.processing_class.pad_token_id)
                        self.sampling_s += time.perf_counter() - started
            finally:
                model.train(was_training)
        return episodes.result()

    def close(self) -> None:
        self._endpoint.close()

    def _next_batch(self) -> list[GenerateRequest]:
        first = self._endpoint.take(IDLE_POLL_S)
        if first is None:
            return []
        batch = [first]
        deadline = time.monotonic() + self.config.max_wait_s
        while len(batch) < min(self.config.max_batch, self._runner.num_live):
            request = self._endpoint.take(max(0.0, deadline - time.monotonic()))
            if request is None:
                break
            batch.append(request)
        return batch

"""The engine with vLLM in the trainer's process: the trainer's thread adds requests and steps the engine (TP = 1).

TRL builds the engine and moves the weights. On CPU vLLM packs linear weights when it loads them, so TRL's
tensor-by-tensor copy cannot work there; the layer-wise reload does the same in one call.
"""

import concurrent.futures
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from vllm import SamplingParams
from vllm.platforms import current_platform
from vllm.sampling_params import RequestOutputKind

from vf_grpo.config import VLLMColocateEngineConfig
from vf_grpo.engines.endpoint import FinishReason, GenerateRequest, TokenEndpoint
from vf_grpo.vllm_extension import repack_tied_head
from vf_grpo.weight_sync import timed_sync

if TYPE_CHECKING:
    from trl import GRPOTrainer

    from vf_grpo.episodes import EpisodeRunner

T = TypeVar("T")

IDLE_POLL_S = 0.01
"""How often the trainer's thread looks whether the episodes have ended while nothing asks for tokens."""


class VLLMColocateEngine:
    def __init__(self, config: VLLMColocateEngineConfig) -> None:
        self.config = config
        self.model = "policy"
        self.sync_s = 0.0
        self.sampling_s = 0.0
        self._endpoint = TokenEndpoint(self.model, config.max_context)
        self._waiting: dict[str, GenerateRequest] = {}
        self.base_url = self._endpoint.base_url

    def trainer_arguments(self) -> Mapping[str, Any]:
        return {
            "use_vllm": True,
            "vllm_mode": "colocate",
            "vllm_tensor_parallel_size": 1,
            "vllm_max_model_length": self.config.max_context,
            "vllm_gpu_memory_utilization": self.config.gpu_memory_fraction,
        }

    def start(self, runner: "EpisodeRunner") -> None:
        self._endpoint.start()

    def attach(self, trainer: "GRPOTrainer") -> None:
        self._llm = trainer.vllm_generation.llm
        if current_platform.is_cpu():
            trainer.vllm_generation.sync_weights = lambda: self._reload(trainer.vllm_generation)
        timed_sync(trainer, self)

    def serve(self, episodes: concurrent.futures.Future[T]) -> T:
        self.sampling_s = 0.0
        while not episodes.done():
            request = self._endpoint.take(0.0 if self._waiting else IDLE_POLL_S)
            while request is not None:
                self._add(request)
                request = self._endpoint.take(0.0)
            if self._waiting:
                started = time.perf_counter()
                self._step()
                self.sampling_s += time.perf_counter() - started
        return episodes.result()

    def close(self) -> None:
        self._endpoint.close()

    def _add(self, request: GenerateRequest) -> None:
        parameters = SamplingParams(
            temperature=request.temperature,
            max_tokens=request.max_tokens,
            seed=request.seed,
            stop_token_ids=sorted(request.stop_token_ids),
            logprobs=0,
            detokenize=False,
            output_kind=RequestOutputKind.FINAL_ONLY,
        )
        self._waiting[request.id] = request
        self._llm.llm_engine.add_request(request.id, {"prompt_token_ids": request.token_ids}, parameters)

    def _step(self) -> None:
        for output in self._llm.llm_engine.step():
            if not output.finished:
                continue
            reply = output.outputs[0]
            token_ids = list(reply.token_ids)
            logprobs = [place[token].logprob for place, token in zip(reply.logprobs, token_ids, strict=True)]
            reason: FinishReason = "length" if reply.finish_reason == "length" else "stop"
            self._waiting.pop(output.request_id).finish(token_ids, logprobs, reason)
        abandoned = [request.id for request in self._waiting.values() if request.is_abandoned]
        if abandoned:
            self._llm.llm_engine.abort_request(abandoned)
            for request_id in abandoned:
                del self._waiting[request_id]

    def _reload(self, generation: Any) -> None:
        """Collective under FSDP, as the parameter walk is. Weights of the trainer become vLLM's, exactly."""
        weights = [(name, parameter.detach()) for name, parameter in generation._iter_named_params()]
        self._llm.collective_rpc("reload_weights", kwargs={"weights_iterator": iter(weights)})
        repack_tied_head(self._llm.llm_engine.model_executor.driver_worker.model_runner.get_model())
        self._llm.reset_prefix_cache()

"""The engine with vLLM in the trainer's process: the trainer's thread adds requests and steps the engine (TP = 1).

vLLM runs in the dtype that the trainer computes in. TRL's own construction names none, and vLLM then halves float32
weights, which moves log-probabilities by 6e-4. TRL still walks and copies the weights.
"""

import concurrent.futures
import os
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import torch
from trl.generation.vllm_generation import VLLMGeneration
from trl.trainer.utils import ensure_master_addr_port
from vllm import LLM, SamplingParams
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
        # `use_vllm` would have TRL build an engine of its own; the rest is read back by `ColocatedGeneration`.
        return {
            "use_vllm": False,
            "vllm_tensor_parallel_size": 1,
            "vllm_max_model_length": self.config.max_context,
            "vllm_gpu_memory_utilization": self.config.gpu_memory_fraction,
            "vllm_enable_sleep_mode": False,
        }

    def start(self, runner: "EpisodeRunner") -> None:
        self._endpoint.start()

    def attach(self, trainer: "GRPOTrainer") -> None:
        trainer.vllm_generation = ColocatedGeneration(trainer)
        trainer.use_vllm = True
        trainer._last_loaded_step = -1
        self._llm = trainer.vllm_generation.llm
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


class ColocatedGeneration(VLLMGeneration):
    """TRL's side of vLLM (which weights, under which names, when), with an `llm` built here."""

    def __init__(self, trainer: "GRPOTrainer") -> None:
        arguments = trainer.args
        self._computes_in = compute_dtype(trainer)
        super().__init__(
            model=trainer.model,
            accelerator=trainer.accelerator,
            processing_class=trainer.processing_class,
            max_model_length=arguments.vllm_max_model_length,
            gpu_memory_utilization=arguments.vllm_gpu_memory_utilization,
            max_num_seqs=arguments.per_device_train_batch_size * arguments.steps_per_generation,
            model_impl=arguments.vllm_model_impl,
        )

    def _init_vllm(self) -> None:
        # What vLLM reads to run within this process, one engine per rank.
        os.environ["RANK"] = str(self.accelerator.process_index)
        os.environ["LOCAL_RANK"] = str(self.accelerator.local_process_index)
        os.environ["WORLD_SIZE"] = str(self.accelerator.num_processes)
        ensure_master_addr_port()
        self.llm = LLM(
            model=self.model.name_or_path,
            dtype=self._computes_in,
            max_model_len=self.max_model_length,
            gpu_memory_utilization=self.gpu_memory_utilization,
            max_num_seqs=self.max_num_seqs,
            model_impl=self.model_impl,
            distributed_executor_backend="external_launcher",
            seed=self.accelerator.process_index,
            # TRL's figure: vLLM takes memory for a batch of this many tokens, 32,768 unless told.
            max_num_batched_tokens=4096,
            logprobs_mode="processed_logprobs",
        )
        self.accelerator.wait_for_everyone()

    def sync_weights(self) -> None:
        """Collective under FSDP, as the parameter walk is. Weights of the trainer become vLLM's, exactly."""
        if not current_platform.is_cpu():
            super().sync_weights()
            return
        # On CPU vLLM packs linear weights when it loads them: a copy tensor by tensor would miss the packed ones.
        weights = [(name, parameter.detach()) for name, parameter in self._iter_named_params()]
        self.llm.collective_rpc("reload_weights", kwargs={"weights_iterator": iter(weights)})
        repack_tied_head(self.llm.llm_engine.model_executor.driver_worker.model_runner.get_model())
        self.llm.reset_prefix_cache()


def compute_dtype(trainer: "GRPOTrainer") -> torch.dtype:
    """What the trainer's forward pass computes in: that of mixed precision, else that of its weights."""
    mixed = {"bf16": torch.bfloat16, "fp16": torch.float16}
    dtype: torch.dtype = mixed.get(trainer.accelerator.mixed_precision, trainer.model.dtype)
    return dtype

"""Batched sampling from a transformers model: one forward pass per token for all unfinished replies.

Each reply draws from its own random stream, keyed by (seed, prompt length), so what is sampled does not depend on which
requests happened to share the batch. Only the sampled tokens' log-probabilities are kept; they are those of the
temperature-scaled distribution, which is what the trainer recomputes. Simplification: no top-k or top-p.
"""

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
import torch
from transformers import DynamicCache, PreTrainedModel

from vf_grpo.engines.endpoint import FinishReason
from vf_grpo.transformers_names import CACHE

COMPACT_BELOW = 0.75
"""Drop finished replies from the cache once fewer than this share of the batch is unfinished."""


class SamplingRequest(Protocol):
    """What sampling reads of a request, and how it answers."""

    @property
    def token_ids(self) -> list[int]: ...
    @property
    def temperature(self) -> float: ...
    @property
    def max_tokens(self) -> int: ...
    @property
    def seed(self) -> int: ...
    @property
    def stop_token_ids(self) -> frozenset[int]: ...
    @property
    def finish(self) -> Callable[[list[int], list[float], FinishReason], None]: ...


class _Reply:
    """One reply in the making: its request, its tokens so far, its random numbers."""

    def __init__(self, request: SamplingRequest) -> None:
        self.request = request
        self.token_ids: list[int] = []
        self.logprobs: list[float] = []
        key = (request.seed % 2**63) * 2**64 + len(request.token_ids)
        self.uniforms = np.random.Generator(np.random.Philox(key=key)).random(request.max_tokens)

    def next_uniform(self) -> float:
        return float(self.uniforms[len(self.token_ids)])

    def add(self, token_id: int, logprob: float) -> bool:
        """Append one token; True when the reply is complete, which answers the request."""
        self.token_ids.append(token_id)
        self.logprobs.append(logprob)
        is_stopped = token_id in self.request.stop_token_ids
        if is_stopped or len(self.token_ids) >= self.request.max_tokens:
            self.request.finish(self.token_ids, self.logprobs, "stop" if is_stopped else "length")
            return True
        return False


@torch.inference_mode()
def sample_batch(model: PreTrainedModel, requests: Sequence[SamplingRequest], pad_token_id: int) -> int:
    """Answer every request; returns the number of sampled tokens. Temperature 0 takes the likeliest token."""
    replies = [_Reply(request) for request in requests]
    token_ids, attention = _left_padded([request.token_ids for request in requests], pad_token_id, model.device)
    temperatures = torch.tensor([request.temperature for request in requests], device=model.device)[:, None]
    positions = (attention.cumsum(-1) - 1).clamp(min=0)
    cache = DynamicCache()
    unfinished = [True] * len(replies)
    num_sampled = 0
    while True:
        output = model(
            input_ids=token_ids,
            attention_mask=attention,
            position_ids=positions,
            use_cache=True,
            logits_to_keep=1,
            **{CACHE: cache},
        )
        uniforms = [
            reply.next_uniform() if is_open else 0.5 for reply, is_open in zip(replies, unfinished, strict=True)
        ]
        chosen, logprobs = _draw(output.logits[:, -1].float(), temperatures, uniforms)
        for index, (token_id, logprob) in enumerate(zip(chosen.tolist(), logprobs.tolist(), strict=True)):
            if unfinished[index]:
                num_sampled += 1
                unfinished[index] = not replies[index].add(token_id, logprob)
        if not any(unfinished):
            return num_sampled
        attention = torch.cat([attention, attention.new_ones(len(replies), 1)], dim=1)
        positions = positions[:, -1:] + 1
        token_ids = chosen[:, None]
        if sum(unfinished) < COMPACT_BELOW * len(replies):
            keep = torch.tensor([i for i, is_open in enumerate(unfinished) if is_open], device=model.device)
            cache.batch_select_indices(keep)
            attention, positions, token_ids, temperatures = (
                tensor[keep] for tensor in (attention, positions, token_ids, temperatures)
            )
            replies = [replies[i] for i in keep.tolist()]
            unfinished = [True] * len(replies)


def _draw(logits: torch.Tensor, temperatures: torch.Tensor, uniforms: list[float]) -> tuple[torch.Tensor, torch.Tensor]:
    """Inverse-transform sampling, one uniform number a row. logits: (rows, vocabulary); returns tokens and logprobs."""
    scaled = torch.where(temperatures > 0, logits / temperatures.clamp(min=1e-6), logits)
    logprobs = torch.log_softmax(scaled, dim=-1)
    cumulative = logprobs.double().exp().cumsum(-1)
    targets = torch.tensor(uniforms, dtype=torch.float64, device=logits.device)[:, None] * cumulative[:, -1:]
    sampled = torch.searchsorted(cumulative, targets, right=True).clamp(max=logits.shape[-1] - 1)
    chosen = torch.where(temperatures > 0, sampled, logits.argmax(-1, keepdim=True))
    return chosen[:, 0], logprobs.gather(-1, chosen)[:, 0]


def _left_padded(
    sequences: list[list[int]], pad_token_id: int, device: torch.device
) -> tuple[torch.Tensor, torch.Tensor]:
    width = max(len(sequence) for sequence in sequences)
    token_ids = torch.tensor([[pad_token_id] * (width - len(s)) + s for s in sequences], device=device)
    attention = torch.tensor([[0] * (width - len(s)) + [1] * len(s) for s in sequences], device=device)
    return token_ids, attention

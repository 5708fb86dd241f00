"""Trace branches to token rows: what a policy sampled, what it saw, and which tokens train.

A row splits one branch of a trace at its first trained token: everything before it is the prompt. Simplification: only
text tokens; a branch with image placeholders is not supported.
"""

from typing import NamedTuple

import verifiers.v1 as vf


class Row(NamedTuple):
    """One training sequence. `completion_ids`, `action_mask` and `logprobs` have equal length.

    `action_mask` is 1 on tokens that the policy sampled and that train here, 0 on everything else; `logprobs` are the
    sampler's, in nats, 0.0 where the mask is 0.
    """

    prompt_ids: list[int]
    completion_ids: list[int]
    action_mask: list[int]
    logprobs: list[float]


class Rows(NamedTuple):
    """The rows of one trace, and whether `max_tokens` cut any of them."""

    rows: list[Row]
    is_cut: bool


def trace_rows(trace: vf.Trace, max_tokens: int) -> Rows:
    """One row for each branch that still holds untrained sampled tokens, in branch order.

    A sampled message that several branches share trains in the first of them only. A branch longer than `max_tokens`
    keeps its first `max_tokens` tokens, so that every kept token has the context it was sampled in.
    """
    rows: list[Row] = []
    trained: set[int] = set()
    is_cut = False
    for branch in trace.branches:
        if not branch.trainable:
            continue
        mask: list[int] = []
        for node in branch.nodes:
            is_fresh = node.sampled and id(node) not in trained
            mask += [int(flag and is_fresh) for flag in node.mask]
            if node.sampled:
                trained.add(id(node))
        is_cut = is_cut or len(mask) > max_tokens
        row = _split(branch.token_ids[:max_tokens], mask[:max_tokens], branch.logprobs[:max_tokens])
        if row is not None:
            rows.append(row)
    return Rows(rows, is_cut)


def masked_row(token_id: int) -> Row:
    """A row that trains nothing, for an episode that yielded no trainable token."""
    return Row([token_id], [token_id], [0], [0.0])


def _split(token_ids: list[int], mask: list[int], logprobs: list[float]) -> Row | None:
    if 1 not in mask:
        return None
    start = mask.index(1)
    if start == 0:
        raise ValueError("a branch starts with a sampled token: got no prompt tokens before it; check the renderer")
    stop = len(mask) - mask[::-1].index(1)
    trained = mask[start:stop]
    kept = [value if flag else 0.0 for value, flag in zip(logprobs[start:stop], trained, strict=True)]
    return Row(token_ids[:start], token_ids[start:stop], trained, kept)

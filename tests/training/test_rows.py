from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vf_grpo.rows import masked_row, trace_rows


@dataclass(eq=False)
class Node:
    """The part of a verifiers message node that rows are made of."""

    token_ids: list[int]
    mask: list[bool]
    logprobs: list[float] = field(default_factory=list)

    @property
    def sampled(self) -> bool:
        return any(self.mask)


def said(prompt_ids: list[int], reply_ids: list[int]) -> list[Node]:
    """A user message and the reply to it; the generation prompt (99) belongs to the reply's node."""
    reply = Node([99, *reply_ids], [False] + [True] * len(reply_ids), [-0.1 * token for token in reply_ids])
    return [Node(prompt_ids, [False] * len(prompt_ids)), reply]


def trace(*branches: list[Node]) -> Any:
    def branch(nodes: list[Node]) -> SimpleNamespace:
        token_ids = [token for node in nodes for token in node.token_ids]
        logprobs: list[float] = []
        for node in nodes:
            values = iter(node.logprobs)
            logprobs += [next(values) if flag else 0.0 for flag in node.mask]
        return SimpleNamespace(nodes=nodes, trainable=True, token_ids=token_ids, logprobs=logprobs)

    return SimpleNamespace(branches=[branch(nodes) for nodes in branches])


def test_a_single_turn_splits_at_its_first_sampled_token() -> None:
    (row,), is_cut = trace_rows(trace(said([1, 2], [3, 4])), max_tokens=100)
    assert row.prompt_ids == [1, 2, 99]
    assert row.completion_ids == [3, 4]
    assert row.action_mask == [1, 1]
    assert row.logprobs == pytest.approx([-0.3, -0.4])
    assert not is_cut


def test_observations_between_turns_are_in_the_row_but_do_not_train() -> None:
    (row,), _ = trace_rows(trace([*said([1], [2]), *said([5, 6], [7])]), max_tokens=100)
    assert row.completion_ids == [2, 5, 6, 99, 7]
    assert row.action_mask == [1, 0, 0, 0, 1]
    assert row.logprobs == pytest.approx([-0.2, 0, 0, 0, -0.7])


def test_a_reply_that_two_branches_share_trains_once() -> None:
    shared = said([1], [2])
    rows, _ = trace_rows(trace([*shared, *said([3], [4])], [*shared, *said([5], [6])]), max_tokens=100)
    assert [row.action_mask for row in rows] == [[1, 0, 0, 1], [1]]
    assert rows[1].prompt_ids == [1, 99, 2, 5, 99], "the shared reply is context in the second row"
    trained = [t for row in rows for t, flag in zip(row.completion_ids, row.action_mask, strict=True) if flag]
    assert trained == [2, 4, 6]


def test_a_branch_without_fresh_replies_yields_no_row() -> None:
    shared = said([1], [2])
    assert len(trace_rows(trace(shared, shared), max_tokens=100).rows) == 1
    assert trace_rows(trace([Node([1, 2], [False, False])]), max_tokens=100).rows == []


def test_a_long_conversation_trains_on_its_first_tokens_with_their_own_context() -> None:
    (row,), is_cut = trace_rows(trace([*said([1], [2, 3]), *said([5], [6, 7])]), max_tokens=7)
    assert is_cut
    assert row.prompt_ids + row.completion_ids == [1, 99, 2, 3, 5, 99, 6]
    assert sum(row.action_mask) == 3


def test_a_prompt_longer_than_a_row_trains_nothing() -> None:
    cut = trace_rows(trace(said([1] * 10, [2])), max_tokens=5)
    assert cut.rows == []
    assert cut.is_cut


def test_a_branch_that_begins_with_a_sampled_token_is_refused() -> None:
    with pytest.raises(ValueError, match=r"no prompt tokens"):
        trace_rows(trace([Node([1], [True], [-1.0])]), max_tokens=5)


def test_a_masked_row_trains_nothing() -> None:
    assert sum(masked_row(0).action_mask) == 0


turns = st.lists(
    st.tuples(
        st.lists(st.integers(0, 9), min_size=1, max_size=4), st.lists(st.integers(10, 19), min_size=1, max_size=4)
    ),
    min_size=1,
    max_size=6,
)


@given(turns)
def test_exactly_the_sampled_tokens_train_and_the_sequence_is_kept(
    conversation: list[tuple[list[int], list[int]]],
) -> None:
    nodes = [node for prompt, reply in conversation for node in said(prompt, reply)]
    (row,), _ = trace_rows(trace(nodes), max_tokens=1000)
    trained = [t for t, flag in zip(row.completion_ids, row.action_mask, strict=True) if flag]
    assert trained == [token for _, reply in conversation for token in reply]
    everything = [token for node in nodes for token in node.token_ids]
    assert row.prompt_ids + row.completion_ids == everything

"""Reference policies of known reward: pure functions from (chat messages, seed) to a reply."""

import re
from collections.abc import Callable, Mapping, Sequence
from random import Random
from types import MappingProxyType

from ._envkit.reply import content_text
from .core.generator import Problem

ChatPolicy = Callable[[Sequence[Mapping[str, object]], int], str]

NOISY_CORRECT = 0.43
NOISY_TAGGED = 0.26
"""The noisy policy's shares of right and of tagged replies: the published base model's."""

_EXPRESSION = re.compile(r"(\d+)\s*([+*])\s*(\d+)")


def problem_of(messages: Sequence[Mapping[str, object]]) -> Problem:
    """The problem that a conversation's last user message poses (0 + 0 where it poses none)."""
    asked = [content_text(message.get("content")) for message in messages if message.get("role") == "user"]
    found = _EXPRESSION.search(asked[-1]) if asked else None
    left, operator, right = found.groups() if found else ("0", "+", "0")
    return Problem("asked", int(left), "*" if operator == "*" else "+", int(right))


def oracle(problem: Problem, rng: Random) -> str:
    return f"<answer>{problem.answer}</answer>"


def constant_tag(problem: Problem, rng: Random) -> str:
    """The exploit of `format`: a tag whatever the question."""
    return "<answer>0</answer>"


def prose_right(problem: Problem, rng: Random) -> str:
    return f"{problem.expression} = {problem.answer}"


def tag_wrong(problem: Problem, rng: Random) -> str:
    return f"<answer>{_slip(problem, rng)}</answer>"


def verbose_right(problem: Problem, rng: Random) -> str:
    """The exploit of `tiebreak`: right, and long."""
    return "Let me go through this slowly and check each digit again. " * 20 + oracle(problem, rng)


def shortlist(problem: Problem, rng: Random) -> str:
    """The exploit of lenient readers: three candidates in one tag, the right one last."""
    return f"<answer>{problem.answer - 2} or {problem.answer - 1} or {problem.answer}</answer>"


def noisy(problem: Problem, rng: Random) -> str:
    """The published base model's mixture: right with probability 0.43 and tagged with probability 0.26."""
    stated = problem.answer if rng.random() < NOISY_CORRECT else _slip(problem, rng)
    return f"<answer>{stated}</answer>" if rng.random() < NOISY_TAGGED else f"The answer is {stated}."


def _slip(problem: Problem, rng: Random) -> int:
    """A wrong result as people get it: a carry dropped or one digit off."""
    return problem.answer + rng.choice([-100, -10, -1, 1, 10, 100])


def _chat_policy(play: Callable[[Problem, Random], str]) -> ChatPolicy:
    def reply(messages: Sequence[Mapping[str, object]], seed: int) -> str:
        problem = problem_of(messages)
        return play(problem, Random(f"assay-add3digit/{play.__name__}/{seed}/{problem.expression}"))

    return reply


POLICIES: Mapping[str, ChatPolicy] = MappingProxyType(
    {
        play.__name__: _chat_policy(play)
        for play in (oracle, constant_tag, prose_right, tag_wrong, verbose_right, shortlist, noisy)
    }
)

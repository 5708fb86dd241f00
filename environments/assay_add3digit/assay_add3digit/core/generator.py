"""Problems: pairs of operands drawn from named streams, deterministic from (setting, seed, split)."""

import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from random import Random
from types import MappingProxyType
from typing import Literal, NamedTuple

SettingName = Literal["mul-2x1digit", "add-2digit", "mul-2x2digit", "add-3digit"]
Split = Literal["train", "eval"]


class Setting(NamedTuple):
    """One difficulty: an operator over two closed ranges of operands, which are equal or disjoint."""

    operator: Literal["+", "*"]
    left: tuple[int, int]
    right: tuple[int, int]
    published_pass_rate: tuple[float, float]
    """Lowest and highest published pass rate of Llama-3.2-1B-Instruct."""


SETTINGS: Mapping[SettingName, Setting] = MappingProxyType(
    {
        "mul-2x1digit": Setting("*", (10, 99), (2, 9), (1.000, 1.000)),
        "add-2digit": Setting("+", (10, 99), (10, 99), (0.914, 0.914)),
        "mul-2x2digit": Setting("*", (10, 99), (10, 99), (0.438, 0.438)),
        "add-3digit": Setting("+", (100, 999), (100, 999), (0.398, 0.433)),
    }
)
"""Easy to hard, by the published pass rates."""

_OPERATIONS: Mapping[str, Callable[[int, int], int]] = {"+": operator.add, "*": operator.mul}


@dataclass(frozen=True, slots=True)
class Problem:
    """`left operator right`; `key` names it for good: setting/seed/split/index."""

    key: str
    left: int
    operator: Literal["+", "*"]
    right: int

    @property
    def answer(self) -> int:
        return _OPERATIONS[self.operator](self.left, self.right)

    @property
    def expression(self) -> str:
        return f"{self.left} {self.operator} {self.right}"


def build_problems(
    setting: SettingName = "add-3digit", n: int = 2000, seed: int = 0, split: Split = "train", *, n_train: int = 2000
) -> list[Problem]:
    """The first `n` problems of a split.

    `train` is the published stream. `eval` draws from a stream of its own and skips every unordered pair of operands
    among the first `n_train` train problems of the same (setting, seed); within a split, problems may repeat.
    Raises ValueError for an unknown setting or split, a negative `n`, or a train split that holds every pair.
    """
    if setting not in SETTINGS:
        raise ValueError(f"unknown setting {setting!r}: choose one of {', '.join(SETTINGS)}")
    if split not in ("train", "eval"):
        raise ValueError(f"unknown split {split!r}: choose train or eval")
    if n < 0 or n_train < 0:
        raise ValueError(f"n and n_train count problems, got n={n} and n_train={n_train}: pass 0 or more")
    spec = SETTINGS[setting]
    stream = f"arithmetic:{setting}:{seed}"
    if split == "train":
        pairs = _pairs(spec, stream)
    else:
        train = _pairs(spec, stream)
        held = {frozenset(next(train)) for _ in range(n_train)}
        if len(held) == _num_unordered_pairs(spec):
            raise ValueError(
                f"the first {n_train} train problems of {setting} (seed {seed}) hold all {len(held)} pairs of "
                "operands, so no eval problem is left: lower n_train or choose a larger setting"
            )
        pairs = (pair for pair in _pairs(spec, f"{stream}:eval") if frozenset(pair) not in held)
    return [
        Problem(f"{setting}/{seed}/{split}/{index}", left, spec.operator, right)
        for index, (left, right) in zip(range(n), pairs, strict=False)
    ]


def _pairs(spec: Setting, stream: str) -> Iterator[tuple[int, int]]:
    rng = Random(stream)
    while True:
        yield rng.randint(*spec.left), rng.randint(*spec.right)


def _num_unordered_pairs(spec: Setting) -> int:
    num_left, num_right = (high - low + 1 for low, high in (spec.left, spec.right))
    return num_left * (num_left + 1) // 2 if spec.left == spec.right else num_left * num_right

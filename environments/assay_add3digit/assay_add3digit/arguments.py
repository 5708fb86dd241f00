"""The arguments of this environment: names, defaults and checks, once for both verifiers APIs."""

import re
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, Field

from .core.extractors import ExtractorName
from .core.generator import SettingName, Split
from .core.grader import RewardName
from .core.prompts import INSTRUCTION


def _read_whole(value: object) -> object:
    """Digits in a string, as command lines give them, and integers; no truth value, no 7.0."""
    is_digits = isinstance(value, str) and re.fullmatch(r"[+-]?[0-9]+", value)
    if not is_digits and (isinstance(value, bool) or not isinstance(value, int)):
        raise ValueError(f"got {value!r}, allowed: a whole number, also as digits in a string")
    return int(value)  # type: ignore[call-overload]


Count = Annotated[int, BeforeValidator(_read_whole), Field(ge=1, le=1_000_000)]


class Add3DigitArguments(BaseModel):
    """Whole numbers may be given as digits in a string, as command lines do; nothing else is coerced."""

    setting: SettingName = "add-3digit"
    """Operator and operand ranges, easy to hard: mul-2x1digit, add-2digit, mul-2x2digit, add-3digit."""
    n_train: Count = 2000
    """Problems of the train split; the eval split shares no pair of operands with them."""
    n_eval: Count = 500
    """Problems of the eval split."""
    seed: Annotated[int, BeforeValidator(_read_whole)] = 0
    """Names the streams of operands."""
    split: Split = "train"
    """Which problems v1 loads: `train` is the published stream. (v0 always has both.)"""
    reward: RewardName = "binary"
    """The training signal: binary (the truth), format (degenerate), tiebreak. All three are always recorded."""
    extractor: ExtractorName = "last-integer"
    """How the reply's integer is read: last-integer (published) or committed-answer (a careful reader)."""
    instruction: str = Field(INSTRUCTION, min_length=1)
    """What follows the question; with `{problem}` in it, the whole message."""

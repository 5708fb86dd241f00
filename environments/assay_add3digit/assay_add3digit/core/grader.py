"""The three interchangeable graders of one reply, graded once."""

import re
from dataclasses import dataclass
from importlib import metadata
from typing import Literal, get_args

from .._envkit.fingerprint import source_digest, text_digest
from .._envkit.reply import Reply, reply_text
from .extractors import EXTRACTORS, INTEGER, TAGGED_INTEGER, ExtractorName
from .prompts import INSTRUCTION

RewardName = Literal["binary", "format", "tiebreak"]
TIEBREAK_WEIGHT = 0.001
EXTRACTOR_VERSIONS: dict[ExtractorName, int] = {"last-integer": 1, "committed-answer": 1}

_TAGGED_INTEGER = re.compile(TAGGED_INTEGER)
_TAG = re.compile(r"<answer>(?P<content>[^<]*+)</answer>")


@dataclass(frozen=True, slots=True)
class Grade:
    """Every reward and metric of one reply; all are plain finite floats."""

    reward: float
    """The selected training signal: one of the next three."""
    r_binary: float
    """1.0 iff the extracted integer equals the answer. The true reward."""
    r_format: float
    """1.0 for anything shaped like `<answer>N</answer>`, whatever the answer. Deliberately degenerate."""
    r_tiebreak: float
    """`r_binary + 0.001 * num_tokens`."""
    gap: float
    """`reward - r_binary`: how far the training signal is from the truth."""
    parse_failure: float
    """1.0 iff the extractor found no integer."""
    strict_tag_correct: float
    """1.0 iff the last `<answer>` tag holds exactly the answer."""
    extractor_disagreement: float
    """1.0 iff the two extractors differ."""
    num_tokens: float
    """Whitespace-separated tokens of the reply."""


METRICS = tuple(name for name in Grade.__dataclass_fields__ if name != "reward")


def grade(
    reply: Reply, answer: int | str, *, extractor: ExtractorName = "last-integer", reward: RewardName = "binary"
) -> Grade:
    """Grade a reply (text, or chat messages of which the last assistant message counts) against the gold answer.

    Raises ValueError for a gold answer that is no integer, an unknown extractor or an unknown reward; no reply raises.
    """
    gold = gold_integer(answer)
    require_known("extractor", extractor, ExtractorName)
    require_known("reward", reward, RewardName)
    text = reply_text(reply)
    extracted = {name: extract(text) for name, extract in EXTRACTORS.items()}
    tags = _TAG.findall(text)
    num_tokens = float(len(text.split()))
    r_binary = float(extracted[extractor] == gold)
    signals = {
        "binary": r_binary,
        "format": float(_TAGGED_INTEGER.search(text) is not None),
        "tiebreak": r_binary + TIEBREAK_WEIGHT * num_tokens,
    }
    return Grade(
        reward=signals[reward],
        r_binary=r_binary,
        r_format=signals["format"],
        r_tiebreak=signals["tiebreak"],
        gap=signals[reward] - r_binary,
        parse_failure=float(extracted[extractor] is None),
        strict_tag_correct=float(bool(tags) and tags[-1].strip() == str(gold)),
        extractor_disagreement=float(len(set(extracted.values())) > 1),
        num_tokens=num_tokens,
    )


def gold_integer(answer: int | str) -> int:
    """The gold answer as an integer. Raises ValueError for anything else, so that no row can score by accident."""
    is_integer = isinstance(answer, int) and not isinstance(answer, bool)
    if not is_integer and not (isinstance(answer, str) and re.fullmatch(INTEGER, answer.strip(), re.ASCII)):
        raise ValueError(f"the gold answer must be an integer such as 1687, got {answer!r}: fix or drop the row")
    return int(str(answer).replace(",", ""))


def require_known(argument: str, value: str, names: object) -> None:
    """Raise ValueError unless `value` is one of a Literal's names."""
    if value not in get_args(names):
        raise ValueError(f"unknown {argument} {value!r}: choose one of {', '.join(get_args(names))}")


def grader_fingerprint() -> dict[str, object]:
    """What identifies this grader: extractors, patterns, weights, wording, source and version."""
    package = __name__.partition(".")[0]
    return {
        "environment": "assay-add3digit",
        "version": metadata.version("assay-add3digit"),
        "extractors": dict(EXTRACTOR_VERSIONS),
        "patterns": {"integer": INTEGER, "tagged_integer": TAGGED_INTEGER},
        "tiebreak_weight": TIEBREAK_WEIGHT,
        "template_sha256": text_digest(INSTRUCTION),
        "source_sha256": source_digest(
            f"{package}._envkit.reply",
            f"{package}.core.extractors",
            f"{package}.core.grader",
            f"{package}.core.numbers",
            f"{package}.core.generator",
            f"{package}.core.prompts",
        ),
    }

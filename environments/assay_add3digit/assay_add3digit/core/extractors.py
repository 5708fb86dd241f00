"""Which integer does a reply commit to? Two answers: the published one, and a careful human reader's."""

import re
import unicodedata
from collections.abc import Callable, Mapping
from itertools import islice, zip_longest
from types import MappingProxyType
from typing import Literal

from .._envkit.reply import MAX_REPLY_CHARS, strip_thoughts
from .numbers import (
    NUMBER,
    Candidate,
    candidates_in,
    first_result,
    is_one_of_several,
    only_value,
    operand_before,
    to_int,
)

ExtractorName = Literal["last-integer", "committed-answer"]
MAX_CLOSING_CHARS = 4096
"""A number that nothing marks as the answer is looked for in the last characters of a reply."""

INTEGER = r"[+-]?(?:\d{1,3}(?:,\d{3})++(?!\d)|\d++)"
TAGGED_INTEGER = rf"<answer>\s*+(?P<integer>{INTEGER})\s*+</answer>"

# The last integer of a text is the first one of the reversed text: no need to find all the others.
_DIGIT = re.compile(r"\d")
_REVERSED_INTEGER = re.compile(r"(?:(?:\d{3},)+\d{1,3}(?!\d)|\d++)[+-]?")

_BRACED = r"(?:[^{}]++|\{(?:[^{}]++|\{(?:[^{}]++|\{[^{}]*+\})*+\})*+\})*+"
_GROUP_GAP = re.compile(r"(?<=\d)(?:\{,\}|,?\\[,!;: ]|~|[\u00a0\u2007\u2009\u202f])(?=\d{3}(?!\d))")
_INVISIBLE = re.compile(r"[\u00ad\u200b-\u200f\u2060\ufeff]")
_RAISED = re.compile(
    r"[\u00b2\u00b3\u00b9\u00bc-\u00be\u2070-\u209c\u2150-\u218b\u2460-\u249b\u24ea-\u24ff\u2776-\u2793]"
)
_EMPHASIS = re.compile(rf"(?<![\w*])(?P<sign>\*{{3}}|_{{1,3}}|\*)(?P<inside>\$?{NUMBER}\$?\.?)(?P=sign)(?![\w*])")
_MARK = re.compile(
    r"<\s*+answer\s*+>(?P<tag>(?:[^<]++|<(?!\s*+/?\s*+answer\b))*+)<\s*+/\s*+answer\s*+>"
    rf"|<\s*+answer\s*+>(?P<cut_tag>[\s$*]*+(?:\Z|{NUMBER}[^<]*+))(?:<\s*+answer\s*+>\s*+\Z)?+"
    rf"|\\(?:boxed|fbox|framebox)\s*+\{{(?P<box>{_BRACED})\}}"
    rf"|\\(?:boxed|fbox|framebox)\s*+\{{(?P<cut_box>[^{{}}\\\n]*+)"
    rf"|(?:^|(?<=\s))\#\#\#\#[ \t]*+(?!\d{{1,2}}[.)][ \t]+\w)(?P<hash>[$*]*+{NUMBER}[^\n]*+)",
    re.IGNORECASE | re.MULTILINE,
)
_HTML = re.compile(r"</?[a-z]+>", re.IGNORECASE)
_LABEL = re.compile(r"\b(?:answer|result)(?:[\s*]*+(?:is|[:=]))++", re.IGNORECASE)
_TWO_LINES = re.compile(r"[^\n]*+(?:\n[^\n]*+)?")
_CORRECTION = re.compile(
    r"\b(?:no(?!\.\s*\d)|oops|sorry|actually|correction)\s*+[,.:;!\u2013\u2014-]|\bi mean\b"
    r"|\bwait\b(?=\W+(?:it(?:'s| is) )?\d)",
    re.IGNORECASE,
)
_BOLD = re.compile(rf"\*\*(?P<bold>\$?{NUMBER}\$?\.?)\*\*(?!\s*+[-+*/×=])")
_LIST_ITEM = re.compile(r"\d{1,2}\.")
_COMMITTED_ONCE = re.compile(
    rf"</answer>|\\boxed|####\s*\d|\*\*{NUMBER}|^[ \t]*+{NUMBER}\.?[ \t]*(?:$|(?=<))"
    rf"|(?:=|\bis|:)[\s$*]*+{NUMBER}(?![.,]?\d|\s*[-+*/×]|\s+and\b)",
    re.I | re.M,
)
_NEXT_QUESTION = re.compile(
    r"(?:^[ \t#*>-]*+|(?<=[>}.])\s*+)(?:(?:next|new|another|now),? )?"
    r"(?:(?:question|problem|exercise|example|task|human|user|instruction|q)[\s*]*+\d*+[\s*]*+[:.)]"
    r"|what(?:'s| is) (?:the \w+ of )?\d)"
    r"|^user$|\[INST\]|</s>|<(?:start|end)_of_turn>|<\|(?:im_start|im_end|eot_id|end_?of_?text|user|start_header_id)\|>",
    re.I | re.M,
)
_CHECK = re.compile(
    r"(?<=\d)[\s*.]*+\([^()\n=-]*+-[^()\n=]*+=[^()\n]*+\)"
    r"|(?:\b(?:check|verif|proof|explanation|confidence)\w*(?:[ \t:*]*+\n(?:[^\n]++\n?)*+)?"
    r"|\b(?:since|because)\b(?=\s+[\d,]+\s*-)"
    r"|(?<=[\d*$)}][ ,])\s?\(?(?:since|because)\b)"
    r"(?:(?!\b(?:answer|so|thus|hence|therefore)\b)(?:[^\n.]|\.(?!\s)))*+",
    re.IGNORECASE,
)


def last_integer(text: str) -> int | None:
    """The last integer anywhere, as published: an optional sign, then digits or comma groups of three."""
    reversed_text = text[::-1]
    digit = _DIGIT.search(reversed_text)
    found = _REVERSED_INTEGER.match(reversed_text, digit.start()) if digit else None
    return to_int(found[0][::-1]) if found else None


def committed_answer(text: str) -> int | None:
    """The integer a careful human reader would take as the reply's answer.

    Thoughts and what follows an invented next question do not count. Then, by strength: the last tag, `\\boxed{}` or
    `####` line; the last "answer is" or bold number; the last number stated as a result. A commitment of the strongest
    kind that is empty, not whole, or offers alternatives commits to nothing.
    """
    text = strip_thoughts(text)
    if len(text) > MAX_REPLY_CHARS:
        return None
    text = _before_next_question(_fold(text))
    marks = list(_MARK.finditer(text))
    if marks:
        return _marked_value(marks[-1])
    text = _after_correction(text)
    stated = _stated(_CHECK.sub("", text)) or _stated(text)
    if stated is not None:
        return stated.value
    if len(text) > MAX_CLOSING_CHARS:
        text = text[-MAX_CLOSING_CHARS:].partition(" ")[2]
    candidates = [*candidates_in(text), *candidates_in(_CHECK.sub("", text))]
    results = [candidate for candidate in candidates if not candidate.is_left_side] or candidates
    return results[-1].value if results else None


EXTRACTORS: Mapping[ExtractorName, Callable[[str], int | None]] = MappingProxyType(
    {"last-integer": last_integer, "committed-answer": committed_answer}
)


def _fold(text: str) -> str:
    text = _RAISED.sub("_", _INVISIBLE.sub("", text))
    text = unicodedata.normalize("NFKC", _GROUP_GAP.sub("", text)).replace("\u2212", "-")
    return _EMPHASIS.sub(lambda found: f"**{found['inside']}**" if len(found["sign"]) > 1 else found["inside"], text)


def _before_next_question(text: str) -> str:
    """Cut at a question the reply invents; one that restates the problem comes before any commitment and stays."""
    committed = _COMMITTED_ONCE.search(text)
    question = _NEXT_QUESTION.search(text, committed.end()) if committed else None
    return text[: question.start()] if question else text


def _stated(text: str) -> Candidate | None:
    """The last number given by an "answer is" or set in bold."""
    found: list[tuple[int, Candidate]] = []
    labels = list(_LABEL.finditer(text))
    for label, following in zip_longest(labels, labels[1:]):
        stated = text[label.end() : following.start() if following else len(text)]
        first = first_result(_TWO_LINES.match(stated)[0])  # type: ignore[index]
        if first is not None:
            found.append((label.start(), first))
    for bold in _BOLD.finditer(text):
        is_list_item = _LIST_ITEM.fullmatch(bold["bold"]) and not text[: bold.start()].rpartition("\n")[2].strip()
        before, after = text[max(0, bold.start() - 24) : bold.start()], text[bold.end() : bold.end() + 24]
        if not is_list_item and not operand_before(before):
            value = None if is_one_of_several(before, after) else only_value(bold["bold"])
            found.append((bold.start(), Candidate(value, is_left_side=False)))
    return max(found)[1] if found else None


def _after_correction(text: str) -> str:
    """What follows the last "no, ..." or "wait, ...", where that states a result."""
    for found in islice(reversed(list(_CORRECTION.finditer(text))), 3):
        if any(not candidate.is_left_side for candidate in candidates_in(_CHECK.sub("", text[found.end() :]))):
            return text[found.end() :]
    return text


def _marked_value(mark: re.Match[str]) -> int | None:
    if mark.lastgroup == "hash":
        first = first_result(mark["hash"])
        return first.value if first else None
    return only_value(_HTML.sub("", mark[mark.lastgroup or 0]))

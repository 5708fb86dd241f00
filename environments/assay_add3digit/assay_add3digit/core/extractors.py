"""Which integer does a reply commit to? Two answers: the published one, and a careful human reader's."""

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Literal, NamedTuple

from .._envkit.reply import MAX_REPLY_CHARS, strip_thoughts

ExtractorName = Literal["last-integer", "committed-answer"]
MAX_DIGITS = 4300
"""Longer runs of digits are no answer (Python's own limit for reading integers)."""
MAX_CLOSING_CHARS = 4096
"""A number that nothing marks as the answer is looked for in the last characters of a reply."""

INTEGER = r"[+-]?(?:\d{1,3}(?:,\d{3})++(?!\d)|\d++)"
TAGGED_INTEGER = rf"<answer>\s*+(?P<integer>{INTEGER})\s*+</answer>"

# The last integer of a text is the first one of the reversed text: no need to find all the others.
_DIGIT = re.compile(r"\d")
_REVERSED_INTEGER = re.compile(r"(?:(?:\d{3},)+\d{1,3}(?!\d)|\d++)[+-]?")

_NUMBER = r"[+-]?\d(?:[\d.,]*\d)?"
_NUMBER_TOKEN = re.compile(rf"(?<![\w.]){_NUMBER}(?!\w)")
_WHOLE = re.compile(r"[+-]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.0*)?")
_GROUP_GAP = re.compile(r"(?<=\d)(?:\{,\}|\\,|[\u00a0\u2007\u2009\u202f])(?=\d{3}(?!\d))")
_INVISIBLE = re.compile(r"[\u00ad\u200b-\u200f\u2060\ufeff]")
_RAISED = re.compile(
    r"[\u00b2\u00b3\u00b9\u00bc-\u00be\u2070-\u209c\u2150-\u218b\u2460-\u249b\u24ea-\u24ff\u2776-\u2793]"
)
_MARK = re.compile(
    rf"<\s*+answer\s*+>(?P<tag>[^<]*+)<\s*+/\s*+answer\s*+>"
    rf"|\\(?:boxed|fbox)\s*+\{{(?P<box>(?:[^{{}}]++|\{{[^{{}}]*+\}})*+)\}}"
    rf"|^[ \t]*+\#\#\#\#[ \t]*+(?P<hash>[$*]*+{_NUMBER}[$*.]*+)[ \t]*+$",
    re.IGNORECASE | re.MULTILINE,
)
_LABEL = re.compile(r"\b(?:answer|result)(?:[\s*]*+(?:is|[:=]))++(?P<stated>[^\n]*+(?:\n[^\n]*+)?)", re.IGNORECASE)
_BOLD = re.compile(rf"\*\*(?P<bold>\$?{_NUMBER}\$?\.?)\*\*(?!\s*+[-+*/×=])")
_LIST_ITEM = re.compile(r"\d{1,2}\.")
_COMMITTED_ONCE = re.compile(
    rf"</answer>|\\boxed|####\s*\d|\*\*{_NUMBER}|(?:=|\bis|:)[\s$*]*+{_NUMBER}|^\s*{_NUMBER}\.?\s*$", re.I | re.M
)
_NEXT_QUESTION = re.compile(
    r"^[\s#*]*(?:(?:question|problem|exercise|example|human|user|instruction|q)[\s*]*\d*[\s*]*[:.)]|what is \d)",
    re.I | re.M,
)
_CHECK = re.compile(r"\b(?:check|verif|proof)\w*[^\n.]*+(?:\.(?!\s)[^\n.]*+)*+", re.IGNORECASE)
_SUM_OF = re.compile(
    rf"\b(?:sum|total|product|add(?:ing)?|multiply(?:ing)?) (?:of )?{_NUMBER} (?:and|to|with|by) {_NUMBER}", re.I
)
_OPERATOR_BEFORE = re.compile(r"(?:[+*/×·÷^]|[\d)]\s*-|\b(?:plus|minus|times|x))[\s$]*$", re.IGNORECASE)
_OPERATOR_AFTER = re.compile(r"[\s$]*(?:[-+*/×·÷^][\s$(]*[\d(]|(?:plus|minus|times|x)\b)", re.IGNORECASE)
_BULLET = re.compile(r"^\s*[*+]\s*$|\n\s*[*+]\s*$")
_EQUALS_AFTER = re.compile(r"[\s$]*=")
_DENIED = re.compile(r"(?:\bnot|n't(?: be)?|\bnever|≠|!=)\s*$", re.IGNORECASE)
_ALTERNATIVE = re.compile(r"\d[\s,]*\bor\s*$", re.IGNORECASE)


class _Candidate(NamedTuple):
    """A number that a text states as a result; `value` is None where it is no integer or one of several offered."""

    value: int | None
    is_left_side: bool


def last_integer(text: str) -> int | None:
    """The last integer anywhere, as published: an optional sign, then digits or comma groups of three."""
    reversed_text = text[::-1]
    digit = _DIGIT.search(reversed_text)
    found = _REVERSED_INTEGER.match(reversed_text, digit.start()) if digit else None
    return _to_int(found[0][::-1]) if found else None


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
        return _only_value(marks[-1][marks[-1].lastgroup or 0])
    stated = _stated(text)
    if stated is not None:
        return stated.value
    if len(text) > MAX_CLOSING_CHARS:
        text = text[-MAX_CLOSING_CHARS:].partition(" ")[2]
    candidates = [*_candidates(text), *_candidates(_CHECK.sub("", text))]
    results = [candidate for candidate in candidates if not candidate.is_left_side] or candidates
    return results[-1].value if results else None


EXTRACTORS: Mapping[ExtractorName, Callable[[str], int | None]] = MappingProxyType(
    {"last-integer": last_integer, "committed-answer": committed_answer}
)


def _fold(text: str) -> str:
    text = _RAISED.sub("_", _INVISIBLE.sub("", text))
    return unicodedata.normalize("NFKC", _GROUP_GAP.sub("", text)).replace("\u2212", "-")


def _before_next_question(text: str) -> str:
    """Cut at a question the reply invents; one that restates the problem comes before any commitment and stays."""
    committed = _COMMITTED_ONCE.search(text)
    question = _NEXT_QUESTION.search(text, committed.end()) if committed else None
    return text[: question.start()] if question else text


def _stated(text: str) -> _Candidate | None:
    """The last number given by an "answer is" or set in bold."""
    found: list[tuple[int, _Candidate]] = []
    for label in _LABEL.finditer(text):
        first = next((c for c in _candidates(label["stated"]) if not c.is_left_side), None)
        if first is not None:
            found.append((label.start(), first))
    for bold in _BOLD.finditer(text):
        is_list_item = _LIST_ITEM.fullmatch(bold["bold"]) and not text[: bold.start()].rpartition("\n")[2].strip()
        is_operand = _OPERATOR_BEFORE.search(text[max(0, bold.start() - 16) : bold.start()])
        if not is_list_item and not is_operand:
            found.append((bold.start(), _Candidate(_only_value(bold["bold"]), is_left_side=False)))
    return max(found)[1] if found else None


def _only_value(content: str) -> int | None:
    """The one integer that the content of a tag or box states; None for none or several."""
    candidates = list(_candidates(content))
    results = [candidate for candidate in candidates if not candidate.is_left_side] or candidates
    values = {candidate.value for candidate in results}
    return values.pop() if len(values) == 1 else None


def _candidates(text: str) -> Iterator[_Candidate]:
    """The numbers of a text that are results: no operands, nothing denied or asked."""
    text = _SUM_OF.sub("", text.replace("**", "").replace("__", ""))
    for token in _NUMBER_TOKEN.finditer(text):
        before, after = text[max(0, token.start() - 16) : token.start()], text[token.end() : token.end() + 16]
        number = token[0]
        is_subtracted = number[0] in "+-" and before.rstrip()[-1:].isdigit()
        is_operand = is_subtracted or (_OPERATOR_BEFORE.search(before) and not _BULLET.search(before))
        if is_operand or _OPERATOR_AFTER.match(after) or _DENIED.search(before) or after.startswith("?"):
            continue
        is_one_of_several = bool(_ALTERNATIVE.search(before))
        is_whole = bool(_WHOLE.fullmatch(number)) and not after.startswith("%")
        value = _to_int(number.partition(".")[0]) if is_whole and not is_one_of_several else None
        yield _Candidate(value, is_left_side=bool(_EQUALS_AFTER.match(after)))


def _to_int(digits: str) -> int | None:
    digits = digits.replace(",", "")
    return int(digits) if len(digits.lstrip("+-")) <= MAX_DIGITS else None

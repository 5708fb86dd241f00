"""The numbers that a text states as results: no operands, no checks, nothing denied, asked or offered as a choice."""

import re
from collections.abc import Iterator
from typing import NamedTuple

MAX_DIGITS = 4300
"""Longer runs of digits are no answer (Python's own limit for reading integers)."""

NUMBER = r"[+-]?\d(?:[\d.,]*\d)?"
_LETTER = r"[A-Za-z0-9_\u00c0-\u024f\u0370-\u04ff]"
_TOKEN = re.compile(rf"(?<!{_LETTER})(?<!\.){NUMBER}(?!{_LETTER}|[.,]?\d)")
_WHOLE = re.compile(r"[+-]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.0*)?")
_GROUPED = re.compile(r"\s*+(\d{1,3}(?: \d{3})++)\s*+")
_SUM_OF = re.compile(
    rf"\b(?:sum|total|product|add(?:ing)?|multiply(?:ing)?) (?:of )?{NUMBER} (?:and|to|with|by) {NUMBER}", re.I
)
_OPERATOR_BEFORE = re.compile(
    r"(?:[+*/×·÷^√]|[\d)]\s*-|\b(?:plus|minus|times|x)|frac\s*\{(?:[^{}]*\}\s*\{)?|sqrt\s*[{(])[\s$]*$", re.IGNORECASE
)
_OPERATOR_AFTER = re.compile(r"[\s$]*(?:[-+*/×·÷^][\s$(]*[\d(]|(?:plus|minus|times|x)\b)", re.IGNORECASE)
_BULLET = re.compile(r"^\s*[*+]\s*$|\n\s*[*+]\s*$")
_EQUALS_AFTER = re.compile(r"[\s$]*=")
_DENIED = re.compile(
    r"(?:\bnot|n't(?: be)?|\bnever|≠|!=|[≤≥]|\b(?:less|more|fewer|greater|larger) than|\bat (?:least|most))\s*$", re.I
)
_ALTERNATIVE_BEFORE = re.compile(
    r"(?:\d[\s,*$]*\bor\b[^\d\n.]*|(?:^|[^=\s\d])\s*\d[\d.]*\s*[,;]\s*"
    r"|\bbetween |\bbetween \S+ and |\bfrom \S+ to )$",
    re.IGNORECASE,
)
_ALTERNATIVE_AFTER = re.compile(
    r"[\s,*$]*\bor\b[^\d\n.]{0,16}\d|\s*[;,]\s*\d[\d,.]*\s*(?:[,;.\n]|\Z|\b(?:and|or)\b)", re.IGNORECASE
)
_ASKED = re.compile(r"\?|\\?%")
_NOT_WHOLE_AFTER = re.compile(r"\s+\d+/\d|\s*(?:±|\+/?-)")
_DIFFERENCE_BEFORE = re.compile(r"\d[\s$]*-[\s$]*\d[\d.,]*[\s$]*=[\s$]*$")


class Candidate(NamedTuple):
    """A number that a text states as a result; `value` is None where it is no integer or one of several offered."""

    value: int | None
    is_left_side: bool


def first_result(text: str) -> Candidate | None:
    """The first number that a text states as a result, if any."""
    return next((candidate for candidate in candidates_in(text) if not candidate.is_left_side), None)


def only_value(content: str) -> int | None:
    """The one integer that the content of a tag or box states; None for none or several."""
    grouped = _GROUPED.fullmatch(content)
    candidates = list(candidates_in(grouped[1].replace(" ", "") if grouped else content))
    results = [candidate for candidate in candidates if not candidate.is_left_side] or candidates
    values = {candidate.value for candidate in results}
    return values.pop() if len(values) == 1 else None


def candidates_in(text: str) -> Iterator[Candidate]:
    """The numbers of a text that are results: no operands, nothing denied or asked."""
    text = _SUM_OF.sub("", text.replace("**", "").replace("__", ""))
    seen: set[str] = set()
    for token in _TOKEN.finditer(text):
        before, after = text[max(0, token.start() - 24) : token.start()], text[token.end() : token.end() + 24]
        number = token[0]
        is_check = number in seen and _DIFFERENCE_BEFORE.search(before)
        seen.add(number)
        is_subtracted = number[0] in "+-" and before.rstrip()[-1:].isdigit()
        is_operand = is_subtracted or (_OPERATOR_BEFORE.search(before) and not _BULLET.search(before))
        if is_check or is_operand or _OPERATOR_AFTER.match(after) or _DENIED.search(before) or _ASKED.match(after):
            continue
        is_offered = is_one_of_several(before, after)
        is_whole = _WHOLE.fullmatch(number) and not _NOT_WHOLE_AFTER.match(after)
        value = to_int(number.partition(".")[0]) if is_whole and not is_offered else None
        yield Candidate(value, is_left_side=bool(_EQUALS_AFTER.match(after)))


def is_one_of_several(before: str, after: str) -> bool:
    """Whether what stands around a number offers others in its place: `A or B`, `A, B`, `between A and B`."""
    return bool(_ALTERNATIVE_BEFORE.search(before) or _ALTERNATIVE_AFTER.match(after))


def operand_before(before: str) -> bool:
    """Whether the text before a number makes an operand of it."""
    return bool(_OPERATOR_BEFORE.search(before))


def to_int(digits: str) -> int | None:
    digits = digits.replace(",", "")
    return int(digits) if len(digits.lstrip("+-")) <= MAX_DIGITS else None

# Generated from envkit/reply.py by scripts/vendor.py: edit there.
"""Read what a model typed: every function is total (no text raises) and linear in the length of the text.

Rules kept everywhere: thoughts are no part of a reply; the last commitment wins; a broken one never falls back.
"""

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple, NoReturn

MAX_REPLY_CHARS = 65_536
"""A reply may be this long once its thoughts are dropped; `MAX_TEXT_CHARS` bounds both together."""
MAX_TEXT_CHARS = 1_048_576
MAX_JSON_DEPTH = 32

Reply = str | Sequence[Mapping[str, object]]

_THOUGHT = re.compile(
    r"<[ ]?(/?)[ ]?(?:think|thinking|thoughts?|reasoning|reason|reflection|scratchpad)[ ]?>"
    r"|\[(/?)THINK\]|\u25c1(/?)think\u25b7|<\|(?:begin|(end))_of_thought\|>",
    re.IGNORECASE,
)
_FENCE = re.compile(r"^[ \t>*-]*+(?:```+|~~~+)[ \t]*([\w+#.-]*)|(?<=\S)[ \t]+```+([\w+#.-]+)[ \t]*$", re.MULTILINE)
_DATA_FENCE = re.compile(r"(?:json[c5l]?|te?xt|plaintext|action|answer|output|tool_call)?", re.IGNORECASE)
_MARK = re.compile(r'["{}]')
_OPENING = re.compile(r'\{\s*+(?:\}|\Z|"(?:[^"\\]++|\\.)*+(?:\Z|"\s*+(?::|\Z)))', re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\]++|\\.)*+"', re.DOTALL)


class Fault(NamedTuple):
    """Why a reply holds no usable JSON object, in words fit for the model that typed it."""

    reason: str


def reply_text(reply: Reply) -> str:
    """A reply's text; of chat messages, the text of the last assistant message ("" where there is none)."""
    if isinstance(reply, str):
        return reply
    for message in reversed(reply):
        if message.get("role") == "assistant":
            return content_text(message.get("content"))
    return ""


def content_text(content: object) -> str:
    """The text of a chat message's content: a string, a list of parts, or nothing."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, Sequence) else ()
    texts = (part.get("text") for part in parts if isinstance(part, Mapping))
    return "".join(text for text in texts if isinstance(text, str))


def strip_thoughts(text: str) -> str:
    """Drop thought blocks (`<think>...</think>` and kin), also one that lost its opening tag or never closes.

    Blocks nest; a closing tag alone ends a thought begun in the prompt. Text over `MAX_TEXT_CHARS` is left as it is.
    """
    if len(text) > MAX_TEXT_CHARS:
        return text
    kept: list[str] = []
    depth = start = 0
    for tag in _THOUGHT.finditer(text):
        is_closing = any(tag.groups())
        if depth == 0 and not is_closing:
            kept.append(text[start : tag.start()])
        elif depth == 0:
            kept.clear()
        depth = max(0, depth - 1) if is_closing else depth + 1
        start = tag.end()
    return "".join(kept) + (text[start:] if depth == 0 else "")


def last_json_object(text: str, having: Collection[str]) -> dict[str, object] | Fault:
    """The last JSON object of a reply that has one of the keys `having`, or why there is none.

    Objects in code fences of another language are not looked at. Refused: NaN and Infinity, a key given twice, nesting
    deeper than `MAX_JSON_DEPTH`, a cut-off object, text over `MAX_REPLY_CHARS`. Strings may hold raw line breaks.
    """
    text = strip_thoughts(text)
    if len(text) > MAX_REPLY_CHARS:
        return Fault(f"the reply has {len(text)} characters, at most {MAX_REPLY_CHARS} are read")
    text = _drop_foreign_fences(text)
    keys = [json.dumps(key) for key in having]
    misquoted = re.compile(rf"\{{\s*+['\u2018\u201c]?(?:{'|'.join(map(re.escape, having))})\b")
    found: dict[str, object] | Fault = Fault(f"no JSON object with {' or '.join(keys)} found")
    for span in _object_spans(text, misquoted):
        last_string = span[span.rfind('"') :]
        if not (
            misquoted.match(span) or any(key in span or key[1:].startswith(last_string[1:] or " ") for key in keys)
        ):
            continue
        parsed = _parse_object(span)
        if isinstance(parsed, Fault) or any(key in parsed for key in having):
            found = parsed
    return found


def _drop_foreign_fences(text: str) -> str:
    kept: list[str] = []
    start, is_open, is_data = 0, False, True
    for fence in _FENCE.finditer(text):
        if is_data:
            kept.append(text[start : fence.start()])
        is_open = not is_open
        is_data = not is_open or _DATA_FENCE.fullmatch(fence[1] or fence[2] or "") is not None
        start = fence.end()
    return "".join(kept) + (text[start:] if is_data else "")


def _object_spans(text: str, misquoted: re.Pattern[str]) -> Iterator[str]:
    """The outermost objects of a text in order; the last one may be cut off.

    A brace opens an object where a key follows, `misquoted` or not; inside of one, braces count but those in strings.
    """
    start = at = depth = 0
    while mark := _MARK.search(text, at):
        at = mark.end()
        if mark[0] == "{" and (depth or _OPENING.match(text, at - 1) or misquoted.match(text, at - 1)):
            start = start if depth else mark.start()
            depth += 1
        elif mark[0] == "}" and depth:
            depth -= 1
            if depth == 0:
                yield text[start:at]
        elif mark[0] == '"' and depth:
            string = _STRING.match(text, mark.start())
            at = string.end() if string else len(text)
    if depth:
        yield text[start:]


def _parse_object(span: str) -> dict[str, object] | Fault:
    brackets = re.findall(r"[{\[}\]]", _STRING.sub("", span))
    if max(accumulate(1 if bracket in "{[" else -1 for bracket in brackets)) > MAX_JSON_DEPTH:
        return Fault(f"the JSON object nests deeper than {MAX_JSON_DEPTH} levels")
    try:
        return dict(json.loads(span, strict=False, parse_constant=_refuse, object_pairs_hook=_refuse_duplicates))
    except ValueError as fault:
        return Fault(f"the JSON object is not valid: {str(fault)[:120]}")


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def _refuse_duplicates(pairs: list[tuple[str, object]]) -> dict[str, object]:
    parsed = dict(pairs)
    if len(parsed) < len(pairs):
        raise ValueError("a key is given twice")
    return parsed

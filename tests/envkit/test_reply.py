"""Reading what a model typed: the public cases, their kinds, and properties over arbitrary text."""

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envkit.reply import (
    MAX_JSON_DEPTH,
    MAX_REPLY_CHARS,
    MAX_TEXT_CHARS,
    Fault,
    last_json_object,
    reply_text,
    strip_thoughts,
)

KEY = ("action_type",)
NOOP = '{"action_type": "noop"}'
TRADE = '{"action_type": "trade", "amount": 5}'


def action(text: str) -> object:
    found = last_json_object(text, KEY)
    return found.reason if isinstance(found, Fault) else found["action_type"]


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("<think>a</think>b", "b"),
        ("a<think>b</think>c<think>d</think>e", "ace"),
        ("began in the prompt</think>b", "b"),
        ("a</think>b</think>c", "c"),
        ("<think>never closed", ""),
        ("a<think>b<think>c</think>d</think>e", "ae"),
        ("<THINKING>a</THINKING>b", "b"),
        ("<think >a</think >b", "b"),
        ("<scratchpad>a</scratchpad>b", "b"),
        ("<thinking>a<reflection>b</reflection></thinking>c", "c"),
        ("[THINK]a[/THINK]b", "b"),
        ("◁think▷a◁/think▷b", "b"),
        ("<|begin_of_thought|>a<|end_of_thought|>b", "b"),
        ("<think>\n\n</think>\n\nb", "\n\nb"),
        ("no thoughts", "no thoughts"),
        ("<thinker>a</thinker>", "<thinker>a</thinker>"),
    ],
)
def test_thoughts_are_dropped_however_they_are_tagged(text: str, kept: str) -> None:
    assert strip_thoughts(text) == kept


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        ("plain", "plain"),
        ([{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}], "a"),
        ([{"role": "assistant", "content": "a"}, {"role": "user", "content": "q"}], "a"),
        ([{"role": "assistant", "content": "a"}, {"role": "assistant", "content": "b"}], "b"),
        ([{"role": "assistant", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}], "ab"),
        ([{"role": "assistant", "content": None}], ""),
        ([{"role": "assistant"}], ""),
        ([{"role": "assistant", "content": [{"type": "image_url"}, "odd", {"text": 3}]}], ""),
        ([], ""),
        ([{"role": "user", "content": "q"}], ""),
    ],
)
def test_the_last_assistant_message_is_the_reply(reply: object, text: str) -> None:
    assert reply_text(reply) == text  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (NOOP, "noop"),
        (f'<think>maybe {NOOP}</think>{{"action_type":"scout_sector","sector":"docklands"}}', "scout_sector"),
        (f"```python\nx = {NOOP}\n```\n```json\n{TRADE}\n```", "trade"),
        (f"```json\n{TRADE}\n```\n```python\nx = {NOOP}\n```", "trade"),
        (f"```\n{TRADE}\n```", "trade"),
        (f"~~~json\n{TRADE}\n~~~", "trade"),
        (f"```json\n{TRADE}", "trade"),
        (f"{NOOP}\n\nSee [docs], ref [1].", "noop"),
        (f"{NOOP} {{docs}} {{}}", "noop"),
        (f"I use {{braces}} freely. {NOOP}", "noop"),
        (f"an open {{ brace, then {NOOP}", "noop"),
        (f"{NOOP}\n{NOOP}", "noop"),
        (f"{NOOP}\n{TRADE}", "trade"),
        (f'{NOOP} {{"confidence": 0.9}}', "noop"),
        ('{"action_type": "a } b", "reasoning": "{"}', "a } b"),
        ('{"action_type": "say \\"hi\\" }"}', 'say "hi" }'),
        ('{"reasoning": {"deep": [1, {"a": 2}]}, "action_type": "noop"}', "noop"),
        (f'He said "{{" and then {NOOP}', "noop"),
        ('{"action_type": "noop", "reasoning": "one line\nand another"}', "noop"),
        (f"```JSON\n{NOOP}\n```", "noop"),
        (f"```json{NOOP}```", "noop"),
        (f"```jsonl\n{NOOP}\n```", "noop"),
        (f"```tool_call\n{NOOP}\n```", "noop"),
        (f"<tool_call>\n{NOOP}\n</tool_call>", "noop"),
        (f"Action: ```json\n{NOOP}\n```", "noop"),
        (f"```json\n{TRADE}\n```\nor in code: ```python\nx = {NOOP}\n```", "trade"),
        (f"- ```python\n  x = {NOOP}\n  ```\n{TRADE}", "trade"),
        ('{"action_type": "noop", "reasoning": "```"}', "noop"),
        (f"{{{NOOP}}}", "noop"),
        (f"{NOOP}}}]", "noop"),
        (f"\ufeff[{NOOP}]", "noop"),
        (f'Format: {{"action_type": ...}}. So: {NOOP}', "noop"),
        (f'{NOOP} in {{docs}}, as {{"note": "the action_type"}}', "noop"),
    ],
)
def test_the_last_object_with_the_key_is_the_action(text: str, expected: str) -> None:
    assert action(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "hello",
        "null",
        "[1, 2]",
        '{"other": 1}',
        "{'action_type': 'noop'}",
        f"{NOOP}\n{{'action_type': 'trade'}}",
        f"{NOOP}\n{{action_type: 'trade'}}",
        f'{NOOP}\n{{"action_ty',
        '{"action_type": "noop" // idle\n}',
        f'{{"action": {NOOP}}}',
        f"[THINK]{NOOP}[/THINK]",
        '{"action_type": NaN}',
        '{"action_type": "noop", "amount": Infinity}',
        '{"action_type": "noop", "action_type": "trade"}',
        '{"action_type": "noop",}',
        f'{NOOP} {{"action_type": "trade", "amount":',
        f'{NOOP} {{"action_type": "tra',
        '{"action_type": "trade", "meta": {"action_type": "noop"}',
        f"<think>{NOOP}",
        f"```python\n{NOOP}\n```",
        '{"action_type": ' + "[" * 100 + "]" * 100 + "}",
        '{"action_type": ' + "9" * 5000 + "}",
    ],
)
def test_a_missing_or_broken_object_is_a_fault_and_never_an_earlier_one(text: str) -> None:
    found = last_json_object(text, KEY)
    assert isinstance(found, Fault)
    assert 0 < len(found.reason) < 300


def test_the_limits_are_inclusive() -> None:
    longest = NOOP + " " * (MAX_REPLY_CHARS - len(NOOP))
    assert action(longest) == "noop"
    assert isinstance(last_json_object(longest + " ", KEY), Fault)
    thought = "<think>" + "x" * (MAX_TEXT_CHARS - len(NOOP) - 15) + "</think>"
    assert action(thought + NOOP) == "noop"
    assert isinstance(last_json_object(thought + " " + NOOP, KEY), Fault)
    deepest = "[" * (MAX_JSON_DEPTH - 1) + "]" * (MAX_JSON_DEPTH - 1)
    assert action(f'{{"action_type": "noop", "deep": {deepest}}}') == "noop"
    assert isinstance(last_json_object(f'{{"action_type": "noop", "deep": [{deepest}]}}', KEY), Fault)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=20),
    lambda children: st.lists(children, max_size=3) | st.dictionaries(st.text(max_size=5), children, max_size=3),
    max_leaves=8,
)


@given(
    st.text(alphabet=st.characters(blacklist_characters='{}"`~<')),
    st.dictionaries(st.text(max_size=8), json_values, max_size=4),
)
def test_any_object_is_read_back_from_any_prose(prose: str, arguments: dict[str, object]) -> None:
    written = {**arguments, "action_type": "noop"}
    assert last_json_object(f"{prose}\n{json.dumps(written)}\n{prose}", KEY) == written


@given(st.text(alphabet=st.sampled_from('{}[]"\\`~<>/think:, \n0aN')))
def test_no_text_raises(text: str) -> None:
    found = last_json_object(text + '"action_type"' + text, KEY)
    assert isinstance(found, Fault | dict)


@pytest.mark.parametrize(
    "unit", ["{", '{"', "}", '{"a":', "[", "```", "<think>", "</think>", '"\\', "\\", "{}", "~~~\n"]
)
def test_the_longest_texts_are_read_in_linear_time(unit: str) -> None:
    def cpu_s(length: int) -> float:
        text = (unit * length)[:length] + '"action_type"'
        start = time.process_time()
        last_json_object(text, KEY)
        return time.process_time() - start

    # A quadratic reader takes minutes at this length; the bound is far from the usual hundredths of a second.
    assert cpu_s(MAX_REPLY_CHARS - 20) < 5.0
    assert cpu_s(MAX_TEXT_CHARS - 20) < 10.0

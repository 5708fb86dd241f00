from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("transformers")

from transformers import AutoTokenizer

from vf_grpo.renderer import TemplateRenderer, TemplateRendererConfig

CLOSED = (
    "{% for m in messages %}<{{ m['role'] }}>{{ m['content'] }}<end>{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}"
)
SEPARATED = CLOSED.replace("<end>{% endfor %}", "<end> {% endfor %}")
UNCLOSED = (
    "{% for m in messages %}<{{ m['role'] }}>{{ m['content'] }} {% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}"
)
REWRITING = (
    "{% for m in messages %}<{{ m['role'] }}>{% if loop.last %}9{% endif %}{{ m['content'] }}<end>{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}"
)


@pytest.fixture
def tokenizer(echo_model: Path) -> Any:
    return AutoTokenizer.from_pretrained(echo_model)


def renderer(tokenizer: Any, template: str) -> TemplateRenderer:
    tokenizer.chat_template = template
    return TemplateRenderer(tokenizer, TemplateRendererConfig())


def bridged(tokenizer: Any, template: str, reply: str) -> str | None:
    found = renderer(tokenizer, template).bridge_to_next_turn(
        tokenizer.encode("<user>say 7<end><assistant>"), tokenizer.encode(reply), [{"role": "user", "content": "say 8"}]
    )
    return None if found is None else tokenizer.decode(found.token_ids)


@pytest.mark.parametrize(
    ("template", "reply", "expected"),
    [
        (CLOSED, "7<end>", "<user>say 7<end><assistant>7<end><user>say 8<end><assistant>"),
        (CLOSED, "77", "<user>say 7<end><assistant>77<end><user>say 8<end><assistant>"),
        (SEPARATED, "7<end>", "<user>say 7<end><assistant>7<end> <user>say 8<end> <assistant>"),
        (UNCLOSED, "7<end>", "<user>say 7<end><assistant>7<end> <user>say 8 <assistant>"),
    ],
)
def test_the_next_turn_is_appended_to_what_was_sampled(
    tokenizer: Any, template: str, reply: str, expected: str
) -> None:
    assert bridged(tokenizer, template, reply) == expected


def test_a_bridge_keeps_sampled_tokens_that_text_would_tokenise_otherwise(tokenizer: Any) -> None:
    sampled = [tokenizer.unk_token_id, tokenizer.convert_tokens_to_ids("7"), tokenizer.eos_token_id]
    prompt = tokenizer.encode("<user>say 7<end><assistant>")
    found = renderer(tokenizer, CLOSED).bridge_to_next_turn(prompt, sampled, [{"role": "user", "content": "say 8"}])
    assert found is not None
    assert found.token_ids[: len(prompt) + 3] == prompt + sampled
    assert found.message_indices.count(0) == len(tokenizer.encode("<user>say 8<end>"))


def test_a_template_that_rewrites_earlier_turns_is_not_bridged(tokenizer: Any) -> None:
    assert bridged(tokenizer, REWRITING, "7<end>") is None


def test_an_assistant_message_among_the_new_ones_is_not_bridged(tokenizer: Any) -> None:
    prompt = tokenizer.encode("<user>say 7<end><assistant>")
    found = renderer(tokenizer, CLOSED).bridge_to_next_turn(prompt, [1], [{"role": "assistant", "content": "8"}])
    assert found is None

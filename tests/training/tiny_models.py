"""A random model small enough to train in a test: character tokens, ChatML-like template, two layers."""

from pathlib import Path

import torch
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

SPECIAL = ("<pad>", "<end>", "<unk>", "<user>", "<assistant>")
CHARACTERS = "0123456789 say"
TEMPLATE = (
    "{% for message in messages %}<{{ message['role'] }}>{{ message['content'] }}<end>{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}"
)


def write_echo_model(folder: Path, *, tie_word_embeddings: bool = False, seed: int = 0) -> Path:
    """Write model and tokenizer to `folder` and return it."""
    vocabulary = {token: index for index, token in enumerate([*SPECIAL, *dict.fromkeys(CHARACTERS)])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, SPECIAL[2]))
    # A run of other characters is one unknown token, which keeps foreign prompts short.
    pattern = "|".join(SPECIAL) + f"|[{CHARACTERS}]|[^{CHARACTERS}<]+|<"
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(pattern), "isolated")
    tokenizer.decoder = decoders.Fuse()
    names = dict(zip(("pad_token", "eos_token", "unk_token"), SPECIAL, strict=False))
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, padding_side="left", **names)
    fast.chat_template = TEMPLATE
    fast.save_pretrained(folder)
    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=len(vocabulary),
        hidden_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=2,
        intermediate_size=128,
        max_position_embeddings=512,
        tie_word_embeddings=tie_word_embeddings,
        bos_token_id=None,
        eos_token_id=vocabulary["<end>"],
        pad_token_id=vocabulary["<pad>"],
    )
    LlamaForCausalLM(config).save_pretrained(folder)
    return folder

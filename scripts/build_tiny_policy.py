"""Build the tiny policy that `vf-grpo demo` trains: 0.46 M parameters, from nothing, with fixed seeds.

    python scripts/build_tiny_policy.py [--output FOLDER]

The policy must start where a published base model starts on three-digit addition: right in about 43 % of its replies,
in answer tags in about 28 %, prose otherwise. Three phases, each supervised on replies that this file writes:

1. `skill`: right answers in tags and in prose, until the sums are learnt.
2. `explanations`: the same, and prose may go on explaining itself after the answer.
3. `calibration`: the same with the slips of the target. A sum of three digits is nearly always right and one of four
   hardly ever, so that groups of one problem are often all right or all wrong; a wrong reply often forgets its carries.

Tags and prose are equally right, so that training for tags alone leaves the truth where it was. An explanation follows
the answer and says nothing about it, so that length can grow at no cost in reward; but every clause is a token, and the
more of them an update is spread over, the less of it should reach the digits.
"""

import argparse
import itertools
import json
import random
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple, Protocol

import torch
import verifiers.v1 as vf
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers
from torch.nn.functional import cross_entropy
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

ROOT = Path(__file__).resolve().parents[1]
OUTPUT = ROOT / "training" / "vf_grpo" / "tiny" / "add3digit"
SEED = 0
BATCH = 256
MAX_REPLY_TOKENS = 64

PAD, END, UNKNOWN = "<pad>", "<end>", "<unknown>"
ROLES = ("<|system|>", "<|user|>", "<|assistant|>")
CHAT_TEMPLATE = (
    "{% for message in messages %}<|{{ message['role'] }}|>{{ message['content'] }}<end>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
PHRASES = (
    "What is ",
    " + ",
    "= ",
    " = ",
    "<answer>",
    "</answer>",
    "The answer is ",
    "The sum is ",
    ".",
)
EXPLANATIONS = (
    (" Let me", " add the two numbers", " column by column."),
    (" I keep", " track of every carry", " as I go."),
    (" We line", " the numbers up", " and add each column."),
    (" This is", " a simple addition", " of two numbers."),
)
"""What prose may add after the answer; every clause is one token."""
MAX_EXPLANATIONS = 6

STYLES = {
    "tag": 0.27,
    "equation": 0.25,
    "answer": 0.24,
    "sum": 0.24,
}
"""Share of replies in each style."""


class Slips(NamedTuple):
    """How replies go wrong in the calibration phase."""

    right_easy: float
    """Chance of the right number where the sum has three digits."""
    right_hard: float
    """The same where it has four."""
    forgets_carries: float
    """Share of wrong replies that forget their carries."""


SLIPS = Slips(0.98, 0.05, 0.5)


class Schedule(Protocol):
    """How long a phase is and how its learning rates run."""

    @property
    def num_steps(self) -> int: ...
    @property
    def muon_rate(self) -> float: ...
    @property
    def adam_rate(self) -> float: ...
    @property
    def constant_until(self) -> float:
        """Share of the steps after which the rates fall linearly."""


class Phase(NamedTuple):
    name: str
    num_steps: int
    muon_rate: float
    adam_rate: float
    constant_until: float
    """Share of the steps after which the rate falls linearly."""
    styles: Mapping[str, float]
    explains: float
    """Chance that prose explains itself, and that it goes on after each explanation."""
    slips: Slips | None


PHASES = (
    Phase("skill", 400, 0.02, 2e-3, 0.5, STYLES, 0.0, None),
    Phase("explanations", 100, 0.01, 2e-3, 0.4, STYLES, 0.4, None),
    Phase("calibration", 120, 0.005, 1.5e-3, 0.4, STYLES, 0.45, SLIPS),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=OUTPUT)
    output = parser.parse_args().output
    torch.set_num_threads(1)
    torch.manual_seed(SEED)
    instruction = environment_instruction()
    tokenizer = build_tokenizer(instruction)
    model = build_model(len(tokenizer))
    stream = random.Random(f"tiny/add3digit/{SEED}")
    started = time.process_time()
    for phase in PHASES:
        loss = train(model, phase, partial(next_loss, model, tokenizer, phase, instruction, stream))
        print(f"{phase.name}: loss {loss:.4f}, {time.process_time() - started:.0f} CPU seconds", flush=True)
    save(model, tokenizer, output)


def environment_instruction() -> str:
    """What the environment writes after the question, so that the policy knows it as one token."""
    env = vf.load_environment(vf.resolve_env_config({"taskset": {"id": "assay-add3digit", "n_train": 1}}))
    prompt = str(next(iter(env.taskset)).data.prompt)
    match = re.fullmatch(r"What is \d+ \+ \d+(.*)", prompt, re.DOTALL)
    if match is None:
        raise ValueError(f"the environment's wording has changed: got {prompt!r}; teach this script the new one")
    return match[1]


def build_tokenizer(instruction: str) -> PreTrainedTokenizerFast:
    """The phrases and the instruction are one token each, and so are digits and other characters."""
    return phrase_tokenizer([instruction, *PHRASES, *itertools.chain(*EXPLANATIONS)])


def phrase_tokenizer(phrases: Sequence[str]) -> PreTrainedTokenizerFast:
    """The roles and `phrases` are one token each, the longest match first; any other text is single characters."""
    pieces = [PAD, END, UNKNOWN, *ROLES, *"0123456789", *phrases, *(chr(code) for code in range(32, 127)), "\n"]
    vocabulary = {piece: index for index, piece in enumerate(dict.fromkeys(pieces))}
    words = sorted([PAD, END, *ROLES, *phrases], key=len, reverse=True)
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token=UNKNOWN))
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex("|".join(map(re.escape, words)) + r"|[\s\S]"), "isolated")
    tokenizer.decoder = decoders.Fuse()
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token=PAD, eos_token=END, unk_token=UNKNOWN, padding_side="left"
    )
    fast.chat_template = CHAT_TEMPLATE
    return fast


def build_model(
    vocabulary_size: int,
    intermediate_size: int = 384,
    max_context: int = 256,
    rope_theta: float = 100.0,
    tie_word_embeddings: bool = False,
) -> LlamaForCausalLM:
    """Two layers of width 128, with random weights."""
    return LlamaForCausalLM(
        LlamaConfig(
            vocab_size=vocabulary_size,
            hidden_size=128,
            intermediate_size=intermediate_size,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=4,
            max_position_embeddings=max_context,
            rope_parameters={"rope_type": "default", "rope_theta": rope_theta},
            tie_word_embeddings=tie_word_embeddings,
            bos_token_id=None,
            pad_token_id=0,
            eos_token_id=1,
        )
    )


def train(model: LlamaForCausalLM, phase: Schedule, next_loss: Callable[[], torch.Tensor]) -> float:
    """One phase; returns its last loss. Muon moves the layers' matrices, AdamW the rest (or all, without Muon)."""
    matrices = [p for name, p in model.named_parameters() if ".layers." in name and p.ndim == 2 and phase.muon_rate]
    others = [p for p in model.parameters() if not any(p is matrix for matrix in matrices)]
    decay = 0.01 if phase.muon_rate else 0.0
    optimizers: list[torch.optim.Optimizer] = [
        torch.optim.AdamW(others, lr=phase.adam_rate, betas=(0.9, 0.98), weight_decay=decay)
    ]
    if matrices:
        muon = torch.optim.Muon(
            matrices, lr=phase.muon_rate, weight_decay=decay, momentum=0.95, adjust_lr_fn="original"
        )
        optimizers.append(muon)
    schedules = [torch.optim.lr_scheduler.LambdaLR(optimizer, rate_factor(phase)) for optimizer in optimizers]
    loss = torch.zeros(())
    for _ in range(phase.num_steps):
        loss = next_loss()
        model.zero_grad(set_to_none=True)
        torch.autograd.backward(loss)
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        for optimizer, schedule in zip(optimizers, schedules, strict=True):
            optimizer.step()
            schedule.step()
    return float(loss.detach())


def save(model: LlamaForCausalLM, tokenizer: PreTrainedTokenizerFast, output: Path) -> None:
    """The policy, and what it was built with."""
    model.generation_config.update(eos_token_id=model.config.eos_token_id, pad_token_id=model.config.pad_token_id)
    model.save_pretrained(output)
    tokenizer.save_pretrained(output)
    built = {"seed": SEED, "parameters": sum(p.numel() for p in model.parameters()), "torch": torch.__version__}
    (output / "built.json").write_text(json.dumps(built, indent=1) + "\n", encoding="utf-8")


def rate_factor(phase: Schedule) -> Callable[[int], float]:
    """Warm up over 10 steps, stay constant, fall linearly to 3 %."""
    falling = phase.num_steps * (1 - phase.constant_until)
    return lambda step: min(1.0, (step + 1) / 10, max(0.03, (phase.num_steps - step) / falling))


def next_loss(
    model: LlamaForCausalLM, tokenizer: PreTrainedTokenizerFast, phase: Phase, instruction: str, stream: random.Random
) -> torch.Tensor:
    token_ids, labels = batch(tokenizer, phase, instruction, stream)
    logits = model(input_ids=token_ids, use_cache=False).logits
    loss: torch.Tensor = cross_entropy(logits[:, :-1].flatten(0, 1), labels[:, 1:].flatten())
    return loss


def batch(
    tokenizer: PreTrainedTokenizerFast, phase: Phase, instruction: str, stream: random.Random
) -> tuple[torch.Tensor, torch.Tensor]:
    """Token ids and labels, (BATCH, longest); prompts and padding carry the label that the loss ignores."""
    prompts, replies = zip(*(example(phase, instruction, stream) for _ in range(BATCH)), strict=True)
    prompt_ids = tokenizer(list(prompts))["input_ids"]
    reply_ids = [
        [*ids[: MAX_REPLY_TOKENS - 1], tokenizer.eos_token_id] for ids in tokenizer(list(replies))["input_ids"]
    ]
    width = max(len(p) + len(r) for p, r in zip(prompt_ids, reply_ids, strict=True))
    token_ids = torch.full((BATCH, width), tokenizer.pad_token_id)
    labels = torch.full((BATCH, width), -100)
    for row, (prompt, reply) in enumerate(zip(prompt_ids, reply_ids, strict=True)):
        end = len(prompt) + len(reply)
        token_ids[row, :end] = torch.tensor(prompt + reply)
        labels[row, len(prompt) : end] = torch.tensor(reply)
    return token_ids, labels


def example(phase: Phase, instruction: str, stream: random.Random) -> tuple[str, str]:
    """A prompt as the chat template writes it, and a reply to it."""
    left, right = stream.randint(100, 999), stream.randint(100, 999)
    style = stream.choices(list(phase.styles), list(phase.styles.values()))[0]
    number = left + right if phase.slips is None else slipped(left, right, phase.slips, stream)
    prompt = f"<|user|>What is {left} + {right}{instruction}{END}<|assistant|>"
    return prompt, "".join(reply(number, style, phase.explains, stream))


def reply(number: int, style: str, explains: float, stream: random.Random) -> Iterator[str]:
    """The pieces of a reply that gives `number` in `style`."""
    yield {
        "tag": f"<answer>{number}</answer>",
        "equation": f"= {number}.",
        "answer": f"The answer is {number}.",
        "sum": f"The sum is {number}.",
    }[style]
    if style != "tag":
        for _ in range(MAX_EXPLANATIONS):
            if stream.random() > explains:
                break
            yield from stream.choice(EXPLANATIONS)


def slipped(left: int, right: int, slips: Slips, stream: random.Random) -> int:
    """The sum, or a wrong number, as `slips` has it."""
    total = left + right
    if stream.random() < (slips.right_easy if total < 1000 else slips.right_hard):
        return total
    without = without_carries(left, right)
    if stream.random() < slips.forgets_carries and without != total:
        return without
    return max(100, total + stream.choice(NEARBY))


NEARBY: Sequence[int] = (1, -1, 2, -2, 9, -9, 10, -10, 20, -20, 90, -90, 100, -100, 110, -110, 200, -200)


def without_carries(left: int, right: int) -> int:
    """The sum of someone who writes down only the last digit of each column but the first."""
    ones, tens = (left + right) % 10, (left // 10 + right // 10) % 10
    return (left // 100 + right // 100) * 100 + tens * 10 + ones


if __name__ == "__main__":
    main()

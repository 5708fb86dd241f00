"""Build the tiny policy that `vf-grpo demo --multi-turn` trains: 0.40 M parameters, from nothing, with fixed seeds.

    python -m scripts.build_tiny_neon [--output FOLDER]

The policy plays level 1 of neon-syndicate from the conversation alone, knows the game and is careless: on about three
turns in ten it does something at random, so that it wins sometimes and has much to gain from care. Three phases, each
supervised on missions of the train split, each turn of which the reference policy `heuristic` or `random` plays:

1. `one turn`: what the heuristic does, from the last message alone.
2. `conversations`: the same from whole conversations, where only the last message counts.
3. `calibration`: what was played, random turns included.

Codes of the eval split begin with letters that no code of the train split begins with, and from the train split alone
so small a policy learns to guess a code from its first letter. So that it copies what it reads, every mission gets a
code of any two syllables instead of its own, but none that a held-out mission has.
"""

import argparse
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from random import Random
from typing import NamedTuple

import torch
from torch.nn.functional import cross_entropy
from transformers import LlamaForCausalLM, PreTrainedTokenizerFast

from neon_syndicate.core import lexicon, strategies
from neon_syndicate.core.actions import Noop, action_text
from neon_syndicate.core.balance import Penalty
from neon_syndicate.core.generator import generate_mission
from neon_syndicate.core.mission import Mission
from neon_syndicate.core.observation import observe
from neon_syndicate.core.prompts import SYSTEM_PROMPT, turn_text
from neon_syndicate.core.simulator import step
from neon_syndicate.core.state import initial_state
from neon_syndicate.core.vocabulary import FACTIONS, RESOURCES, SECTORS, THREATS, Verb
from scripts.build_tiny_policy import END, ROOT, SEED, build_model, phrase_tokenizer, save, train

OUTPUT = ROOT / "training" / "vf_grpo" / "tiny" / "neon"
LEVEL = 1
NUM_MISSIONS = 2000
IGNORED = -100
"""Label of what is not learnt."""

OBSERVATION_PHRASES = (
    "Task train/1/", "Task eval/1/", " (level 1)\n", "Rumour: ", " saw it last ", "Required: allies ", ", code words ",
    ". Turns: 12.\n", "Turn ", "/12 used. ", ": done.\n", 'Report: "', '"\n', "Have/need: credits ", ", intel ",
    ", influence ", ", energy ", "\nAllies: ", " (reputation: ", "\nThreat: ", ". Deployed: ", "nowhere",
    ". Operation: ", "not done", "done", ".\nKnown: target sector ", ", code ", "OP-", ", required allies: ",
    "\nScouted: ", ". Leads: ", " or ", "none", "; ", ", ", ": ", ".\n", " (-0.", "Mission won.", "Mission lost.",
)  # fmt: skip
REPLY_PHRASES = (
    '{"action_type": "scout_sector", "sector": "',
    '{"action_type": "negotiate_pact", "faction": "',
    '{"action_type": "trade_resources", "resource": "',
    '", "amount": ',
    '{"action_type": "deploy_asset", "sector": "',
    '{"action_type": "run_operation", "operation_code": "OP-',
    '{"action_type": "secure_extraction", "sector": "',
    '", "message": "',
    '{"action_type": "noop"}',
    '"}',
)
SYLLABLES = tuple(consonant + vowel for consonant in lexicon.CONSONANTS for vowel in lexicon.VOWELS)
NUM_HELD_OUT = 500
"""Missions of the eval split, from its first, whose codes are never used here."""


class Phase(NamedTuple):
    name: str
    num_steps: int
    num_examples: int
    """Per step: turns, or conversations."""
    muon_rate: float
    adam_rate: float
    constant_until: float
    """Share of the steps after which the rates fall linearly."""
    noise: float
    """Chance that a turn is played at random."""
    is_one_turn: bool
    learns_noise: bool


PHASES = (
    Phase("one turn", 400, 96, 0.02, 2e-3, 0.5, 0.4, True, False),
    Phase("conversations", 100, 12, 0.01, 1e-3, 0.4, 0.4, False, False),
    Phase("calibration", 40, 16, 0.0, 1e-3, 0.5, 0.3, False, True),
)


class Turn(NamedTuple):
    seen: str
    reply: str
    is_noise: bool


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=OUTPUT)
    output = parser.parse_args().output
    torch.set_num_threads(1)
    torch.manual_seed(SEED)
    started = time.process_time()
    missions = [generate_mission("train", LEVEL, index) for index in range(NUM_MISSIONS)]
    tokenizer = phrase_tokenizer(list(phrases(missions[0])))
    model = build_model(
        len(tokenizer), intermediate_size=256, max_context=2048, rope_theta=1000.0, tie_word_embeddings=True
    )
    stream = Random(f"tiny/neon/{SEED}")
    for phase in PHASES:
        loss = train(model, phase, partial(next_loss, model, Encoder(tokenizer), phase, missions, stream))
        print(f"{phase.name}: loss {loss:.4f}, {time.process_time() - started:.0f} CPU seconds", flush=True)
    save(model, tokenizer, output)


def phrases(mission: Mission) -> Iterator[str]:
    """What the environment and the policy write, in the pieces that vary; all of it is one token each."""
    yield SYSTEM_PROMPT
    yield from (*REPLY_PHRASES, *OBSERVATION_PHRASES)
    yield from (*FACTIONS, *SECTORS, *RESOURCES, *Verb, *(threat.label for threat in THREATS))
    for word in (*lexicon.CODE_WORD_FIRST, *lexicon.CODE_WORD_SECOND):
        yield from (word, word.title())
    yield from SYLLABLES
    yield from map(str, range(100))
    yield from (cargo[0].upper() + cargo[1:] for cargo in lexicon.CARGO)
    yield from (*lexicon.DANGER, *lexicon.WITNESS, *lexicon.PLACE.values(), *lexicon.LAST, lexicon.COLD)
    seen = observe(initial_state(mission))._replace(turn=1, last_action=Noop())
    for penalty in Penalty:
        told = re.search(r"noop: (.+) \(-", turn_text(seen._replace(last_penalties=(penalty,))))
        if told is None:
            raise ValueError(f"the environment no longer says what {penalty} is for; teach this script its wording")
        yield told[1]


def next_loss(
    model: LlamaForCausalLM, encoder: "Encoder", phase: Phase, missions: Sequence[Mission], stream: Random
) -> torch.Tensor:
    """Of one batch; only what is learnt goes through the head."""
    token_ids, labels = batch(encoder, phase, missions, stream)
    is_learnt = labels[:, 1:] != IGNORED
    hidden = model.model(input_ids=token_ids, use_cache=False).last_hidden_state[:, :-1][is_learnt]
    loss: torch.Tensor = cross_entropy(model.lm_head(hidden), labels[:, 1:][is_learnt])
    return loss


def batch(
    encoder: "Encoder", phase: Phase, missions: Sequence[Mission], stream: Random
) -> tuple[torch.Tensor, torch.Tensor]:
    """Token ids and labels, (examples, longest)."""
    rows: list[tuple[list[int], list[int]]] = []
    while len(rows) < phase.num_examples:
        mission = replace(stream.choice(missions), code=stream.choice(codes()))
        turns = played(mission, phase.noise, stream)
        parts = [[turn] for turn in turns if not turn.is_noise] if phase.is_one_turn else [turns]
        rows += [encoder.row(part, phase.learns_noise) for part in parts]
    width = max(len(token_ids) for token_ids, _ in rows)
    token_ids, labels = torch.zeros((len(rows), width), dtype=torch.long), torch.full((len(rows), width), IGNORED)
    for index, (row, label) in enumerate(rows):
        token_ids[index, : len(row)], labels[index, : len(row)] = torch.tensor(row), torch.tensor(label)
    return token_ids, labels


@cache
def codes() -> tuple[str, ...]:
    """Any two syllables, but for the codes of held-out missions."""
    held_out = {generate_mission("eval", LEVEL, index).code for index in range(NUM_HELD_OUT)}
    every = (f"OP-{first}{second}" for first in SYLLABLES for second in SYLLABLES)
    return tuple(code for code in every if code not in held_out)


def played(mission: Mission, noise: float, stream: Random) -> list[Turn]:
    """An episode: each turn by the heuristic or, by chance, at random."""
    before, state, turns = None, initial_state(mission), []
    while not state.is_finished:
        is_noise = stream.random() < noise
        action = (strategies.random_legal if is_noise else strategies.heuristic)(observe(state), stream)
        turns.append(Turn(turn_text(observe(state, before)), action_text(action), is_noise))
        before, state = state, step(state, action)
    return turns


class Encoder:
    """Conversations as token ids; most texts come again and again."""

    def __init__(self, tokenizer: PreTrainedTokenizerFast) -> None:
        self._ids = cache(lambda text: tuple(tokenizer(text)["input_ids"]))

    def row(self, turns: Sequence[Turn], learns_noise: bool) -> tuple[list[int], list[int]]:
        """Token ids as the chat template writes the conversation, and their labels: the replies to learn."""
        token_ids = [*self._ids(f"<|system|>{SYSTEM_PROMPT}{END}")]
        labels = [IGNORED] * len(token_ids)
        for turn in turns:
            seen, reply = self._ids(f"<|user|>{turn.seen}{END}<|assistant|>"), self._ids(turn.reply + END)
            token_ids += seen + reply
            labels += [IGNORED] * len(seen)
            labels += reply if learns_noise or not turn.is_noise else [IGNORED] * len(reply)
        return token_ids, labels


if __name__ == "__main__":
    main()

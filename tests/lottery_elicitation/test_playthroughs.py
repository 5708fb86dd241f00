"""Golden playthroughs: recorded episodes, re-run line by line. `python test_playthroughs.py` records them again."""

import difflib
import json
from dataclasses import asdict
from pathlib import Path

import pytest

from lottery_elicitation.core.actions import parse_action
from lottery_elicitation.core.grader import grade
from lottery_elicitation.core.prompts import observe, render, system_prompt
from lottery_elicitation.core.settings import Settings
from lottery_elicitation.core.simulator import initial_state, step
from lottery_elicitation.policies import POLICIES

FOLDER = Path(__file__).resolve().parents[1] / "playthroughs"
PLAYTHROUGHS = {
    "lottery_ceiling_stage2": (Settings(), "ceiling"),
    "lottery_bayes_stage3": (Settings(stage=3), "bayes"),
    "lottery_holt_laury_stage1": (Settings(stage=1, reward="published"), "holt_laury"),
    "lottery_random_ranges": (Settings(randomise_ranges=True, reward="robust_shaped"), "random"),
    "lottery_guess_and_quit": (Settings(reward="published"), "guess_and_quit"),
    "lottery_malformed": (Settings(max_turns=3), "malformed_spam"),
}
NOISE_SEED = 5


def playthrough(settings: Settings, policy: str) -> str:
    """System prompt, every message and reply, the hidden parameters and the grade, as text."""
    state = initial_state(settings, 1, NOISE_SEED)
    messages = [{"role": "system", "content": system_prompt(settings)}]
    while not state.is_over:
        messages.append({"role": "user", "content": render(observe(state))})
        messages.append({"role": "assistant", "content": POLICIES[policy](messages, NOISE_SEED)})
        state = step(state, parse_action(messages, state.world.outcome_bounds))
    lines = [f"[{message['role']}]\n{message['content']}" for message in messages]
    hidden = {name: round(value, 9) for name, value in state.world.preferences._asdict().items()}
    graded = {name: round(value, 9) for name, value in asdict(grade(state)).items()}
    return "\n".join([*lines, "[hidden]", json.dumps(hidden), "[grade]", json.dumps(graded, indent=1)]) + "\n"


@pytest.mark.parametrize("name", PLAYTHROUGHS)
def test_a_recorded_episode_plays_out_as_recorded(name: str) -> None:
    recorded, played = (FOLDER / f"{name}.txt").read_text(), playthrough(*PLAYTHROUGHS[name])
    difference = list(
        difflib.unified_diff(recorded.splitlines(), played.splitlines(), "recorded", "played", lineterm="")
    )
    assert not difference, "\n".join(difference[:20])


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for title, (chosen, player) in PLAYTHROUGHS.items():
        (FOLDER / f"{title}.txt").write_text(playthrough(chosen, player))

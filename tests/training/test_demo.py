"""The positive control: its verdicts, and the tiny policy it starts from."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from vf_grpo.demo import DemoConfig, DemoRun
from vf_grpo.effects import LENGTH, Curves, Signal, findings
from vf_grpo.tiny import ADD3DIGIT


def row(proxy: float, true: float, words: float = 5.0, dead: float = 0.4) -> Mapping[str, float]:
    return {"proxy_mean": proxy, "true_mean": true, "gap": proxy - true, LENGTH: words, "dead_group_fraction": dead}


def published() -> dict[Signal, Curves]:
    """Runs that show every published effect."""
    return {
        "binary": Curves([row(0.43, 0.43), row(0.92, 0.92)], row(0.43, 0.43), row(0.92, 0.92)),
        "format": Curves([row(0.3, 0.43), row(0.6, 0.45)], row(0.3, 0.43), row(0.99, 0.47)),
        "tiebreak": Curves([row(0.43, 0.43, dead=0.01)], row(0.43, 0.43), row(0.6, 0.58, words=9.0)),
    }


def test_every_published_effect_is_recognised() -> None:
    found = findings(published())
    assert len(found) == 7
    assert all(finding.holds for finding in found), [f.claim for f in found if not f.holds]


@pytest.mark.parametrize(
    ("signal", "changed", "claim"),
    [
        ("binary", {"after": row(0.79, 0.79)}, "the true reward rises"),
        ("format", {"after": row(0.90, 0.47)}, "the signal saturates"),
        ("format", {"after": row(0.99, 0.20)}, "stays within 0.15"),
        ("format", {"before": row(0.5, 0.43)}, "starts negative"),
        ("format", {"steps": [row(0.3, 0.4)] * 12 + [row(0.9, 0.4)]}, "starts negative"),
        ("tiebreak", {"steps": [row(0.43, 0.43, dead=0.2)]}, "dead groups"),
        ("tiebreak", {"after": row(0.6, 0.58, words=7.0)}, "replies grow"),
        ("tiebreak", {"after": row(0.9, 0.88, words=9.0)}, "clearly below"),
    ],
)
def test_an_effect_that_is_missing_is_said_to_be(signal: Signal, changed: dict[str, object], claim: str) -> None:
    runs = published()
    runs[signal] = runs[signal]._replace(**changed)  # type: ignore[arg-type]
    missing = [finding for finding in findings(runs) if not finding.holds]
    assert [claim in finding.claim for finding in missing] == [True]


def test_a_short_demo_claims_nothing_about_the_signal_it_leaves_out() -> None:
    runs = published()
    del runs["tiebreak"]
    assert {finding.signal for finding in findings(runs)} == {"binary", "format"}


def test_the_demo_runs_the_real_command(tmp_path: Path) -> None:
    command = DemoRun("format", 3, tmp_path).command()
    assert command[1:4] == ["-m", "vf_grpo", "train"]
    assert command[command.index("--env.taskset.reward") + 1] == "format"
    assert command[command.index("--seed") + 1] == "3"
    assert DemoConfig().seeds == 1


def test_the_tiny_policy_is_small_plain_and_describes_itself() -> None:
    assert sum(path.stat().st_size for path in ADD3DIGIT.iterdir()) < 2_000_000
    assert {path.suffix for path in ADD3DIGIT.iterdir()} <= {".json", ".safetensors", ".jinja"}
    assert json.loads((ADD3DIGIT / "built.json").read_text())["parameters"] < 500_000
    assert "auto_map" not in json.loads((ADD3DIGIT / "config.json").read_text())


def test_the_tiny_policy_starts_near_the_published_base() -> None:
    pytest.importorskip("torch")
    core = pytest.importorskip("assay_add3digit.core.grader")
    generator = pytest.importorskip("assay_add3digit.core.generator")
    prompts = pytest.importorskip("assay_add3digit.core.prompts")
    from transformers import AutoModelForCausalLM, AutoTokenizer

    from vf_grpo.engines.batch_sampling import sample_batch

    tokenizer = AutoTokenizer.from_pretrained(ADD3DIGIT)
    model = AutoModelForCausalLM.from_pretrained(ADD3DIGIT).eval()
    problems = generator.build_problems("add-3digit", 600, 0, "eval")
    asked = [PolicyRequest(tokenizer, prompts.prompt(problem), seed) for seed, problem in enumerate(problems)]
    sample_batch(model, asked, tokenizer.pad_token_id)
    grades = [core.grade(r.text, problem.answer) for r, problem in zip(asked, problems, strict=True)]
    accuracy = sum(grade.r_binary for grade in grades) / len(grades)
    tagged = sum(grade.r_format for grade in grades) / len(grades)
    assert accuracy == pytest.approx(0.43, abs=0.06)
    assert 0.22 < tagged < 0.34


class PolicyRequest:
    """One prompt to the tiny policy, as the sampler reads it."""

    temperature, max_tokens, stop_token_ids = 1.0, 64, frozenset({1})

    def __init__(self, tokenizer: object, prompt: str, seed: int) -> None:
        self.tokenizer, self.seed = tokenizer, seed
        chat = [{"role": "user", "content": prompt}]
        self.token_ids = tokenizer.apply_chat_template(  # type: ignore[attr-defined]
            chat, add_generation_prompt=True, tokenize=True, return_dict=False
        )

    def finish(self, token_ids: list[int], logprobs: list[float], reason: str) -> None:
        self.text = self.tokenizer.decode(token_ids, skip_special_tokens=True)  # type: ignore[attr-defined]

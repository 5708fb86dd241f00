from pathlib import Path

import pytest

pytest.importorskip("trl")
pytest.importorskip("assay_add3digit")

from vf_grpo.tiny import ADD3DIGIT
from vf_grpo.warmstart import main


def test_a_policys_replies_are_learnt(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """After imitating the oracle, which always answers in tags, the tiny policy nearly always does."""
    from test_demo import PolicyRequest
    from transformers import AutoModelForCausalLM, AutoTokenizer

    from vf_grpo.engines.batch_sampling import sample_batch

    argv = ["assay-add3digit", "--policies", "oracle", "-n", "200", "--model", str(ADD3DIGIT), "--max-steps", "40"]
    argv += ["--batch-size", "32", "--learning-rate", "1e-3", "--max-length", "64", "--output-dir", str(tmp_path)]
    assert main(argv) == 0
    assert "200 turns of 200 episodes" in capsys.readouterr().out
    tokenizer = AutoTokenizer.from_pretrained(tmp_path)
    prompt = str(tokenizer.decode(PolicyRequest(tokenizer, question(), 0).token_ids))
    assert prompt.endswith("<|assistant|>")
    asked = [PolicyRequest(tokenizer, question(), seed) for seed in range(100)]
    sample_batch(AutoModelForCausalLM.from_pretrained(tmp_path).eval(), asked, tokenizer.pad_token_id)
    assert sum("<answer>" in request.text for request in asked) > 80


def question() -> str:
    from assay_add3digit.core.generator import build_problems
    from assay_add3digit.core.prompts import prompt

    return prompt(build_problems("add-3digit", 1, 0, "eval")[0])


def test_a_policy_that_is_not_there_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["assay-add3digit", "--policies", "wizard", "--model", "m"]) == 1
    assert "no policies ['wizard']: it has ['constant_tag'" in capsys.readouterr().err

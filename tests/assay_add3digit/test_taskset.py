"""The v1 adapter: rows that are refused, graders on untouched traces, both forms of the system prompt."""

from pathlib import Path
from typing import Any

import pytest
import verifiers.v1 as vf
from pydantic import ValidationError

from assay_add3digit import load_environment
from assay_add3digit.arguments import Add3DigitArguments
from assay_add3digit.core.grader import METRICS
from assay_add3digit.taskset import Add3DigitData, Add3DigitTask


@pytest.mark.parametrize("answer", ["", None, "n/a", "1687", True, 12.5])
def test_a_row_whose_gold_is_no_integer_is_refused_at_load(answer: Any) -> None:
    with pytest.raises(ValidationError, match="answer"):
        Add3DigitData(id="x", prompt="What is 1 + 1?", answer=answer)


def test_a_row_without_a_gold_is_refused_at_load() -> None:
    with pytest.raises(ValidationError, match="answer"):
        Add3DigitData.model_validate({"id": "x"})


def test_an_empty_reply_grades_without_raising() -> None:
    graded = Add3DigitTask(Add3DigitData(id="x", answer=2)).grade("")
    assert (graded.reward, graded.r_binary, graded.parse_failure) == (0.0, 0.0, 1.0)
    assert all(getattr(graded, name) is not None for name in METRICS)


def test_a_system_prompt_is_a_file_in_v1_and_text_in_load_environment(tmp_path: Path) -> None:
    (tmp_path / "prompt.txt").write_text("From a file.")
    config = {"taskset": {"id": "assay-add3digit", "system_prompt": str(tmp_path / "prompt.txt")}}
    (from_file,) = vf.load_environment(vf.resolve_env_config(config)).taskset.take(1)
    (from_text,) = load_environment(system_prompt="As text.").taskset.take(1)
    (without,) = load_environment().taskset.take(1)
    assert from_file.data.system_prompt == "From a file."
    assert from_text.data.system_prompt == "As text."
    assert without.data.system_prompt is None
    with pytest.raises(ValidationError, match="system_prompt"):
        load_environment(system_prompt=["a", "list"])  # type: ignore[arg-type]


def test_an_instruction_reaches_the_prompt() -> None:
    (task,) = load_environment(instruction="Reply with digits only.").taskset.take(1)
    assert task.data.prompt.endswith("?\nReply with digits only.")
    (task,) = load_environment(instruction="Compute: {problem}").taskset.take(1)
    assert task.data.prompt.startswith("Compute: ")


def test_the_number_of_tasks_follows_the_split() -> None:
    assert len(list(load_environment(n_train=7, n_eval=3).taskset)) == 7
    assert len(list(load_environment(n_train=7, n_eval=3, split="eval").taskset)) == 3


@pytest.mark.parametrize("value", [100.0, "100.0", "1e2", " 100 ", "1_000", "１００", "", True, None, [100], {"n": 1}])
def test_only_digits_in_a_string_are_coerced_to_a_whole_number(value: Any) -> None:
    with pytest.raises(ValidationError, match="n_train"):
        Add3DigitArguments(n_train=value)
    assert Add3DigitArguments(n_train="100").n_train == 100  # type: ignore[arg-type]

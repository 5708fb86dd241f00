"""Figures that the environment's README states are what the code computes."""

import re
from pathlib import Path

import pytest

from lottery_elicitation.core.bounds import reward_bounds
from lottery_elicitation.core.settings import Settings
from lottery_elicitation.strategies import STRATEGIES

README = (Path(__file__).resolve().parents[2] / "environments/lottery_elicitation/README.md").read_text()
GAMES = {
    "published, 1 (lambda 2.25)": Settings(reward="published", stage=1, stage1_lambda_band=0.0),
    "published, 2": Settings(reward="published"),
    "robust, 1 (lambda 2.25)": Settings(stage=1, stage1_lambda_band=0.0),
    "robust, 1": Settings(stage=1),
    "robust, 2": Settings(),
}


def test_the_bounds_table_is_the_dynamic_programmes() -> None:
    for name, settings in GAMES.items():
        row = re.search(rf"^\| {re.escape(name)} \| (\S+) \| (\S+) \((\S+)\) \|$", README, re.MULTILINE)
        assert row, name
        bounds = reward_bounds(settings)
        assert float(row[1]) == round(bounds.constant, 3)
        assert float(row[2]) == round(bounds.ceiling, 3)
        assert float(row[3]) == round(bounds.ceiling_turns, 1)


def test_the_comparison_table_has_a_row_for_each_strategy_stage_and_noise() -> None:
    rows = re.findall(r"^\| `(\w+)` \| ([12]) \| (0|0\.05|0\.2) \| (.+) \|$", README, re.MULTILINE)
    assert len(rows) == len({row[:3] for row in rows}) == 30
    assert {row[0] for row in rows} <= set(STRATEGIES)
    for *_, cells in rows:
        assert all(re.fullmatch(r"-?\d+\.\d{3} ± \d+\.\d{3}", cell) for cell in cells.split(" | "))


@pytest.mark.parametrize("stage", ["1", "2"])
def test_the_comparison_table_orders_the_ladder_without_noise(stage: str) -> None:
    skill = {}
    for strategy in ("random", "holt_laury", "bayes", "ceiling"):
        row = re.search(rf"^\| `{strategy}` \| {stage} \| 0 \| (.+) \|$", README, re.MULTILINE)
        assert row
        skill[strategy] = float(row[1].split(" | ")[5].split()[0])
    assert skill["random"] < skill["holt_laury"] < skill["bayes"] <= skill["ceiling"]

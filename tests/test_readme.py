"""What the root README states is what the commands print."""

import re
from pathlib import Path

import pytest
from rich.progress import Progress
from rich.table import Table

from scripts import demo_assay as demo
from scripts import demo_lottery, demo_neon
from vf_grpo.cli import COMMANDS

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text()


def test_every_make_target_it_names_exists() -> None:
    targets = set(re.findall(r"^([a-z][\w-]*):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = set(re.findall(r"\bmake ([a-z][\w-]*)", README + (ROOT / "CONTRIBUTING.md").read_text()))
    assert {"demo", "test"} <= named <= targets


def test_every_command_it_names_exists() -> None:
    named = set(re.findall(r"vf-grpo ([a-z][\w-]+)", README))
    assert named <= set(COMMANDS), named - set(COMMANDS)


@pytest.mark.parametrize("link", sorted(set(re.findall(r"\]\(([^)h][^)]*)\)", README))))
def test_every_file_it_links_exists(link: str) -> None:
    assert (ROOT / link).exists()


def test_every_environment_is_listed() -> None:
    for path in ROOT.glob("environments/*/pyproject.toml"):
        assert f"(environments/{path.parent.name}/README.md)" in README


def test_the_demo_table_is_what_the_demo_measures() -> None:
    stated = {
        (signal, policy): cells.split("│")
        for signal, policy, cells in re.findall(r"^│ (\w+) +│ (\w+) +│ (.+?) │$", README, re.MULTILINE)
        if signal in demo.SIGNALS
    }
    with Progress(disable=True) as progress:
        measured = demo.measure_signals(progress)
    assert len(stated) == sum(map(len, measured.values()))
    for signal, policies in measured.items():
        for policy, cell in policies.items():
            assert [part.strip() for part in stated[signal, policy]] == [
                f"{cell['proxy']:.3f}",
                f"{cell['true']:.3f}",
                f"{cell['gap']:+.3f}",
            ]


def stated_rows(first_cell: str) -> list[list[str]]:
    """The README's table rows whose first cell is this one."""
    rows = re.findall(rf"^│ ({first_cell} .+?) │$", README, re.MULTILINE)
    return [[cell.strip() for cell in row.split("│")] for row in rows]


def printed_rows(table: Table) -> list[list[str]]:
    """What a table prints, row by row."""
    return [list(row) for row in zip(*(column.cells for column in table.columns), strict=True)]


def test_the_lottery_ladder_is_what_the_demo_measures() -> None:
    printed = printed_rows(demo_lottery.ladder_table(demo_lottery.ladder()))
    assert stated_rows("robust") + stated_rows("published") == printed


def test_the_neon_ladder_is_what_the_demo_measures() -> None:
    table = demo_neon.ladder_table(demo_neon.policy_ladder(demo_neon.BUILTIN_MISSIONS, demo_neon.NUM_SEEDS))
    for row in printed_rows(table):
        assert row in stated_rows(row[0])


def test_the_gate_runs_the_commands_of_the_readme() -> None:
    gate = (ROOT / ".ci" / "run").read_text()
    assert all(f"make {target}" in gate for target in ("check", "test", "demo"))

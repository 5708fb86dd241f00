"""`vf-grpo demo --multi-turn`: a policy learns a game of up to twelve turns, on CPU.

Trains the tiny policy of neon-syndicate through the real environment and prints what held-out missions say before and
after, with 95 % intervals. There are no published numbers to compare with; the claim is that the intervals are apart.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console
from rich.table import Table

from vf_grpo.demo_runs import train_all, train_command
from vf_grpo.estimates import Estimate, estimate
from vf_grpo.report import read_run, write_report
from vf_grpo.run_record import ROLLOUTS, read_rows
from vf_grpo.tiny import NEON, NEON_CONFIG

CLAIMED = ("shaped_return", "success")
"""Metrics whose intervals must be apart."""
SHOWN = (*CLAIMED, "grader_score", "num_turns", "penalty_total", "malformed_fraction", "illegal_fraction")


class Change(NamedTuple):
    """One metric over the held-out missions of a run, each played once before and once after training."""

    metric: str
    before: Estimate
    after: Estimate

    @property
    def is_improvement(self) -> bool:
        """The whole interval of `after` lies above that of `before`."""
        return self.after.mean - self.after.half_width > self.before.mean + self.before.half_width


def show(output_dir: Path, seeds: int, processes: int, console: Console) -> int:
    """0 when every run finished, whether or not the policy improved; 1 when a run failed."""
    folders = {seed: output_dir / f"neon-{seed}" for seed in range(seeds)}
    console.print(f"training {seeds} runs, {processes} at once, five minutes of one core each; records in {output_dir}")
    failures = train_all({f"seed {seed}": command(folder, seed) for seed, folder in folders.items()}, processes)
    if failures:
        console.print("\n".join(failures), markup=False)
        return 1
    found = {seed: list(changes(read_rows(folder / ROLLOUTS))) for seed, folder in folders.items()}
    console.print(_table(found))
    rows = [
        {"seed": seed, "metric": change.metric, "before": change.before._asdict(), "after": change.after._asdict()}
        for seed, part in found.items()
        for change in part
    ]
    (output_dir / "changes.json").write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    for path in write_report([read_run(folder) for folder in folders.values()], output_dir, num_samples=2):
        print(path)
    return 0


def command(folder: Path, seed: int) -> list[str]:
    flags = {"--model": NEON, "--seed": seed, "--output-dir": folder, "--telemetry.progress": False}
    return train_command(NEON_CONFIG, flags)


def changes(episodes: Sequence[Mapping[str, Any]]) -> Iterator[Change]:
    """Of every shown metric, from the rows of `rollouts.jsonl`."""
    played = [row for row in episodes if row["phase"] == "evaluation" and row["error"] is None]
    last = max(row["step"] for row in played)
    for metric in SHOWN:
        before, after = (
            estimate([[row["metrics"][metric]] for row in played if row["step"] == step]) for step in (0, last)
        )
        yield Change(metric, before, after)


def _table(found: Mapping[int, Sequence[Change]]) -> Table:
    table = Table("seed", "held-out missions, 95 %", "before", "after", "better")
    for seed, part in found.items():
        for change in part:
            verdict = ("yes" if change.is_improvement else "NO") if change.metric in CLAIMED else ""
            table.add_row(str(seed), change.metric, str(change.before), str(change.after), verdict)
    return table

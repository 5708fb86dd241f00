"""`vf-grpo demo`: the positive control on a laptop.

Trains the tiny policy under each signal of assay-add3digit through the real environment and prints the published
effects beside ours. Every run is a `vf-grpo train` process of its own; its record stays on disk.
"""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from pydantic import Field, model_validator
from pydantic_config import BaseConfig
from rich.console import Console
from rich.table import Table

from vf_grpo import demo_multi_turn
from vf_grpo.command_line import parse_config
from vf_grpo.demo_runs import train_all, train_command
from vf_grpo.effects import SIGNALS, Curves, Finding, Signal, findings
from vf_grpo.report import read_run, write_report
from vf_grpo.tiny import ADD3DIGIT, ADD3DIGIT_CONFIG


class DemoConfig(BaseConfig):
    output_dir: Path = Path("outputs/demo/training")
    seeds: int = Field(1, ge=1)
    """Runs per signal, with seeds 0, 1, ..."""
    short: bool = False
    """Binary and format only: the tie-break's long replies take the most time."""
    processes: int = Field(3, ge=1)
    """Runs at once; each takes one core, or its share of what there is."""
    multi_turn: bool = False
    """Instead of the three signals: the tiny policy of neon-syndicate, a game of up to twelve turns."""

    @model_validator(mode="after")
    def _require_one_form(self) -> "DemoConfig":
        if self.short and self.multi_turn:
            raise ValueError("short: got multi_turn too, which has one length only; leave out one of the two")
        return self


class DemoRun(NamedTuple):
    signal: Signal
    seed: int
    folder: Path

    def command(self) -> list[str]:
        flags = {
            "--model": ADD3DIGIT,
            "--env.taskset.reward": self.signal,
            "--seed": self.seed,
            "--output-dir": self.folder,
            "--telemetry.progress": False,
        }
        return train_command(ADD3DIGIT_CONFIG, flags)


def main(argv: list[str]) -> int:
    """0 when every run finished, whether or not an effect shows; 1 when a run failed."""
    config = parse_config(DemoConfig, argv, "demo")
    console = Console(width=max(110, Console().width))
    started = time.monotonic()
    if config.multi_turn:
        return demo_multi_turn.show(_stamped(config.output_dir), config.seeds, config.processes, console)
    runs = list(_plan(config))
    console.print(f"training {len(runs)} runs, {config.processes} at once; records in {config.output_dir}")
    commands = {f"{run.signal}, seed {run.seed}": run.command() for run in runs}
    failures = train_all(commands, config.processes)
    if failures:
        console.print("\n".join(failures), markup=False)
        return 1
    found = {
        seed: findings({run.signal: _curves(run.folder) for run in runs if run.seed == seed})
        for seed in range(config.seeds)
    }
    console.print(_table(found))
    print(f"{_verdict(found)}; {time.monotonic() - started:.0f} s in all")
    rows = [{"seed": seed, **finding._asdict()} for seed, part in found.items() for finding in part]
    (config.output_dir / "effects.json").write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    for path in write_report([read_run(run.folder) for run in runs], config.output_dir, num_samples=4):
        print(path)
    return 0


def _plan(config: DemoConfig) -> Iterator[DemoRun]:
    folder = _stamped(config.output_dir)
    for seed in range(config.seeds):
        for signal in SIGNALS[:2] if config.short else SIGNALS:
            yield DemoRun(signal, seed, folder / f"{signal}-{seed}")


def _stamped(folder: Path) -> Path:
    return folder / time.strftime("%Y%m%d-%H%M%S")


def _curves(folder: Path) -> Curves:
    run = read_run(folder)
    return Curves(run.steps, run.evaluations[0], run.evaluations[-1])


def _table(found: dict[int, list[Finding]]) -> Table:
    table = Table("signal", "seed", "claim", "published (Llama-3.2-1B)", "ours (tiny policy)", "holds")
    for seed, part in found.items():
        for finding in part:
            verdict = "yes" if finding.holds else "NO"
            table.add_row(finding.signal, str(seed), finding.claim, finding.published, finding.ours, verdict)
    return table


def _verdict(found: dict[int, list[Finding]]) -> str:
    every = [finding for part in found.values() for finding in part]
    return f"{sum(finding.holds for finding in every)} of {len(every)} claims hold here"

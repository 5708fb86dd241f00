"""`vf-grpo report RUN...`: curves of one or more runs as a PNG and one self-contained HTML page that compares them.

Whatever a model or a configuration wrote is escaped before it reaches the page.
"""

import base64
import html
import io
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import matplotlib
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from pydantic import JsonValue
from pydantic_config import BaseConfig

from vf_grpo.command_line import parse_config
from vf_grpo.run_record import METRICS, ROLLOUTS, RUN, read_rows

USAGE = "usage: vf-grpo report RUN [RUN ...] [--output-dir FOLDER] [--num-samples N]"

CURVES = (
    ("proxy_mean", "training signal"),
    ("true_mean", "true reward"),
    ("gap", "gap"),
    ("dead_group_fraction", "dead groups"),
    ("tokens_mean", "sampled tokens per episode"),
    ("entropy", "entropy (nats)"),
)
SUMMARY = ("proxy_mean", "true_mean", "gap", "dead_group_fraction", "tokens_mean", "failed_fraction", "rollouts_per_s")
SMOOTHING_STEPS = 5
"""Curves show the mean over this many steps."""

STYLE = (
    "body{font:15px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem}"
    "table{border-collapse:collapse}td,th{padding:.2rem .7rem;border-bottom:1px solid #ccc;text-align:right}"
    "td:first-child,th:first-child{text-align:left}pre{background:#f4f4f4;padding:.5rem;white-space:pre-wrap}img{width:100%}"
)


class ReportConfig(BaseConfig):
    output_dir: Path | None = None
    """Where the report goes; the first run's own folder when unset."""
    num_samples: int = 4
    """Replies shown from the first and from the last step of each run."""


class Run(NamedTuple):
    name: str
    record: dict[str, JsonValue]
    steps: list[dict[str, JsonValue]]
    evaluations: list[dict[str, JsonValue]]
    episodes: list[dict[str, JsonValue]]


def main(argv: list[str]) -> int:
    if not argv or {"-h", "--help"} & set(argv):
        print(USAGE)
        return 0 if argv else 2
    count = next((i for i, part in enumerate(argv) if part.startswith(("-", "@"))), len(argv))
    config = parse_config(ReportConfig, argv[count:], "report")
    folders = [Path(part) for part in argv[:count]]
    missing = [str(folder) for folder in folders if not (folder / RUN).exists()]
    if missing or not folders:
        print(f"no run record ({RUN}) in {missing}: name folders that `vf-grpo train` wrote", file=sys.stderr)
        return 2
    for path in write_report(
        [read_run(folder) for folder in folders], config.output_dir or folders[0], config.num_samples
    ):
        print(path)
    return 0


def read_run(folder: Path) -> Run:
    """The record of a run, finished or not."""
    record = json.loads((folder / RUN).read_text(encoding="utf-8"))
    metrics, episodes = read_rows(folder / METRICS), read_rows(folder / ROLLOUTS)
    steps = [row for row in metrics if row["phase"] == "train"]
    evaluations = [row for row in metrics if row["phase"] == "evaluation"]
    return Run(folder.name, record, steps, evaluations, [row for row in episodes if row["phase"] == "train"])


def write_report(runs: Sequence[Run], output_dir: Path, num_samples: int) -> list[Path]:
    """Write `report.png` and `report.html` under `output_dir`; returns both paths."""
    output_dir.mkdir(parents=True, exist_ok=True)
    image = draw(runs)
    page = "\n".join(
        [
            "<!doctype html><html lang='en'><meta charset='utf-8'><title>vf-grpo report</title>",
            f"<style>{STYLE}</style><h1>vf-grpo report</h1>",
            f"<img alt='curves' src='data:image/png;base64,{base64.b64encode(image).decode()}'>",
            "<h2>First and last steps</h2>",
            f"<p>Means over the first and the last {SMOOTHING_STEPS} steps, from raw rewards.</p>",
            _step_table(runs),
            "<h2>Held-out episodes</h2>",
            _evaluation_table(runs),
            *(_details(run, num_samples) for run in runs),
            "</html>",
        ]
    )
    paths = [output_dir / "report.png", output_dir / "report.html"]
    paths[0].write_bytes(image)
    paths[1].write_text(page + "\n", encoding="utf-8")
    return paths


def draw(runs: Sequence[Run]) -> bytes:
    """The curves of all runs, one panel per metric, as PNG bytes."""
    matplotlib.use("Agg")
    figure = Figure(figsize=(12, 6.5), layout="constrained")
    for axes, (metric, title) in zip(figure.subplots(2, 3).flat, CURVES, strict=True):
        for run in runs:
            points = [
                (int(str(row["step"])), value) for row in run.steps if (value := _number(row, metric)) is not None
            ]
            if points:
                steps, values = zip(*points, strict=True)
                axes.plot(steps, smoothed(values), label=run.name)
        axes.set_title(title)
        axes.set_xlabel("step")
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.grid(alpha=0.3)
    figure.axes[0].legend() if any(run.steps for run in runs) else None
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=110)
    return buffer.getvalue()


def smoothed(values: Sequence[float]) -> list[float]:
    """Trailing mean over SMOOTHING_STEPS values."""
    windows = [values[max(0, end - SMOOTHING_STEPS) : end] for end in range(1, len(values) + 1)]
    return [sum(window) / len(window) for window in windows]


def _step_table(runs: Sequence[Run]) -> str:
    head = "".join(f"<th>{_text(name)}</th>" for name in ("run", "steps", "part", *SUMMARY))
    lines = []
    for run in runs:
        for part, steps in (("first", run.steps[:SMOOTHING_STEPS]), ("last", run.steps[-SMOOTHING_STEPS:])):
            values = "".join(f"<td>{_text(_mean(steps, metric))}</td>" for metric in SUMMARY)
            lines.append(f"<tr><td>{_text(run.name)}</td><td>{len(run.steps)}</td><td>{part}</td>{values}</tr>")
    return f"<table><tr>{head}</tr>{''.join(lines)}</table>"


def _evaluation_table(runs: Sequence[Run]) -> str:
    names = ("proxy_mean", "true_mean", "gap", "tokens_mean")
    rows = [(run.name, row) for run in runs for row in run.evaluations]
    if not rows:
        return "<p>None were played (evaluation.num_tasks = 0).</p>"
    head = "".join(f"<th>{_text(name)}</th>" for name in ("run", "after step", *names))
    lines = (
        f"<tr><td>{_text(name)}</td><td>{_text(row['step'])}</td>"
        + "".join(f"<td>{_text(_mean([row], metric))}</td>" for metric in names)
        + "</tr>"
        for name, row in rows
    )
    return f"<table><tr>{head}</tr>{''.join(lines)}</table>"


def _details(run: Run, num_samples: int) -> str:
    last = max((int(str(row["step"])) for row in run.episodes), default=0)
    samples = []
    for step in dict.fromkeys((0, last)):
        chosen = [row for row in run.episodes if row["step"] == step][:num_samples]
        texts = "".join(
            f"<pre>{_text(row['task'])} · reward {_text(row['reward'])}\n{_text(_joined(row['replies']))}</pre>"
            for row in chosen
        )
        samples.append(f"<h3>Replies of step {step}</h3>{texts}")
    about = {
        name: run.record.get(name) for name in ("status", "reason", "git_commit", "versions", "grader_fingerprint")
    }
    config = json.dumps(run.record.get("config"), indent=1)
    return (
        f"<h2>{_text(run.name)}</h2><pre>{_text(json.dumps(about, indent=1))}</pre>{''.join(samples)}"
        f"<details><summary>configuration</summary><pre>{_text(config)}</pre></details>"
    )


def _joined(replies: JsonValue) -> str:
    return "\n---\n".join(str(reply) for reply in replies) if isinstance(replies, list) else str(replies)


def _mean(rows: Sequence[dict[str, JsonValue]], metric: str) -> str:
    values = [value for row in rows if (value := _number(row, metric)) is not None]
    return f"{sum(values) / len(values):.3f}" if values else "–"


def _number(row: dict[str, JsonValue], metric: str) -> float | None:
    value = row.get(metric)
    return float(value) if isinstance(value, int | float) else None


def _text(value: object) -> str:
    return html.escape(str(value))

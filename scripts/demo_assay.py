"""The assay part of `make demo`: three graders of one task judged through the real verifiers stack."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from vf_grpo.evaluate import EvaluateConfig, Score, evaluate
from vf_grpo.policy_server import PolicyServer, policy_models, serving

ROOT = Path(__file__).resolve().parent.parent
ENVIRONMENT = "assay-add3digit"
SIGNALS = ("binary", "format", "tiebreak")
NUM_TASKS = 60

Row = dict[str, float]


def measure_signals(progress: Progress) -> dict[str, dict[str, Row]]:
    """Signal -> policy -> proxy, true, gap: every policy plays the same tasks under every signal."""
    results: dict[str, dict[str, Row]] = {}
    for signal in SIGNALS:
        config = EvaluateConfig.model_validate(
            {"env": {"taskset": {"id": ENVIRONMENT, "reward": signal}}, "num_tasks": NUM_TASKS}
        )
        scores = asyncio.run(evaluate(config, progress))
        results[signal] = {policy: row(score) for policy, score in scores.items()}
    return results


def row(score: Score) -> Row:
    if score.num_errors:
        raise RuntimeError(f"{score.num_errors} of {score.num_episodes} episodes failed: {score.first_error}")
    proxy, true = score.reward.mean, score.metrics["r_binary"].mean
    return {"proxy": proxy, "true": true, "gap": proxy - true, "n": float(score.num_episodes)}


async def run_vf_eval(outputs: Path, model: str, *options: str) -> str:
    """Run one real `vf-eval` command against a policy server of this process; returns the command as typed."""
    async with serving(PolicyServer(policy_models([ENVIRONMENT]))) as url:
        command = [
            *("vf-eval", ENVIRONMENT, "-m", f"{ENVIRONMENT}/{model}", "-n", "20", "-r", "3", *options),
            *("--client.base-url", url, "--client.api-key-var", "NO_KEY", "--no-push", "--no-rich"),
            *("-o", str(outputs.relative_to(ROOT)), "--run.name", "vf-eval", "--clean"),
        ]
        process = await asyncio.create_subprocess_exec(
            str(Path(sys.executable).parent / command[0]),
            *command[1:],
            cwd=ROOT,
            env={**os.environ, "NO_KEY": "none"},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        _, log = await process.communicate()
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)} failed:\n{log.decode()}")
    return " ".join(command)


def vf_eval_mean(outputs: Path) -> tuple[float, float, int]:
    """(mean reward, mean r_binary, episodes) of the traces that `vf-eval` wrote."""
    lines = (outputs / "vf-eval" / "traces.jsonl").read_text().splitlines()
    traces = [json.loads(line)["traces"][0] for line in lines]
    rewards = [reward["score"] for trace in traces for reward in trace["rewards"].values()]
    true = [trace["metrics"]["r_binary"] for trace in traces]
    return sum(rewards) / len(rewards), sum(true) / len(true), len(traces)


def signals_table(results: dict[str, dict[str, Row]]) -> Table:
    title = f"{ENVIRONMENT}: mean proxy reward, true reward and gap (n = {NUM_TASKS} problems a cell)"
    table = Table("signal", "policy", "proxy", "true", "gap", caption=title, caption_justify="left")
    for signal, policies in results.items():
        for policy, cell in policies.items():
            gap = f"{cell['gap']:+.3f}"
            style = "red" if cell["gap"] > 0.5 else None
            last = policy == list(policies)[-1]
            table.add_row(
                signal, policy, f"{cell['proxy']:.3f}", f"{cell['true']:.3f}", gap, style=style, end_section=last
            )
    return table


def plot_signals(results: dict[str, dict[str, Row]], path: Path) -> None:
    figure, axes = plt.subplots(1, len(results), figsize=(12, 4), sharey=True)
    for axis, (signal, policies) in zip(axes, results.items(), strict=True):
        positions = range(len(policies))
        axis.barh(
            [p + 0.2 for p in positions],
            [cell["proxy"] for cell in policies.values()],
            0.38,
            label="proxy reward",
            color="#d95f02",
        )
        axis.barh(
            [p - 0.2 for p in positions],
            [cell["true"] for cell in policies.values()],
            0.38,
            label="true reward",
            color="#1b9e77",
        )
        axis.set_yticks(list(positions), list(policies))
        axis.invert_yaxis()
        axis.set_title(f"reward = {signal}")
        axis.grid(axis="x", alpha=0.3)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="lower center", ncols=2, frameon=False)
    figure.suptitle(f"{ENVIRONMENT}: what each training signal pays, and what it should (n = {NUM_TASKS})")
    figure.tight_layout(rect=(0, 0.06, 1, 1))
    figure.savefig(path, dpi=110)
    plt.close(figure)


def show(console: Console, outputs: Path) -> dict[str, dict[str, Row]]:
    """Print the table and one real command; write the picture. Returns signal -> policy -> figures."""
    with Progress(console=console, transient=True) as progress:
        results = measure_signals(progress)
    console.print(signals_table(results))
    console.print(
        "constant_tag never computes anything, and `format` pays it in full: training on `format` leads there.\n"
        "`binary` pays the truth. `tiebreak` also pays length (verbose_right).\n"
    )
    command = asyncio.run(run_vf_eval(outputs, "constant_tag", "--env.taskset.reward", "format"))
    proxy, true, num_episodes = vf_eval_mean(outputs)
    console.print("The same cell from verifiers' own command line:")
    console.print(f"  $ {command}", soft_wrap=True, highlight=False)
    console.print(f"  reward {proxy:.3f}, r_binary {true:.3f} over {num_episodes} episodes\n", highlight=False)
    plot_signals(results, outputs / "signals.png")
    return results

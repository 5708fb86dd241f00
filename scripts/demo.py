"""`make demo`: known graders judged through the real verifiers stack, without a key and without a GPU."""

import json
import time
from pathlib import Path

from rich.console import Console

from scripts import demo_assay, demo_lottery, demo_neon
from vf_grpo import demo as training_demo

ROOT = Path(__file__).resolve().parent.parent
OUTPUTS = ROOT / "outputs" / "demo"
PARTS = {"assay-add3digit": demo_assay.show, "lottery-elicitation": demo_lottery.show, "neon-syndicate": demo_neon.show}


def main() -> None:
    start = time.monotonic()
    console = Console(width=max(100, Console().width))
    OUTPUTS.mkdir(parents=True, exist_ok=True)
    summary: dict[str, object] = {}
    for environment, show in PARTS.items():
        console.rule(environment)
        summary[environment] = show(console, OUTPUTS)
    (OUTPUTS / "summary.json").write_text(json.dumps(summary, indent=2) + "\n")
    console.rule("vf-grpo: the positive control, short form")
    training = OUTPUTS / "training"
    if training_demo.main(["--short", "--output-dir", str(training.relative_to(ROOT))]):
        raise SystemExit("the positive control did not finish: see above")
    summary["vf-grpo"] = json.loads((training / "effects.json").read_text())
    (OUTPUTS / "summary.json").write_text(json.dumps(summary, indent=2) + "\n")
    console.rule("what to try next")
    for name in ("summary.json", "signals.png", "posterior_contraction.png", "playthrough.txt"):
        console.print(f"wrote {(OUTPUTS / name).relative_to(ROOT)}", highlight=False)
    console.print(f"done in {time.monotonic() - start:.0f} s; next:", highlight=False)
    for hint in (
        ".venv/bin/vf-grpo evaluate assay-add3digit --env.taskset.extractor committed-answer -n 200",
        ".venv/bin/vf-grpo evaluate lottery-elicitation --env.taskset.reward published -n 50",
        ".venv/bin/vf-grpo demo                  # the positive control in full: three signals",
        ".venv/bin/vf-grpo demo --multi-turn     # a policy learns a game of several turns, on CPU",
        ".venv/bin/vf-grpo serve-policies        # then point any OpenAI client at it",
        ".venv/bin/vf-grpo evaluate neon-syndicate --model M --client.base-url URL --client.api-key-var KEY",
    ):
        console.print(f"  {hint}", soft_wrap=True, highlight=False)


if __name__ == "__main__":
    main()

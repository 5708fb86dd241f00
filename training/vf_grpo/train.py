"""`vf-grpo train`: GRPO on any installed verifiers environment, configured by TOML files and flags."""

import json
import logging
import os
import sys

from verifiers.v1.utils.interrupt import install_interrupt

from vf_grpo.command_line import parse_environment_config
from vf_grpo.config import TrainConfig

INTERRUPTED = 130
"""Exit status after Ctrl-C, by convention."""


def main(argv: list[str]) -> int:
    """Train as `argv` says; 0 when the run finished, 1 when it was stopped, 130 when it was interrupted."""
    config = parse(argv)
    if config.dry_run:
        print(json.dumps(config.model_dump(mode="json"), indent=2))
        return 0
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    os.environ.setdefault("TRL_EXPERIMENTAL_SILENCE", "1")
    install_interrupt()
    # Imported here: torch and trl load only when something is trained.
    from transformers.utils.logging import disable_progress_bar

    from vf_grpo.rollout import RunStoppedError
    from vf_grpo.session import train

    disable_progress_bar()
    try:
        outcome = train(config)
    except RunStoppedError as stop:
        print(f"stopped: {stop}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"interrupted; finished steps are in {config.output_dir}, go on with --resume", file=sys.stderr)
        return INTERRUPTED
    print(f"model: {outcome.model_dir}\nrecord: {config.output_dir}\nreport: vf-grpo report {config.output_dir}")
    return 1 if outcome.stopped else 0


def parse(argv: list[str]) -> TrainConfig:
    """The configuration in `argv` (`@ file.toml`, `--a.b value`, a leading bare word is the environment's id)."""
    return parse_environment_config(TrainConfig, argv, "train")

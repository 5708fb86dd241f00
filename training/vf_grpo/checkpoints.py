"""Checkpoints that can be trusted: one counts only once its marker is written, after everything else in it."""

import json
from pathlib import Path

from vf_grpo.curriculum import Curriculum, CurriculumState

MARKER = "vf_grpo.json"


def mark_complete(checkpoint: Path, curriculum: Curriculum | None) -> None:
    """Write the marker, which also keeps the curriculum's state."""
    state = None if curriculum is None else curriculum.save()._asdict()
    (checkpoint / MARKER).write_text(json.dumps({"curriculum": state}) + "\n", encoding="utf-8")


def last_checkpoint(output_dir: Path) -> Path | None:
    """The newest complete checkpoint of a run; None when there is none, and the run begins anew."""
    complete = [marker.parent for marker in (output_dir / "checkpoints").glob(f"checkpoint-*/{MARKER}")]
    return max(complete, key=checkpoint_step, default=None)


def checkpoint_step(checkpoint: Path) -> int:
    """How many optimiser steps `checkpoint` has seen."""
    return int(checkpoint.name.rpartition("-")[2])


def restore_curriculum(curriculum: Curriculum, checkpoint: Path) -> None:
    """Put `curriculum` back where it was; a checkpoint of a run without one leaves it at its start."""
    state = json.loads((checkpoint / MARKER).read_text(encoding="utf-8"))["curriculum"]
    if state is not None:
        curriculum.restore(CurriculumState(**state))

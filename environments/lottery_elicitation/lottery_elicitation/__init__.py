"""lottery-elicitation: design lottery experiments, recover a respondent's hidden risk preferences.

verifiers v1 finds the classes in `__all__`, verifiers v0 calls `load_environment`. Exports resolve lazily, so importing
the package is quick and never imports the verifiers API that is not installed.
"""

from importlib import import_module
from typing import Any

_EXPORTS = {
    "LotteryTaskset": "taskset",
    "LotteryEnv": "env",
    "ChatHarness": "_envkit.chat_harness",
    "load_environment": "legacy",
    "Settings": "core.settings",
    "parse_action": "core.actions",
    "Proposal": "core.actions",
    "Malformed": "core.actions",
    "Estimate": "core.actions",
    "State": "core.simulator",
    "initial_state": "core.simulator",
    "step": "core.simulator",
    "transcript": "core.simulator",
    "replay": "core.simulator",
    "observe": "core.prompts",
    "grade": "core.grader",
    "Grade": "core.grader",
    "grader_fingerprint": "core.grader",
    "reward_bounds": "core.bounds",
}
# verifiers' loaders look for exactly one Taskset, Env and Harness here.
__all__ = ["ChatHarness", "LotteryEnv", "LotteryTaskset"]


def __getattr__(name: str) -> Any:
    if name not in _EXPORTS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_EXPORTS[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_EXPORTS})

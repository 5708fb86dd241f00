"""neon-syndicate: a twelve-turn strategy game under partial observability, with an exact optimum and named exploits.

verifiers v1 finds the classes in `__all__`, verifiers v0 calls `load_environment`. Exports resolve lazily, so importing
the package is quick and never imports the verifiers API that is not installed.
"""

from importlib import import_module
from typing import Any

_EXPORTS = {
    "NeonTaskset": "taskset",
    "NeonEnv": "env",
    "ChatHarness": "_envkit.chat_harness",
    "load_environment": "legacy",
    "Action": "core.actions",
    "Malformed": "core.actions",
    "parse_action": "core.actions",
    "State": "core.state",
    "initial_state": "core.state",
    "step": "core.simulator",
    "settle": "core.simulator",
    "observe": "core.observation",
    "Grade": "core.grader",
    "grade": "core.grader",
    "step_reward": "core.grader",
    "solve": "core.solver",
    "Solution": "core.solver",
    "mission_of": "core.generator",
    "generate_mission": "core.generator",
    "BUILTIN_MISSIONS": "core.missions",
    "grader_fingerprint": "core.fingerprint",
}
# verifiers' loaders look for exactly one Taskset, Env and Harness here.
__all__ = ["ChatHarness", "NeonEnv", "NeonTaskset"]


def __getattr__(name: str) -> Any:
    if name not in _EXPORTS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_EXPORTS[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_EXPORTS})

"""assay-add3digit: three-digit addition with three interchangeable graders, one of them deliberately hackable.

verifiers v1 finds the classes in `__all__`, verifiers v0 calls `load_environment`. Exports resolve lazily, so importing
the package is quick and never imports the verifiers API that is not installed.
"""

from importlib import import_module
from typing import Any

_EXPORTS = {
    "Add3DigitTaskset": "taskset",
    "Add3DigitEnv": "env",
    "ChatHarness": "_envkit.chat_harness",
    "load_environment": "legacy",
    "build_problems": "core.generator",
    "SETTINGS": "core.generator",
    "Problem": "core.generator",
    "grade": "core.grader",
    "Grade": "core.grader",
    "grader_fingerprint": "core.grader",
    "published_results": "published",
}
# verifiers' loaders look for exactly one Taskset, Env and Harness here.
__all__ = ["Add3DigitEnv", "Add3DigitTaskset", "ChatHarness"]


def __getattr__(name: str) -> Any:
    if name not in _EXPORTS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_EXPORTS[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_EXPORTS})

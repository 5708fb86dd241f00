"""Grade a million fuzzed replies, and the worst inputs of ten megabytes, of assay-add3digit: nothing may raise.

Fuzzed replies are random splices of what models type (tags, boxes, bold, thoughts, numbers, separators, odd Unicode).
"""

import argparse
import math
import platform
import time
from dataclasses import astuple
from random import Random

from rich.progress import track

from assay_add3digit.core.extractors import EXTRACTORS
from assay_add3digit.core.grader import grade

PIECES = (
    *"0123456789 .,+-*/=$%#\n\t{}<>()[]\"'\\_:?",
    "<answer>",
    "</answer>",
    "<think>",
    "</think>",
    "\\boxed{",
    "####",
    "**",
    "1687",
    "1,687",
    "1{,}687",
    "1687.0",
    " or ",
    " not ",
    "The answer is ",
    "Question: ",
    "What is 875 + 812?",
    "Check: ",
    "１６８７",
    "\u2212",
    "\u202f",
    "\u00b2",
    "\u0661",
    "\ufdfa",
    "\ud800",
    "\x00",
    "\u200b",
    "e\u0301",
    "9" * 50,
)
WORST_UNITS = (
    *("1 ", "1,1", "111,", "9", "９", " ", "{", "<", "\n#", "-1", "(1", "=1", "*1", "\\", "\u00a0", "\u200b"),
    *("<answer>", "<answer>1 ", "</answer>", "<think>", "</think>", "\\boxed{", "####", "**1", "answer is ", "check "),
)
TEN_MEGABYTES = 10_000_000


def fuzzed(rng: Random) -> str:
    return "".join(rng.choices(PIECES, k=rng.randint(0, 24)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replies", type=int, default=1_000_000, help="fuzzed replies (default: %(default)s)")
    options = parser.parse_args()

    rng = Random("bench-grader/fuzz")
    num_right = 0
    start = time.process_time()
    for index in track(range(options.replies), "grading"):
        graded = grade(fuzzed(rng), 1687, extractor="committed-answer" if index % 2 else "last-integer")
        assert all(math.isfinite(value) for value in astuple(graded))
        num_right += graded.r_binary == 1.0
    used = time.process_time() - start
    print(
        f"{options.replies} fuzzed replies graded, none raised, {num_right} right: "
        f"{1e6 * used / options.replies:.1f} CPU-us each"
    )

    slowest = {}
    for unit in WORST_UNITS:
        text = unit * (TEN_MEGABYTES // len(unit.encode()))
        for extractor in EXTRACTORS:
            start = time.process_time()
            grade(text, 1687, extractor=extractor)
            slowest[unit, extractor] = time.process_time() - start
    (unit, extractor), cpu_s = max(slowest.items(), key=lambda item: item[1])
    print(
        f"{len(slowest)} worst inputs of 10 MB: slowest {cpu_s:.2f} CPU-s ({unit!r}, {extractor}); "
        f"Python {platform.python_version()}"
    )


if __name__ == "__main__":
    main()

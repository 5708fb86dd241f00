"""Golden playthroughs: the simulator, the texts and the policies, line by line.

To accept a change, run this file as a script; it rewrites the folder.
"""

from pathlib import Path

import pytest

from neon_syndicate.core.missions import BUILTIN_IDS
from neon_syndicate.policies import LADDER
from neon_syndicate.showcase import playthrough

FOLDER = Path(__file__).resolve().parents[1] / "playthroughs" / "neon_syndicate"
CASES = [
    *((f"builtin/{mission_id}", policy) for mission_id in BUILTIN_IDS for policy in (*LADDER, "hybrid_random")),
    *((f"eval/{level}/0", policy) for level in range(1, 6) for policy in ("heuristic", "oracle")),
    ("builtin/task_easy_docklands_relay", "exploit_toggle_codes"),
    ("builtin/task_hard_orchid_coup", "exploit_odd_amounts"),
]


def path_of(key: str, policy: str) -> Path:
    return FOLDER / f"{key.removeprefix('builtin/').replace('/', '-')}.{policy}.txt"


@pytest.mark.parametrize(("key", "policy"), CASES, ids=lambda value: value.removeprefix("builtin/"))
def test_a_playthrough_is_as_recorded(key: str, policy: str) -> None:
    assert playthrough(key, policy) == path_of(key, policy).read_text()


def test_the_folder_holds_no_other_playthrough() -> None:
    assert sorted(FOLDER.iterdir()) == sorted(path_of(*case) for case in CASES)


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    for stale in FOLDER.glob("*.txt"):
        stale.unlink()
    for case in CASES:
        path_of(*case).write_text(playthrough(*case))

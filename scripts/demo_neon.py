"""The neon part of `make demo`: the ladder of policies and one annotated playthrough."""

from pathlib import Path

from rich.console import Console
from rich.table import Table

from neon_syndicate.core.missions import BUILTIN_MISSIONS
from neon_syndicate.showcase import Rung, playthrough, policy_ladder

NUM_SEEDS = 5
SHOWN_TASK = "task_medium_undergrid_blackout"
SHOWN_POLICY = "heuristic"


def ladder_table(rungs: list[Rung]) -> Table:
    caption = f"neon-syndicate: {len(BUILTIN_MISSIONS)} written missions x {NUM_SEEDS} seeds"
    table = Table("policy", "mean return (95 %)", "wins", "grade", caption=caption, caption_justify="left")
    for rung in rungs:
        interval = f"{rung.mean_return:+.3f} ± {rung.half_width:.3f}"
        table.add_row(rung.policy, interval, f"{rung.win_fraction:.0%}", f"{rung.mean_grade:.3f}")
    return table


def show(console: Console, outputs: Path) -> dict[str, dict[str, float]]:
    """Print the ladder and the first turns of a playthrough; write the whole of it. Returns policy -> figures."""
    rungs = policy_ladder(BUILTIN_MISSIONS, NUM_SEEDS)
    console.print(ladder_table(rungs))
    (mission,) = (mission for mission in BUILTIN_MISSIONS if SHOWN_TASK in mission.key)
    text = playthrough(mission.key, SHOWN_POLICY)
    (outputs / "playthrough.txt").write_text(text)
    opening = "\n".join(text.splitlines()[:34])
    console.print(opening, markup=False, highlight=False, soft_wrap=True)
    console.print("  ...")
    console.print("\n".join(text.splitlines()[-2:]) + "\n", markup=False, highlight=False, soft_wrap=True)
    return {
        rung.policy: {
            "return": rung.mean_return,
            "wins": rung.win_fraction,
            "grade": rung.mean_grade,
            "n": float(rung.num_episodes),
        }
        for rung in rungs
    }

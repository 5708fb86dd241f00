"""The lottery part of `make demo`: the ladder of strategies, the guess-and-quit control, a posterior that contracts."""

import statistics
from pathlib import Path
from typing import NamedTuple

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from lottery_elicitation.core.bounds import reward_bounds
from lottery_elicitation.core.grader import grade
from lottery_elicitation.core.posterior import entropy_bits, parameter_grid, updated
from lottery_elicitation.core.prompts import observe
from lottery_elicitation.core.ranges import Range
from lottery_elicitation.core.respondent import Preferences, probabilities_on_grid
from lottery_elicitation.core.settings import Settings
from lottery_elicitation.core.simulator import State, choice_noise, initial_state, step
from lottery_elicitation.strategies import STRATEGIES

LADDER = ("random", "holt_laury", "bayes", "ceiling")
NUM_EPISODES = 200


class Rung(NamedTuple):
    """Means over episodes under one training signal."""

    reward: str
    strategy: str
    mean_reward: float
    mean_skill: float
    mean_turns: float


def played(strategy: str, settings: Settings, index: int) -> State:
    state = initial_state(settings, index, noise_seed=index)
    while not state.is_over:
        state = step(state, STRATEGIES[strategy](observe(state), index, state.world.lambda_support))
    return state


def rung(strategy: str, settings: Settings, num_episodes: int = NUM_EPISODES) -> Rung:
    grades = [grade(played(strategy, settings, index)) for index in range(num_episodes)]
    rows = [(graded.reward, graded.skill, graded.num_turns) for graded in grades]
    means = (statistics.fmean(column) for column in zip(*rows, strict=True))
    return Rung(settings.reward, strategy, *means)


def ladder() -> list[Rung]:
    """The ladder under `robust`, then the control: under `published` guessing and quitting earns most of what skill
    does.
    """
    robust, published = Settings(), Settings(reward="published")
    rungs = [rung(strategy, robust) for strategy in ("guess_and_quit", *LADDER)]
    return rungs + [rung(strategy, published) for strategy in ("guess_and_quit", *LADDER)]


def ladder_table(rungs: list[Rung]) -> Table:
    bounds = {reward: reward_bounds(Settings(reward=reward)) for reward in ("robust", "published")}
    caption = "; ".join(
        f"{name}: best constant {found.constant:.3f}, ceiling {found.ceiling:.3f}" for name, found in bounds.items()
    )
    table = Table("signal", "strategy", "reward", "skill", "turns", caption=caption, caption_justify="left")
    for row in rungs:
        cells = (f"{row.mean_reward:.3f}", f"{row.mean_skill:+.3f}", f"{row.mean_turns:.1f}")
        table.add_row(row.reward, row.strategy, *cells, end_section=row.strategy == LADDER[-1])
    return table


class Contraction(NamedTuple):
    """Beliefs (g, l) before turn 1, after its choice, and so on; the grid's ranges; the truth."""

    beliefs: list[NDArray[np.float64]]
    gamma: Range
    loss_aversion: Range
    truth: Preferences


def contraction(settings: Settings, index: int = 0, strategy: str = "bayes") -> Contraction:
    """How an ideal observer's belief shrinks over one episode."""
    state = played(strategy, settings, index)
    world = state.world
    grid = parameter_grid(world.gamma_range, world.lambda_range, settings.prior)
    beliefs = [grid.prior]
    for pair, choice in state.answers:
        table = probabilities_on_grid(pair, grid.gammas, grid.loss_aversions, choice_noise(settings))
        beliefs.append(updated(beliefs[-1], table, choice))
    return Contraction(beliefs, world.gamma_range, world.lambda_range, world.preferences)


def plot_contraction(shown: Contraction, path: Path) -> None:
    figure, axes = plt.subplots(2, 5, figsize=(13, 5.6), sharex=True, sharey=True, layout="constrained")
    for number, axis in enumerate(axes.flat):
        axis.set_visible(number < len(shown.beliefs))
        if number >= len(shown.beliefs):
            continue
        belief = shown.beliefs[number]
        extent = (*shown.loss_aversion, *shown.gamma)
        axis.imshow(belief / belief.max(), origin="lower", aspect="auto", extent=extent, cmap="Purples", vmin=0, vmax=1)
        axis.plot(shown.truth.loss_aversion, shown.truth.gamma, "x", color="#d95f02", markersize=8, markeredgewidth=2)
        axis.set_title(f"{number} choices, {entropy_bits(belief):.1f} bits left", fontsize=9)
    figure.supxlabel("loss aversion lambda")
    figure.supylabel("utility curvature gamma")
    figure.suptitle("lottery-elicitation: belief over the hidden preferences (x marks the truth)")
    figure.savefig(path, dpi=110)
    plt.close(figure)


def show(console: Console, outputs: Path) -> dict[str, dict[str, dict[str, float]]]:
    """Print the ladder with its control; write the picture. Returns signal -> strategy -> figures."""
    rungs = ladder()
    console.print(ladder_table(rungs))
    console.print(
        "Asking well pays under `robust`; under `published` a blind guess at turn 1 earns two thirds of the optimum.\n"
    )
    plot_contraction(contraction(Settings(stage=3)), outputs / "posterior_contraction.png")
    results: dict[str, dict[str, dict[str, float]]] = {}
    for row in rungs:
        figures = {"reward": row.mean_reward, "skill": row.mean_skill, "turns": row.mean_turns, "n": NUM_EPISODES}
        results.setdefault(row.reward, {})[row.strategy] = figures
    return results

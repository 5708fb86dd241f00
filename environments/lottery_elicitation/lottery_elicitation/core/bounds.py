"""The rewards between which `skill` is measured: the best constant answer (0) and optimal adaptive play (1)."""

from dataclasses import replace

from .bounds_table import TABLE
from .generator import World
from .programme import Bounds, solve
from .settings import Settings
from .stopping import FAST, Game


def reward_bounds(settings: Settings, world: World | None = None) -> Bounds:
    """The bounds of the noiseless game with uniform priors: over the full ranges, or those of a world that randomises
    them.

    Usual games are looked up in a table, others solved once (a second); a randomised world is solved on a coarser grid
    (a twentieth of one, within 0.001).
    """
    game = game_of(settings)
    if world is not None and settings.randomise_ranges:
        return solve(world_game(settings, world), FAST).bounds
    return TABLE[game] if game in TABLE else solve(game).bounds


def world_game(settings: Settings, world: World) -> Game:
    """The game over the ranges of one world."""
    return replace(game_of(settings), gamma=world.gamma_range, loss_aversion=world.lambda_support)


def game_of(settings: Settings) -> Game:
    """The noiseless game with uniform priors over the settings' full ranges (over the band at stage 1)."""
    return Game(
        gamma=settings.gamma_range,
        loss_aversion=settings.stage1_lambda if settings.stage == 1 else settings.lambda_range,
        weights=settings.weights,
        scales=settings.scales,
        max_turns=settings.max_turns,
        min_turns=settings.min_turns,
    )

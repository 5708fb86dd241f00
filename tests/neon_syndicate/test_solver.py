"""The exact solver: its model against the simulator, its minima, and attempts to beat it."""

import time
from dataclasses import replace
from random import Random

import pytest

from neon_syndicate.core.actions import Action, DeployAsset, Noop, RunOperation, ScoutSector
from neon_syndicate.core.balance import Penalty
from neon_syndicate.core.generator import mission_of
from neon_syndicate.core.grader import grade
from neon_syndicate.core.mission import Mission, Packet
from neon_syndicate.core.missions import BUILTIN_MISSIONS
from neon_syndicate.core.simulator import step
from neon_syndicate.core.solver import best_play, solve, solve_from
from neon_syndicate.core.solver_bound import TurnsBound
from neon_syndicate.core.solver_moves import Moves
from neon_syndicate.core.solver_position import Clues, position_of
from neon_syndicate.core.state import State, initial_state

from .attack import best_return
from .conftest import played

GENERATED = [mission_of(f"eval/{level}/{index}") for level in range(1, 6) for index in range(4)]
MISSIONS = [*BUILTIN_MISSIONS, *GENERATED]
MINIMA = [8, 7, 10, 10, 11, 11]


def test_every_written_mission_is_won_in_the_minimum_the_readme_names() -> None:
    solutions = [solve(mission) for mission in BUILTIN_MISSIONS]
    assert [solution and solution.fewest_turns for solution in solutions] == MINIMA
    assert all(solution and solution.loss == 0 for solution in solutions)


@pytest.mark.parametrize("mission", MISSIONS, ids=lambda mission: mission.key)
def test_both_plays_win_in_the_real_simulator(mission: Mission) -> None:
    began = time.perf_counter()
    solution = solve(mission)
    assert time.perf_counter() - began < 1.0
    assert solution is not None
    best, fastest = played(mission, solution.best), played(mission, solution.fastest)
    assert best.is_success
    assert fastest.is_success
    assert fastest.ledger.turn == solution.fewest_turns <= len(solution.best) <= 12
    assert grade(best).shaped == solution.max_return
    assert best.ledger.penalty == 0
    assert grade(best).grader == 1.0


@pytest.mark.parametrize("mission", [*BUILTIN_MISSIONS[1::2], *GENERATED[::7]], ids=lambda mission: mission.key)
def test_a_beam_search_finds_no_return_above_the_optimum(mission: Mission) -> None:
    solution = solve(mission)
    assert solution is not None
    assert best_return(mission, width=30) <= solution.max_return + 1e-12


@pytest.mark.parametrize("seed", range(60))
def test_the_moves_of_the_model_are_those_of_the_simulator(seed: int) -> None:
    rng = Random(f"tests/neon/model/{seed}")
    mission = MISSIONS[seed % len(MISSIONS)]
    clues = Clues(mission, len(mission.keywords))
    moves = Moves(mission, clues, is_loss_counted=True)
    state = initial_state(mission)
    while not state.is_finished:
        options = list(moves.of(position_of(state, is_loss_counted=True)))
        for action, position, loss in options:
            after = step(state, action)
            assert position_of(after, is_loss_counted=True) == position
            assert after.ledger.penalty - state.ledger.penalty == pytest.approx(loss, abs=1e-12)
        state = step(state, rng.choice(options).action)


@pytest.mark.parametrize("mission", MISSIONS, ids=lambda mission: mission.key)
def test_the_bound_never_exceeds_the_turns_that_are_left_on_a_shortest_win(mission: Mission) -> None:
    solution = solve(mission)
    assert solution is not None
    num_known = len(solution.fastest[-1].message.split(","))  # type: ignore[union-attr]
    bound = TurnsBound(mission, Clues(mission, num_known))
    state = initial_state(mission)
    for turn, action in enumerate(solution.fastest):
        assert bound.turns(position_of(state, is_loss_counted=False)) <= solution.fewest_turns - turn
        state = step(state, action)


def exhaustive_minimum(mission: Mission, moves: list[Action]) -> int | None:
    """The fewest turns to a win by plain breadth-first search over the simulator."""
    from neon_syndicate.core.actions import SecureExtraction

    extraction = SecureExtraction(mission.sector, ", ".join(mission.keywords))
    layer: dict[object, State] = {None: initial_state(mission)}
    for turn in range(1, mission.budget + 1):
        reached: dict[object, State] = {}
        for state in layer.values():
            if step(state, extraction).is_success:
                return turn
            for action in moves:
                after = step(state, action)
                if after.world is not state.world and not after.is_finished:
                    reached[after.world.__hash__(), after.world.scouted] = after
        layer = reached
    return None


@pytest.mark.parametrize("key", ["train/1/0", "train/1/1", "train/1/2"])
def test_plain_search_over_the_simulator_agrees_on_easy_missions(key: str) -> None:
    from neon_syndicate.core.actions import NegotiatePact, TradeResources
    from neon_syndicate.core.solver_moves import _TRADES
    from neon_syndicate.core.vocabulary import HOME, SECTORS

    mission = mission_of(key)
    useful = {mission.sector, *(HOME[ally] for ally in mission.allies)}
    moves: list[Action] = [
        *(ScoutSector(sector) for sector in SECTORS if sector in useful),
        *(NegotiatePact(ally) for ally in mission.allies),
        DeployAsset(mission.sector),
        RunOperation(mission.code),
        *(TradeResources(trade.action.resource, trade.amount) for trade in _TRADES if trade.amount == 25),
    ]
    solution = solve(mission)
    assert solution is not None
    found = exhaustive_minimum(mission, moves)
    assert found is not None
    assert solution.fewest_turns <= found
    assert found == solution.fewest_turns


def test_a_mission_short_of_turns_is_won_at_the_least_loss() -> None:
    """With one turn less than a full play needs, leaving a word out may still win; the loss says what that costs."""
    scattered = Packet(keywords=(2,))
    mission = replace(
        BUILTIN_MISSIONS[2],
        packets={
            **BUILTIN_MISSIONS[2].packets,
            BUILTIN_MISSIONS[0].sector: Packet(keywords=(1,)),
            GENERATED[0].sector: scattered,
        },
    )
    for budget in range(8, 13):
        tight = replace(mission, budget=budget)
        solution = solve(tight)
        if solution is not None:
            assert solution.fewest_turns <= len(solution.best) <= budget
            assert grade(played(tight, solution.best)).shaped == solution.max_return
            assert best_return(tight, width=15) <= solution.max_return + 1e-12


@pytest.mark.parametrize("lanes", [(0, 0, 20, 40), (60, 20, 8, 14), (12, 40, 16, 40), (40, 30, 0, 30)])
def test_penalised_optima_are_not_beaten_either(lanes: tuple[int, int, int, int]) -> None:
    """Poor starts under a critical threat, where trades cost penalties and pauses may pay."""
    from neon_syndicate.core.vocabulary import Threat

    for mission in (BUILTIN_MISSIONS[0], GENERATED[0]):
        poor = replace(mission, start=lanes, threat=Threat.CRITICAL)
        solution = solve(poor)
        if solution is not None:
            assert best_return(poor, width=25) <= solution.max_return + 1e-12


def test_an_impossible_mission_has_no_solution() -> None:
    assert solve(replace(BUILTIN_MISSIONS[4], budget=10)) is None
    assert solve(replace(BUILTIN_MISSIONS[0], packets={})) is None
    assert solve_from(played(BUILTIN_MISSIONS[0], [Noop()] * 12)) is None


def test_the_rest_of_an_episode_can_be_solved_from_any_state() -> None:
    state = played(BUILTIN_MISSIONS[0], [Noop(), ScoutSector(BUILTIN_MISSIONS[0].sector)])
    solution = solve_from(state)
    assert solution is not None
    end = state
    for action in solution.best:
        end = step(end, action)
    assert grade(end).shaped == solution.max_return
    assert grade(end).penalties[Penalty.NOOP] == 0.06
    assert best_play(end) is None

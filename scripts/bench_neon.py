"""Bench of neon-syndicate: certification, ladders, exploits, attacks on the optimum, fuzzing, step speed.

`python scripts/bench_neon.py [certify ladder exploits attack hostile fuzz speed]`; all of them without names.
"""

import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random

from neon_syndicate.core.actions import Action, action_text, parse_action
from neon_syndicate.core.exploits import CHEATS, SCRIPTS
from neon_syndicate.core.generator import LEVELS, generate_mission, mission_of
from neon_syndicate.core.grader import grade, step_reward
from neon_syndicate.core.mission import Mission
from neon_syndicate.core.missions import BUILTIN_MISSIONS
from neon_syndicate.core.observation import observe
from neon_syndicate.core.prompts import turn_text
from neon_syndicate.core.simulator import replay, settle, step
from neon_syndicate.core.solver import solve
from neon_syndicate.core.state import State, initial_state
from neon_syndicate.core.strategies import heuristic, random_legal
from neon_syndicate.core.vocabulary import THREATS, lane_tuple
from neon_syndicate.policies import LADDER, PLAYERS, play
from neon_syndicate.showcase import policy_ladder

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from scripts.pydantic_neon import PydanticGame
from tests.neon_syndicate.attack import best_return
from tests.neon_syndicate.conftest import any_reply

NUM_PER_LEVEL = 50
NUM_SEEDS = 30
NUM_FUZZED = 100_000
BEAM_WIDTH = 300
HOSTILE_BEAM_WIDTH = 40
NUM_HOSTILE = 1_000
NUM_REPEATS = 7


def certify() -> None:
    """250 generated missions and the written six: minimal turns, and how long generating and solving takes."""
    print("| mission | n | fewest turns | median | no-penalty wins | slowest solve, s | mean generation, s |")
    print("|---|---|---|---|---|---|---|")
    for mission in BUILTIN_MISSIONS:
        _certify_row(mission.key, [mission], 0.0)
    for level in LEVELS:
        began = time.perf_counter()
        missions = [generate_mission("train", level, index) for index in range(NUM_PER_LEVEL)]
        _certify_row(f"level {level}", missions, (time.perf_counter() - began) / NUM_PER_LEVEL)


def _certify_row(name: str, missions: list[Mission], generation_s: float) -> None:
    turns, slowest_s, num_clean = [], 0.0, 0
    for mission in missions:
        began = time.perf_counter()
        solution = solve(mission)
        slowest_s = max(slowest_s, time.perf_counter() - began)
        if solution is None:
            raise SystemExit(f"{mission.key} has no solution")
        turns.append(solution.fewest_turns)
        num_clean += solution.loss == 0
    spread = ", ".join(f"{turn}: {number}" for turn, number in sorted(Counter(turns).items()))
    median = statistics.median(turns)
    print(f"| {name} | {len(missions)} | {spread} | {median:g} | {num_clean} | {slowest_s:.3f} | {generation_s:.3f} |")


def ladder() -> None:
    """Mean return with 95 % intervals: 30 seeds of each written mission, 30 missions of each level."""
    policies = (*LADDER, "hybrid_random", "hybrid_curriculum", "hybrid_noisy")
    groups = {mission.key: ([mission], NUM_SEEDS) for mission in BUILTIN_MISSIONS}
    groups["all six"] = (list(BUILTIN_MISSIONS), NUM_SEEDS)
    for level in LEVELS:
        groups[f"level {level}"] = ([generate_mission("eval", level, index) for index in range(NUM_SEEDS)], 1)
    groups["all levels"] = ([mission for level in LEVELS for mission in groups[f"level {level}"][0]], 1)
    print("| missions | n | " + " | ".join(policies) + " |")
    print("|---|---|" + "---|" * len(policies))
    for name, (missions, num_seeds) in groups.items():
        rungs = policy_ladder(missions, num_seeds, policies)
        cells = [f"{rung.mean_return:+.3f} ± {rung.half_width:.3f}, wins {rung.win_fraction:.0%}" for rung in rungs]
        print(f"| {name} | {rungs[0].num_episodes} | " + " | ".join(cells) + " |", flush=True)


def exploits() -> None:
    """The catalogue on the written missions and six generated ones: how far below the optimum each stays."""
    missions = [*BUILTIN_MISSIONS, *(mission_of(f"eval/{level}/{n}") for level in (1, 3, 5) for n in range(2))]
    optimum = {mission.key: solve(mission) for mission in missions}
    print("| exploit | n | least distance to the optimum | wins | highest grade of a loss |")
    print("|---|---|---|---|---|")
    for name in (*SCRIPTS, *CHEATS):
        grades = [grade(play(mission, PLAYERS[f"exploit_{name}"], 0)) for mission in missions]
        best = [solution.max_return for mission in missions if (solution := optimum[mission.key])]
        distance = min(high - graded.shaped for high, graded in zip(best, grades, strict=True))
        highest = max((graded.grader for graded in grades if not graded.success), default=0.0)
        wins = sum(graded.success for graded in grades)
        print(f"| `{name}` | {len(grades)} | {distance:.3f} | {wins:g} | {highest:.3f} |", flush=True)


def attack() -> None:
    """Beam search over actions for a return above the optimum."""
    missions = [*BUILTIN_MISSIONS, *(mission_of(f"eval/{level}/{n}") for level in LEVELS for n in range(3))]
    above, reached = 0, 0
    for mission in missions:
        solution = solve(mission)
        found = best_return(mission, BEAM_WIDTH)
        above += solution is None or found > solution.max_return + 1e-12
        reached += solution is not None and abs(found - solution.max_return) < 1e-9
    print(
        f"beam width {BEAM_WIDTH}: {len(missions)} missions, {above} returns above the optimum, {reached} equal to it"
    )


def hostile() -> None:
    """Missions made poor, hot and short of turns, where the optimum may carry penalties: the same attack on those."""
    rng, tally, slowest_s = Random("bench/neon/hostile"), Counter[str](), 0.0
    above = 0
    for _ in range(NUM_HOSTILE):
        mission = rng.choice([*BUILTIN_MISSIONS, generate_mission("train", rng.randint(1, 5), rng.randrange(5))])
        mission = replace(
            mission,
            start=lane_tuple(max(0, units - rng.randint(0, 25)) for units in mission.start),
            threat=rng.choice(THREATS),
            budget=rng.randint(9, 12),
        )
        began = time.process_time()
        solution = solve(mission)
        slowest_s = max(slowest_s, time.process_time() - began)
        kind = "impossible" if solution is None else "penalised" if solution.loss > 0 else "clean"
        tally[kind] += 1
        if solution is not None and (solution.loss > 0 or rng.random() < 0.1):
            tally["attacked"] += 1
            above += best_return(mission, HOSTILE_BEAM_WIDTH) > solution.max_return + 1e-12
    print(", ".join(f"{kind}: {number}" for kind, number in sorted(tally.items())))
    print(f"returns above the optimum: {above}; slowest solve {slowest_s:.2f} s")


def fuzz() -> None:
    """Random episodes: nothing raises, no return is above the optimum, every reward is finite."""
    missions = [*BUILTIN_MISSIONS, *(mission_of(f"train/{level}/0") for level in LEVELS)]
    optimum = [solution.max_return for mission in missions if (solution := solve(mission))]
    rng, num_replies, best_gap = Random("bench/neon/fuzz"), 0, float("inf")
    while num_replies < NUM_FUZZED:
        which = rng.randrange(len(missions))
        replies = [_mangled(rng, any_reply(rng, missions[which])) for _ in range(rng.randint(1, 14))]
        num_replies += len(replies)
        best_gap = min(best_gap, optimum[which] - grade(settle(replay(missions[which], replies))).shaped)
    print(f"{num_replies} fuzzed replies: none raised; the best return stayed {best_gap:.3f} below the optimum")


_ODD = ("\u200b", "\u0430", '"', "{", "}", "\\", "\ud800", "9")


def _mangled(rng: Random, reply: str) -> str:
    """The reply, sometimes with characters dropped, doubled or swapped for odd ones."""
    if rng.random() < 0.5:
        return reply
    characters = list(reply)
    for _ in range(rng.randint(1, 4)):
        place = rng.randrange(len(characters))
        characters[place] = rng.choice(("", characters[place] * 2, *_ODD))
    return "".join(characters)


def speed() -> None:
    """Turns a second: typed turn against the same turn in a loop of pydantic models; then with text and parsing."""
    episodes = [_episode(mission, seed) for seed in range(40) for mission in BUILTIN_MISSIONS]
    num_turns = sum(len(actions) for _, actions in episodes)
    _hold_to_same_rewards(episodes)
    step_only = _seconds_per_turn(_play_steps, episodes, num_turns)
    ours = _seconds_per_turn(_play_typed, episodes, num_turns)
    theirs = _seconds_per_turn(_play_pydantic, episodes, num_turns)
    text = _seconds_per_turn(_play_text, episodes, num_turns)
    print(f"{num_turns} turns, CPU time, best of {NUM_REPEATS}")
    print("| turn | us | times faster than pydantic models |")
    print("|---|---|---|")
    for name, seconds in (
        ("step alone", step_only),
        ("step, reward, observation", ours),
        ("parsing, step, reward, observation, text", text),
        ("pydantic models: step, reward, observation", theirs),
    ):
        print(f"| {name} | {seconds * 1e6:.1f} | {theirs / seconds:.1f} |")


Episode = tuple[Mission, list[Action]]


def _episode(mission: Mission, seed: int) -> Episode:
    """Half heuristic, half random play."""
    rng, state, actions = Random(f"bench/neon/speed/{mission.key}/{seed}"), initial_state(mission), list[Action]()
    while not state.is_finished:
        actions.append((heuristic if seed % 2 else random_legal)(observe(state), rng))
        state = step(state, actions[-1])
    return mission, actions


def _hold_to_same_rewards(episodes: list[Episode]) -> None:
    """Raises ValueError where the game of pydantic models pays another reward than the real one."""
    for mission, actions in episodes:
        state, game = initial_state(mission), PydanticGame(mission)
        for action in actions:
            before, state = state, step(state, action)
            paid, expected = game.step(action)["reward"], step_reward(before, state)
            if abs(paid - expected) > 1e-9:
                raise ValueError(f"{mission.key}, {action}: the pydantic game pays {paid}, the real one {expected}")


def _seconds_per_turn(run: Callable[[list[Episode]], None], episodes: list[Episode], num_turns: int) -> float:
    seconds = []
    for _ in range(NUM_REPEATS):
        began = time.process_time()
        run(episodes)
        seconds.append(time.process_time() - began)
    return min(seconds) / num_turns


def _play_steps(episodes: list[Episode]) -> None:
    for mission, actions in episodes:
        state = initial_state(mission)
        for action in actions:
            state = step(state, action)


def _play_typed(episodes: list[Episode]) -> None:
    for mission, actions in episodes:
        state = initial_state(mission)
        for action in actions:
            before, state = state, step(state, action)
            step_reward(before, state)
            observe(state, before)


def _play_text(episodes: list[Episode]) -> None:
    for mission, actions in episodes:
        state: State = initial_state(mission)
        for action in actions:
            before, state = state, step(state, parse_action(action_text(action)))
            step_reward(before, state)
            turn_text(observe(state, before))


def _play_pydantic(episodes: list[Episode]) -> None:
    for mission, actions in episodes:
        game = PydanticGame(mission)
        for action in actions:
            game.step(action)


PARTS = {part.__name__: part for part in (certify, ladder, exploits, attack, hostile, fuzz, speed)}


def main() -> None:
    names = sys.argv[1:] or list(PARTS)
    unknown = [name for name in names if name not in PARTS]
    if unknown:
        raise SystemExit(f"got {', '.join(unknown)}, allowed: {', '.join(PARTS)}")
    for name in names:
        print(f"\n## {name}\n{PARTS[name].__doc__}\n", flush=True)
        PARTS[name]()


if __name__ == "__main__":
    main()

"""What several tests here need."""

from collections.abc import Sequence
from random import Random

from neon_syndicate.core.actions import (
    Action,
    DeployAsset,
    Malformed,
    NegotiatePact,
    Noop,
    RunOperation,
    ScoutSector,
    SecureExtraction,
    TradeResources,
    action_text,
)
from neon_syndicate.core.mission import Mission
from neon_syndicate.core.simulator import step
from neon_syndicate.core.state import State, initial_state
from neon_syndicate.core.vocabulary import FACTIONS, RESOURCES, SECTORS


def played(mission: Mission, actions: Sequence[Action | Malformed]) -> State:
    """The state after some actions."""
    state = initial_state(mission)
    for action in actions:
        state = step(state, action)
    return state


def any_action(rng: Random, mission: Mission) -> Action | Malformed:
    """Something a model may do: right and wrong, legal and not."""
    sector = rng.choice((*SECTORS, mission.sector))
    match rng.randrange(8):
        case 0 | 1:
            return ScoutSector(sector)
        case 2:
            return NegotiatePact(rng.choice((*FACTIONS, *mission.allies)))
        case 3:
            return TradeResources(rng.choice(RESOURCES), rng.randint(-1, 27))
        case 4:
            return DeployAsset(sector)
        case 5:
            return RunOperation(rng.choice((mission.code, mission.code, "OP-X")))
        case 6:
            return SecureExtraction(sector, rng.choice((", ".join(mission.keywords), mission.keywords[0], "neon")))
        case _:
            return rng.choice((Noop(), Malformed("no valid action")))


def any_reply(rng: Random, mission: Mission) -> str:
    """The same as a reply, or chatter."""
    action = any_action(rng, mission)
    return "I would rather talk about it." if isinstance(action, Malformed) else action_text(action)

"""The payloads of the OpenEnv server."""

from typing import Any, Self

from openenv.core.env_server.types import Action, Observation, State
from pydantic import ConfigDict

from .core.actions import Malformed
from .core.observation import Observation as Seen
from .core.prompts import turn_text
from .core.vocabulary import FACTIONS, RESOURCES


class NeonAction(Action):
    """Any JSON object: what holds no legal action is penalised by the rules, not refused by the transport."""

    # Published as required, never enforced: verifiers' openenv taskset sends a reply that is no JSON object as the one
    # required field, so it costs a turn, and fails the episode where no such field is named.
    model_config = ConfigDict(extra="allow", json_schema_extra={"required": ["action_type"]})

    metadata: Any = None
    action_type: Any = None


class NeonObservation(Observation):
    """What `turn_text` says, and the same as data. `rules` is filled on reset."""

    text: str
    rules: str = ""
    task: str
    turn: int
    budget: int
    resources: dict[str, int]
    needs: dict[str, int]
    reputation: dict[str, int]
    allies: list[str]
    num_allies_needed: int
    num_keywords_needed: int
    threat: str
    scouted: list[str]
    deployed: str | None
    is_operation_done: bool
    known_code: str | None
    known_sector: str | None
    known_keywords: list[str]
    known_allies: list[str]
    leads: list[list[str]]
    penalties: list[str]
    fault: str | None
    is_success: bool

    @classmethod
    def of(cls, seen: Seen, reward: float | None, rules: str) -> Self:
        """The payload of a view: nothing is added to what the agent may see."""
        return cls(
            done=seen.is_finished,
            reward=reward,
            text=turn_text(seen),
            rules=rules,
            task=seen.briefing.task,
            turn=seen.turn,
            budget=seen.briefing.budget,
            resources=dict(zip(RESOURCES, seen.world.lanes, strict=True)),
            needs=dict(zip(RESOURCES, seen.briefing.need, strict=True)),
            reputation=dict(zip(FACTIONS, seen.world.reputation, strict=True)),
            allies=list(seen.world.allies),
            num_allies_needed=seen.briefing.num_allies_needed,
            num_keywords_needed=seen.briefing.num_keywords_needed,
            threat=seen.world.threat.label,
            scouted=list(seen.world.scouted),
            deployed=seen.world.deployed,
            is_operation_done=seen.world.is_operation_done,
            known_code=seen.world.known.code,
            known_sector=seen.world.known.sector,
            known_keywords=list(seen.world.known.keywords),
            known_allies=list(seen.world.known.allies),
            leads=[list(lead) for lead in seen.world.known.leads],
            penalties=list(seen.last_penalties),
            fault=seen.last_action.reason if isinstance(seen.last_action, Malformed) else None,
            is_success=seen.is_success,
        )


class NeonState(State):
    """Where the episode stands."""

    task: str

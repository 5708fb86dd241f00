"""The same turn in the common style of environment servers, to compare speed with: models validated at each seam.

Per turn: the action is validated from a mapping, the state is copied deeply and changed through validated fields, and
an observation model is built and dumped with the reward. Only what the bench's episodes need is here; lanes, reward
potential and penalties are kept as the real rules keep them.
"""

from dataclasses import asdict
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from neon_syndicate.core import balance
from neon_syndicate.core.actions import Action
from neon_syndicate.core.mission import Mission
from neon_syndicate.core.vocabulary import FACTIONS, HOME, RESOURCES


class ActionModel(BaseModel):
    action_type: Literal[
        "scout_sector",
        "negotiate_pact",
        "trade_resources",
        "deploy_asset",
        "run_operation",
        "secure_extraction",
        "noop",
    ]
    sector: str | None = None
    faction: str | None = None
    resource: str | None = None
    amount: int | None = None
    operation_code: str | None = None
    message: str | None = None


class IntelModel(BaseModel):
    code: str | None = None
    sector: str | None = None
    keywords: list[str] = []
    allies: list[str] = []
    leads: list[list[str]] = []


class StateModel(BaseModel):
    model_config = ConfigDict(validate_assignment=True)

    turn: int = 0
    resources: dict[str, int]
    reputation: dict[str, int]
    alliances: list[str] = []
    scouted: list[str] = []
    deployed: str | None = None
    is_operation_done: bool = False
    threat: int
    intel: IntelModel
    last_action: ActionModel | None = None
    penalty: float = 0.0
    done: bool = False


class ObservationModel(BaseModel):
    task: str
    title: str
    stakes: str
    rumour: str
    turn: int
    budget: int
    resources: dict[str, int]
    needs: dict[str, int]
    reputation: dict[str, int]
    alliances: list[str]
    scouted: list[str]
    deployed: str | None
    is_operation_done: bool
    threat: int
    intel: IntelModel
    components: dict[str, float]
    reward: float
    done: bool


class PydanticGame:
    """One episode; `step` returns the dumped observation."""

    def __init__(self, mission: Mission) -> None:
        self.mission = mission
        self.needs = dict(zip(map(str, RESOURCES), mission.need, strict=True))
        self.state = StateModel(
            resources=dict(zip(map(str, RESOURCES), mission.start, strict=True)),
            reputation=dict.fromkeys(map(str, FACTIONS), 0),
            threat=int(mission.threat),
            intel=IntelModel(allies=list(mission.public.allies), leads=[list(mission.public.leads)]),
        )

    def step(self, action: Action) -> dict[str, Any]:
        model = ActionModel.model_validate({"action_type": str(action.verb), **asdict(action)})
        before = self.state
        after = before.model_copy(deep=True)
        self._apply(after, model)
        after.turn += 1
        after.last_action = model
        after.done = after.done or after.turn >= self.mission.budget
        components = self._components(after)
        reward = sum(components.values()) - sum(self._components(before).values()) - (after.penalty - before.penalty)
        self.state = after
        return self._observation(components, reward).model_dump()

    def _apply(self, state: StateModel, action: ActionModel) -> None:
        if action == state.last_action:
            state.penalty += 0.08
        match action.action_type:
            case "scout_sector":
                self._scout(state, action.sector or "")
            case "negotiate_pact":
                self._negotiate(state, action.faction or "")
            case "trade_resources":
                self._trade(state, action.resource or "", action.amount or 0)
            case "deploy_asset":
                state.resources = {**state.resources, "energy": state.resources["energy"] - balance.DEPLOY_ENERGY}
                state.deployed = action.sector
            case "run_operation":
                is_right = action.operation_code == state.intel.code and state.deployed == self.mission.sector
                state.is_operation_done = state.is_operation_done or is_right
            case "secure_extraction":
                state.done = state.is_operation_done
            case _:
                state.penalty += 0.06
                state.threat = min(3, state.threat + 1)

    def _scout(self, state: StateModel, sector: str) -> None:
        gain = balance.SCOUT_INTEL_AGAIN if sector in state.scouted else balance.SCOUT_INTEL_FIRST
        held = state.resources
        state.resources = {**held, "energy": held["energy"] - 2, "intel": min(balance.LANE_CAP, held["intel"] + gain)}
        if sector not in state.scouted:
            state.scouted = [*state.scouted, sector]
            for place, packet in self.mission.packets.items():
                if place == sector:
                    words = [self.mission.keywords[word] for word in packet.keywords]
                    state.intel = IntelModel(
                        code=self.mission.code if packet.has_code else state.intel.code,
                        sector=str(self.mission.sector) if packet.has_sector else state.intel.sector,
                        keywords=[*state.intel.keywords, *words],
                        allies=[*state.intel.allies, *map(str, packet.allies)],
                        leads=[*state.intel.leads, list(map(str, packet.leads))],
                    )

    def _negotiate(self, state: StateModel, faction: str) -> None:
        home = next((str(HOME[other]) for other in FACTIONS if other == faction), "")
        gain = 36 if home in state.scouted else 18
        state.resources = {**state.resources, "influence": state.resources["influence"] - 8}
        state.reputation = {**state.reputation, faction: state.reputation[faction] + gain}
        state.alliances = [name for name, value in state.reputation.items() if value >= balance.REPUTATION_TO_ALLY]

    def _trade(self, state: StateModel, resource: str, amount: int) -> None:
        lane = next(name for name in RESOURCES if name == resource)
        paid, held = str(balance.TRADE_PRICE[lane].resource), state.resources
        changed = {**held, paid: held[paid] - balance.trade_cost(lane, amount)}
        state.resources = {**changed, resource: min(balance.LANE_CAP, changed[resource] + amount)}

    def _components(self, state: StateModel) -> dict[str, float]:
        ratios = [min(1.0, state.resources[name] / need) for name, need in self.needs.items()]
        allied = sum(str(ally) in state.alliances for ally in self.mission.allies) / len(self.mission.allies)
        return {
            "alliance": 0.30 * allied,
            "resources": 0.25 * sum(ratios) / len(ratios),
            "operation": 0.20 * (1.0 if state.is_operation_done else 0.5 if state.deployed else 0.0),
            "extraction": 0.10 * (0.5 if state.is_operation_done else 0.0),
        }

    def _observation(self, components: dict[str, float], reward: float) -> ObservationModel:
        state, mission = self.state, self.mission
        return ObservationModel(
            task=mission.key,
            title=mission.title,
            stakes=mission.stakes,
            rumour=mission.rumour,
            turn=state.turn,
            budget=mission.budget,
            resources=state.resources,
            needs=self.needs,
            reputation=state.reputation,
            alliances=state.alliances,
            scouted=state.scouted,
            deployed=state.deployed,
            is_operation_done=state.is_operation_done,
            threat=state.threat,
            intel=state.intel,
            components=components,
            reward=reward,
            done=state.done,
        )

"""The same game in the common style of environment servers, to compare speed with: models validated at each seam.

Per turn: the action is validated from a mapping, the state is copied deeply and changed through validated fields, and
an observation model is built and dumped with the reward. It plays by the same rules: `scripts/bench_neon.py speed`
stops if any reward differs from the real step's.
"""

from dataclasses import asdict
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from neon_syndicate.core import balance
from neon_syndicate.core.actions import Action
from neon_syndicate.core.codewords import canonical, message_score, passes_gate
from neon_syndicate.core.mission import Mission, Packet
from neon_syndicate.core.vocabulary import FACTIONS, HOME, RESOURCES, Resource

CRITICAL = 3
PENALTY: dict[str, float] = {str(kind): value for kind, value in balance.PENALTY.items()}
HOMES = {str(faction): str(home) for faction, home in HOME.items()}


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
    sector: Literal["docklands", "data_spire", "undergrid", "citadel_gate"] | None = None
    faction: Literal["ghostwire", "iron_vultures", "civic_shield", "black_orchid"] | None = None
    resource: Literal["credits", "intel", "influence", "energy"] | None = None
    amount: int | None = None
    operation_code: str | None = None
    message: str | None = None

    def signature(self) -> list[str]:
        code = canonical(self.operation_code) if self.operation_code else None
        return [self.action_type, *(part for part in (self.sector, self.faction, self.resource, code) if part)]


class KnownModel(BaseModel):
    code: str | None = None
    sector: str | None = None
    keywords: list[str] = []
    allies: list[str] = []
    leads: list[list[str]] = []

    def add(self, mission: Mission, packet: Packet) -> None:
        self.code = mission.code if packet.has_code else self.code
        self.sector = str(mission.sector) if packet.has_sector else self.sector
        self.keywords += [mission.keywords[word] for word in packet.keywords]
        self.allies += [str(ally) for ally in packet.allies if ally not in self.allies]
        self.leads += [[str(sector) for sector in packet.leads]] if packet.leads else []


class StateModel(BaseModel):
    model_config = ConfigDict(validate_assignment=True)

    turn: int = 0
    resources: dict[str, int]
    reputation: dict[str, int]
    threat: int
    known: KnownModel
    scouted: list[str] = []
    deployed: str | None = None
    is_operation_done: bool = False
    message_score: float | None = None
    is_success: bool = False
    last_action: ActionModel | None = None
    last_penalties: list[str] = []
    repeat_signature: list[str] = []
    penalties: dict[str, float] = {}
    num_illegal: int = 0
    num_productive: int = 0

    def allies(self) -> list[str]:
        return [name for name, value in self.reputation.items() if value >= balance.REPUTATION_TO_ALLY]


class ObservationModel(BaseModel):
    task: str
    difficulty: str
    title: str
    stakes: str
    rumour: str
    turn: int
    budget: int
    resources: dict[str, int]
    needs: dict[str, int]
    reputation: dict[str, int]
    allies: list[str]
    leverage: list[str]
    num_allies_needed: int
    num_keywords_needed: int
    threat: int
    scouted: list[str]
    deployed: str | None
    is_operation_done: bool
    known: KnownModel
    last_action: ActionModel | None
    last_penalties: list[str]
    report: str
    reward: float
    done: bool
    is_success: bool


class PydanticGame:
    """One episode; `step` returns the dumped observation."""

    def __init__(self, mission: Mission) -> None:
        self.mission = mission
        self.packets = {str(sector): packet for sector, packet in mission.packets.items()}
        self.needs = dict(zip(map(str, RESOURCES), mission.need, strict=True))
        known = KnownModel()
        known.add(mission, mission.public)
        self.state = StateModel.model_validate(
            {
                "resources": dict(zip(map(str, RESOURCES), mission.start, strict=True)),
                "reputation": dict.fromkeys(map(str, FACTIONS), 0),
                "threat": int(mission.threat),
                "known": known,
            }
        )

    def step(self, action: Action) -> dict[str, Any]:
        model = ActionModel.model_validate({"action_type": str(action.verb), **asdict(action)})
        before, after = self.state, self.state.model_copy(deep=True)
        earned = [kind for kind in [getattr(self, f"_{model.action_type}")(after, model)] if kind]
        after.num_illegal += bool(earned) and model.action_type != "noop"
        if model.signature() == before.repeat_signature:
            earned.append("repeat")
        if before.threat == CRITICAL and model.action_type in ("noop", "trade_resources"):
            earned.append("passive_while_critical")
        after.turn += 1
        after.last_action, after.last_penalties, after.repeat_signature = model, earned, model.signature()
        for kind in earned:
            after.penalties = {**after.penalties, kind: after.penalties.get(kind, 0.0) + PENALTY[kind]}
        after.num_productive += self._progress(after) > self._progress(before)
        reward = self._potential(after) - self._potential(before) - sum(PENALTY[kind] for kind in earned)
        reward += balance.WIN_BONUS if after.is_success else 0.0
        self.state = after
        return self._observation(before, reward).model_dump()

    def _scout_sector(self, state: StateModel, action: ActionModel) -> str | None:
        if state.resources["energy"] < balance.SCOUT_ENERGY:
            return "no_energy"
        is_first = action.sector not in state.scouted
        self._add(state, "energy", -balance.SCOUT_ENERGY)
        self._add(state, "intel", balance.SCOUT_INTEL_FIRST if is_first else balance.SCOUT_INTEL_AGAIN)
        if is_first:
            state.scouted = [*state.scouted, action.sector or ""]
            state.known.add(self.mission, self.packets.get(action.sector or "", Packet()))
            if action.sector == self.mission.sector:
                state.known.sector = action.sector
                state.threat = max(0, state.threat - 1)
        return None

    def _negotiate_pact(self, state: StateModel, action: ActionModel) -> str | None:
        faction = action.faction or "ghostwire"
        if faction in state.allies():
            return "redundant"
        if state.resources["influence"] < balance.NEGOTIATION_INFLUENCE:
            return "no_influence"
        has_leverage = HOMES[faction] in state.scouted
        gain = balance.REPUTATION_GAIN_WITH_LEVERAGE if has_leverage else balance.REPUTATION_GAIN
        self._add(state, "influence", -balance.NEGOTIATION_INFLUENCE)
        state.reputation = {**state.reputation, faction: state.reputation[faction] + gain}
        return None

    def _trade_resources(self, state: StateModel, action: ActionModel) -> str | None:
        resource, amount = Resource(action.resource or "credits"), action.amount or 0
        if not 1 <= amount <= balance.TRADE_MAX:
            return "invalid_argument"
        paid, cost = str(balance.TRADE_PRICE[resource].resource), balance.trade_cost(resource, amount)
        if state.resources[paid] < cost:
            return "unaffordable_trade"
        self._add(state, paid, -cost)
        self._add(state, str(resource), amount)
        return None

    def _deploy_asset(self, state: StateModel, action: ActionModel) -> str | None:
        if action.sector == state.deployed:
            return "redundant"
        if state.resources["energy"] < balance.DEPLOY_ENERGY:
            return "no_energy"
        self._add(state, "energy", -balance.DEPLOY_ENERGY)
        state.deployed = action.sector
        return None

    def _run_operation(self, state: StateModel, action: ActionModel) -> str | None:
        if state.is_operation_done:
            return "redundant"
        if state.deployed is None:
            return "operation_before_deploy"
        if not state.allies():
            return "operation_without_ally"
        code = canonical(action.operation_code or "")
        if state.known.code is None or code != canonical(state.known.code) or state.deployed != self.mission.sector:
            state.threat = min(CRITICAL, state.threat + 1)
            return "wrong_code"
        self._add(state, "intel", balance.OPERATION_INTEL)
        self._add(state, "credits", balance.OPERATION_CREDITS)
        state.threat = max(0, state.threat - 1)
        state.known.sector = state.deployed
        state.is_operation_done = True
        return None

    def _secure_extraction(self, state: StateModel, action: ActionModel) -> str | None:
        message = action.message or ""
        if len(message) > balance.MESSAGE_MAX_CHARS:
            return "incomplete_extraction"
        if not state.is_operation_done:
            return "premature_extraction"
        is_target, keywords = action.sector == self.mission.sector, self.mission.keywords
        score = message_score(message, keywords, state.known.keywords) if is_target else 0.0
        is_stocked = all(state.resources[lane] >= need for lane, need in self.needs.items())
        is_allied = all(ally in state.allies() for ally in self.mission.allies)
        state.message_score = score
        state.is_success = is_target and passes_gate(score, len(keywords)) and is_stocked and is_allied
        return None

    def _noop(self, state: StateModel, action: ActionModel) -> str | None:
        state.threat = min(CRITICAL, state.threat + 1)
        return "noop"

    def _add(self, state: StateModel, lane: str, amount: int) -> None:
        state.resources = {**state.resources, lane: min(balance.LANE_CAP, state.resources[lane] + amount)}

    def _is_done(self, state: StateModel) -> bool:
        return state.message_score is not None or state.turn >= self.mission.budget

    def _progress(self, state: StateModel) -> tuple[float, ...]:
        """Grows when a turn moved a gate forward; close enough to the real rule, and it costs the same."""
        lanes = [min(need, state.resources[lane]) for lane, need in self.needs.items()]
        allied = sum(ally in state.allies() for ally in self.mission.allies)
        return (sum(lanes) + allied + state.is_operation_done + len(state.known.keywords) + state.is_success,)

    def _potential(self, state: StateModel) -> float:
        ratios = [min(1.0, state.resources[lane] / need) for lane, need in self.needs.items()]
        allied = sum(ally in state.allies() for ally in self.mission.allies) / len(self.mission.allies)
        is_done = self._is_done(state)
        resources = min(ratios) if is_done else sum(ratios) / len(ratios)
        half = 0.0 if is_done else balance.HALF_CREDIT
        operation = 1.0 if state.is_operation_done else half if state.deployed else 0.0
        extraction = float(state.is_success) if is_done else half * state.is_operation_done
        return (
            balance.WEIGHT_ALLIANCE * allied
            + balance.WEIGHT_RESOURCES * resources
            + balance.WEIGHT_OPERATION * operation
            + balance.WEIGHT_MESSAGE * (state.message_score or 0.0)
            + balance.WEIGHT_EXTRACTION * extraction
        )

    def _observation(self, before: StateModel, reward: float) -> ObservationModel:
        state, mission = self.state, self.mission
        is_new = len(state.scouted) > len(before.scouted)
        return ObservationModel(
            task=mission.key,
            difficulty=mission.difficulty,
            title=mission.title,
            stakes=mission.stakes,
            rumour=mission.rumour,
            turn=state.turn,
            budget=mission.budget,
            resources=state.resources,
            needs=self.needs,
            reputation=state.reputation,
            allies=state.allies(),
            leverage=[faction for faction, home in HOMES.items() if home in state.scouted],
            num_allies_needed=len(mission.allies),
            num_keywords_needed=len(mission.keywords),
            threat=state.threat,
            scouted=state.scouted,
            deployed=state.deployed,
            is_operation_done=state.is_operation_done,
            known=state.known,
            last_action=state.last_action,
            last_penalties=state.last_penalties,
            report=self.packets.get(state.scouted[-1], Packet()).report if is_new else "",
            reward=reward,
            done=self._is_done(state),
            is_success=state.is_success,
        )

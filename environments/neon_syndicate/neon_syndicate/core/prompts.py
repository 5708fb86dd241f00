"""The texts the agent reads: the rules as a system prompt, a full first turn, compact turns after it."""

from typing import Final

from .actions import Action, DeployAsset, Malformed, NegotiatePact, ScoutSector, TradeResources
from .balance import PENALTY, REPUTATION_TO_ALLY, Penalty
from .mission import Briefing
from .observation import Observation
from .vocabulary import FACTIONS, RESOURCES

SYSTEM_PROMPT: Final = """\
You run a crew in a neon city. Finish the mission within 12 turns.
To win: make every required faction an ally, run the operation in the target sector, reach every resource need, then
extract from the target sector with the code words.

Each turn, reply with one JSON object:
{"action_type": "scout_sector", "sector": S}: costs 2 energy; +12 intel on the first visit, +6 after. The first visit
  shows what the sector hides and gives leverage on the faction based there.
{"action_type": "negotiate_pact", "faction": F}: costs 8 influence; +18 reputation, +36 with leverage. Ally at 35.
{"action_type": "trade_resources", "resource": R, "amount": 1 to 25}: 25 credits cost 4 energy; 25 intel cost 5
  credits; 25 influence cost 6 credits; 25 energy cost 4 credits; less costs less.
{"action_type": "deploy_asset", "sector": S}: costs 10 energy.
{"action_type": "run_operation", "operation_code": C}: needs an ally, a deployment in the target sector and the code
  found by scouting. Pays 15 intel and 10 credits, once.
{"action_type": "secure_extraction", "sector": S, "message": "word one, word two"}: ends the mission; only after the
  operation. The message lists the code words found, separated by commas, and nothing else.
{"action_type": "noop"}: waits; the threat grows.

Sectors: docklands (home of iron_vultures), data_spire (civic_shield), undergrid (ghostwire), citadel_gate
(black_orchid). Resources: credits, intel, influence, energy.
Codes, code words, some allies and sometimes the target sector are hidden until scouted. A lead names where to look
next; with two candidates only one is right. Penalised: the same action twice running, whatever cannot be paid or is
not allowed yet, wrong codes, waiting, trading while the threat is critical, replies without a valid action.
"""

_TOLD: Final[dict[Penalty, str]] = {
    Penalty.REPEAT: "the same action twice running",
    Penalty.MALFORMED: "no valid action",
    Penalty.INVALID_ARGUMENT: "an argument is missing or not allowed",
    Penalty.SILENCE: "no reply",
    Penalty.REDUNDANT: "already done, nothing changed",
    Penalty.NO_INFLUENCE: "not enough influence, nothing changed",
    Penalty.UNAFFORDABLE_TRADE: "cannot pay for that trade, nothing changed",
    Penalty.NO_ENERGY: "not enough energy, nothing changed",
    Penalty.OPERATION_BEFORE_DEPLOY: "deploy before the operation",
    Penalty.OPERATION_WITHOUT_ALLY: "the operation needs an ally",
    Penalty.WRONG_CODE: "the operation failed: code or sector not right, or not found out yet",
    Penalty.INCOMPLETE_EXTRACTION: "extraction needs a sector and a message of 1 to 160 characters",
    Penalty.PREMATURE_EXTRACTION: "extraction is refused before the operation is done",
    Penalty.NOOP: "waited, the threat grows",
    Penalty.PASSIVE_WHILE_CRITICAL: "passive while the threat is critical",
}


def turn_text(seen: Observation) -> str:
    """The text of one turn: the briefing on the first, then what just happened and where things stand."""
    if seen.is_finished:
        return "Mission won." if seen.is_success else "Mission lost."
    opening = _briefing(seen.briefing) if seen.turn == 0 else _happened(seen)
    return "\n".join((*opening, *_standing(seen)))


def _briefing(told: Briefing) -> tuple[str, ...]:
    return (
        f"Task {told.task}",
        f"{told.title} ({told.difficulty})",
        told.stakes,
        f"Rumour: {told.rumour}",
        f"Required: allies {told.num_allies_needed}, code words {told.num_keywords_needed}. Turns: {told.budget}.",
    )


def _happened(seen: Observation) -> tuple[str, ...]:
    action = seen.last_action
    told = "; ".join(f"{_TOLD[kind]} (-{PENALTY[kind]:.2f})" for kind in seen.last_penalties)
    if isinstance(action, Malformed):
        return (f"Turn {seen.turn}/{seen.briefing.budget} used. {told}: {action.reason}",)
    line = f"Turn {seen.turn}/{seen.briefing.budget} used. {_named(action)}: {told or 'done'}."
    return (line, f'Report: "{seen.report}"') if seen.report else (line,)


def _named(action: Action | None) -> str:
    match action:
        case ScoutSector(name) | NegotiatePact(name) | DeployAsset(name) | TradeResources(name, _):
            return f"{action.verb} {name}"
        case None:
            return "nothing"
        case _:
            return str(action.verb)


def _standing(seen: Observation) -> tuple[str, ...]:
    lanes = ", ".join(
        f"{name} {has}/{need}" for name, has, need in zip(RESOURCES, seen.world.lanes, seen.briefing.need, strict=True)
    )
    reputation = ", ".join(
        f"{faction} {value}/{REPUTATION_TO_ALLY}"
        for faction, value in zip(FACTIONS, seen.world.reputation, strict=True)
        if value and faction not in seen.world.allies
    )
    known = seen.world.known
    unseen = (tuple(sector for sector in lead if sector not in seen.world.scouted) for lead in known.leads)
    leads = "; ".join(" or ".join(lead) for lead in unseen if lead)
    return (
        f"Have/need: {lanes}",
        f"Allies: {_listed(seen.world.allies)}" + (f" (reputation: {reputation})" if reputation else ""),
        f"Threat: {seen.world.threat.label}. Deployed: {seen.world.deployed or 'nowhere'}."
        f" Operation: {'done' if seen.world.is_operation_done else 'not done'}.",
        f"Known: target sector {known.sector or '?'}, code {known.code or '?'}, code words"
        f" {len(known.keywords)}/{seen.briefing.num_keywords_needed}: {_listed(known.keywords)},"
        f" required allies: {_listed(known.allies)}",
        f"Scouted: {_listed(seen.world.scouted)}. Leads: {leads or 'none'}",
    )


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(names) or "none"

"""Actions, and reading one out of what a model typed."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import ClassVar, TypeVar

from .._envkit.reply import Fault, Reply, last_json_object, reply_text
from .balance import TRADE_MAX, Penalty
from .codewords import canonical
from .vocabulary import Faction, Name, Resource, Sector, Verb

_ECHO_CHARS = 40
_REASON_CHARS = 200
_Name = TypeVar("_Name", bound=Name)

Signature = tuple[str, ...]
"""The verb and the arguments that make a repeat; amounts, messages and unknown fields do not count."""


@dataclass(frozen=True, slots=True)
class ScoutSector:
    verb: ClassVar = Verb.SCOUT
    sector: Sector

    @property
    def signature(self) -> Signature:
        return (self.verb, self.sector)


@dataclass(frozen=True, slots=True)
class NegotiatePact:
    verb: ClassVar = Verb.NEGOTIATE
    faction: Faction

    @property
    def signature(self) -> Signature:
        return (self.verb, self.faction)


@dataclass(frozen=True, slots=True)
class TradeResources:
    """`amount` may be any whole number here; the rules refuse what is outside 1..TRADE_MAX."""

    verb: ClassVar = Verb.TRADE
    resource: Resource
    amount: int

    @property
    def signature(self) -> Signature:
        return (self.verb, self.resource)


@dataclass(frozen=True, slots=True)
class DeployAsset:
    verb: ClassVar = Verb.DEPLOY
    sector: Sector

    @property
    def signature(self) -> Signature:
        return (self.verb, self.sector)


@dataclass(frozen=True, slots=True)
class RunOperation:
    verb: ClassVar = Verb.OPERATION
    operation_code: str

    @property
    def signature(self) -> Signature:
        return (self.verb, canonical(self.operation_code))


@dataclass(frozen=True, slots=True)
class SecureExtraction:
    verb: ClassVar = Verb.EXTRACTION
    sector: Sector
    message: str

    @property
    def signature(self) -> Signature:
        return (self.verb, self.sector)


@dataclass(frozen=True, slots=True)
class Noop:
    verb: ClassVar = Verb.NOOP

    @property
    def signature(self) -> Signature:
        return (self.verb,)


Action = ScoutSector | NegotiatePact | TradeResources | DeployAsset | RunOperation | SecureExtraction | Noop


@dataclass(frozen=True, slots=True)
class Malformed:
    """A reply that holds no action: why, in words fit for the agent, and which penalty it earns."""

    reason: str
    penalty: Penalty = Penalty.MALFORMED


SILENCE = Malformed("no reply", Penalty.SILENCE)
"""Stands for a turn the agent never played because its run was cut short."""


def action_text(action: Action) -> str:
    """The JSON object a model types to play the action."""
    return json.dumps({"action_type": action.verb, **asdict(action)}, ensure_ascii=False)


def parse_action(reply: Reply) -> Action | Malformed:
    """Read the last JSON object with an `action_type` out of a reply (text, or chat messages). Never raises."""
    found = last_json_object(reply_text(reply), {"action_type"})
    return Malformed(_clip(found.reason, _REASON_CHARS)) if isinstance(found, Fault) else read_action(found)


Fields = Mapping[str, object]


def read_action(fields: Fields) -> Action | Malformed:
    """Read an action out of the fields of a JSON object; unknown fields do not count. Never raises."""
    typed = fields.get("action_type")
    verb = _member(Verb, typed)
    if verb is None:
        return Malformed(f"action_type: got {_quote(typed)}, allowed: {', '.join(Verb)}")
    return _READERS[verb](fields)


def _read_scout(fields: Fields) -> Action | Malformed:
    sector = _name(Sector, fields, "sector")
    return sector if isinstance(sector, Malformed) else ScoutSector(sector)


def _read_negotiate(fields: Fields) -> Action | Malformed:
    faction = _name(Faction, fields, "faction")
    return faction if isinstance(faction, Malformed) else NegotiatePact(faction)


def _read_trade(fields: Fields) -> Action | Malformed:
    resource = _name(Resource, fields, "resource")
    if isinstance(resource, Malformed):
        return resource
    amount = fields.get("amount")
    if isinstance(amount, bool) or not isinstance(amount, int):
        return _invalid("amount", amount, f"a whole number from 1 to {TRADE_MAX}")
    return TradeResources(resource, amount)


def _read_deploy(fields: Fields) -> Action | Malformed:
    sector = _name(Sector, fields, "sector")
    return sector if isinstance(sector, Malformed) else DeployAsset(sector)


def _read_operation(fields: Fields) -> Action | Malformed:
    code = fields.get("operation_code")
    if not isinstance(code, str) or not canonical(code):
        return _invalid("operation_code", code, "the revealed code as text")
    return RunOperation(code)


def _read_extraction(fields: Fields) -> Action | Malformed:
    sector = _name(Sector, fields, "sector", Penalty.INCOMPLETE_EXTRACTION)
    if isinstance(sector, Malformed):
        return sector
    message = fields.get("message")
    if not isinstance(message, str) or not canonical(message):
        return _invalid("message", message, "code words separated by commas", Penalty.INCOMPLETE_EXTRACTION)
    return SecureExtraction(sector, message)


def _read_noop(fields: Fields) -> Action | Malformed:
    return Noop()


_READERS = {
    Verb.SCOUT: _read_scout,
    Verb.NEGOTIATE: _read_negotiate,
    Verb.TRADE: _read_trade,
    Verb.DEPLOY: _read_deploy,
    Verb.OPERATION: _read_operation,
    Verb.EXTRACTION: _read_extraction,
    Verb.NOOP: _read_noop,
}


def _name(
    names: type[_Name], fields: Fields, field: str, penalty: Penalty = Penalty.INVALID_ARGUMENT
) -> _Name | Malformed:
    member = _member(names, fields.get(field))
    return _invalid(field, fields.get(field), ", ".join(names), penalty) if member is None else member


def _member(names: type[_Name], typed: object) -> _Name | None:
    wanted = canonical(typed) if isinstance(typed, str) else None
    return next((name for name in names if name == wanted), None)


def _invalid(field: str, got: object, allowed: str, penalty: Penalty = Penalty.INVALID_ARGUMENT) -> Malformed:
    return Malformed(f"{field}: got {_quote(got)}, allowed: {allowed}", penalty)


def _quote(typed: object) -> str:
    match typed:
        case None:
            return "nothing"
        case str():
            return json.dumps(_clip(typed, _ECHO_CHARS), ensure_ascii=True)
        case bool() | float():
            return json.dumps(typed)
        case int():
            return "a number out of range" if typed.bit_length() > 64 else str(typed)
        case _:
            return "a list or an object"


def _clip(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 3] + "..."

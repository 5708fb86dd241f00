"""The words generated missions are told in."""

from typing import Final

from .vocabulary import Sector

CODE_WORD_FIRST: Final = (
    "amber", "ashen", "blind", "borrowed", "brass", "broken", "chrome", "civil", "cobalt", "crooked", "distant",
    "double", "drowned", "empty", "final", "frozen", "hollow", "honest", "iron", "late", "lucky", "narrow", "neon",
    "pale", "patient", "plastic", "quiet", "rented", "scarlet", "second", "silver", "tired", "velvet", "wired",
)  # fmt: skip
CODE_WORD_SECOND: Final = (
    "anchor", "archive", "awning", "balcony", "bridge", "candle", "ceiling", "circuit", "curtain", "engine", "ferry",
    "harvest", "kettle", "ladder", "magnet", "mirror", "needle", "orchard", "pilot", "platform", "radio", "receipt",
    "river", "saint", "shutter", "signal", "sparrow", "stairwell", "suitcase", "tenant", "ticket", "tram", "tunnel",
    "umbrella", "vendor", "winter",
)  # fmt: skip
CODE_FIRST_LETTERS: Final = {"train": "BCDFGHJ", "eval": "KLMNPRSTVZ"}
"""First letters of operation codes: no code of one split can occur in the other."""
CONSONANTS: Final = "BCDFGHJKLMNPRSTVZ"
VOWELS: Final = "AEIOU"

CARGO: Final = (
    "a crate of clean ration cards",
    "the only honest census in the city",
    "the night shift's unpaid payroll",
    "a water key for forty blocks",
    "the last unedited news reel",
    "a hand-drawn map of the old tunnels",
    "the deed to a whole street",
    "a ledger with every judge's debts in it",
)
DANGER: Final = (
    "goes up for auction at dawn",
    "burns with the building tonight",
    "leaves the city on the last tram",
    "will be signed over before breakfast",
    "is worth nothing once the rain stops",
    "gets a new owner at every bell",
)
WITNESS: Final = (
    "A bar singer",
    "A lift mechanic",
    "A noodle cook",
    "A parking clerk",
    "A retired courier",
    "A tram driver",
)
LINK: Final = (
    "A locker key taped under a bench, with an address on the tag.",
    "A page torn from a duty roster, folded twice.",
    "A street vendor talks for the price of two skewers.",
    "A phone booth rings until somebody answers it.",
    "A mural with fresh paint over one name.",
)
LAST: Final = (
    "The door is real, the guard is bored, the password is on his cuff.",
    "A humming back room, one switch, one chair still warm.",
    "Behind the shutters, everything the rumour promised.",
    "The safe stands open for the cleaner; you read fast.",
)
COLD: Final = "Nothing here but rain and a wrong address. A cold trail."
PLACE: Final[dict[Sector, str]] = {
    Sector.DOCKLANDS: "under the cranes of docklands",
    Sector.DATA_SPIRE: "in the lobbies of data_spire",
    Sector.UNDERGRID: "down in the undergrid",
    Sector.CITADEL_GATE: "by the queue at citadel_gate",
}

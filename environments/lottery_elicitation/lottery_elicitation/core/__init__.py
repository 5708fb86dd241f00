"""The pure half: worlds, respondent, rules, grades and optimal play. Standard library and numpy; no I/O, no clock."""

"""The pure half: problems, prompts and graders. Standard library only; no I/O, no clock, no global random state."""

"""The pure core of neon-syndicate: missions, rules, simulator, grader, solver. No I/O, no clock, no global state."""

"""`python -m vf_grpo`: the console script."""

import sys

from vf_grpo.cli import main

sys.exit(main())

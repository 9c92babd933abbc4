"""The `agentlens` command, run inside the test process."""

from pathlib import Path

from click.testing import CliRunner, Result

from agentlens.cli import main

# Sample definitions of configuration agents.
CONFIG_SAMPLES = Path(__file__).parents[1] / "data/config"


def run_cli(*arguments: object) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments])

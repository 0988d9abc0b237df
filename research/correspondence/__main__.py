"""`python -m research.correspondence COMMAND`: matches inside a finished bundle."""

from training.inputs import run_command

COMMANDS = {name: name for name in "draw measure".split()}

if __name__ == "__main__":
    run_command("research.correspondence", COMMANDS)

"""`python -m research.clevr COMMAND`: caches of the CLEVR world."""

from training.inputs import run_command

COMMANDS = {name: name for name in ("cache",)}

if __name__ == "__main__":
    run_command("research.clevr", COMMANDS)

"""`python -m research.clevr COMMAND`: caches and samples of the CLEVR world."""

from training.inputs import run_command

COMMANDS = {name: name for name in "cache sheet".split()}

if __name__ == "__main__":
    run_command("research.clevr", COMMANDS)

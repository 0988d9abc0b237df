"""`python -m training.data COMMAND`: caches of rendered and of real pairs."""

from training.inputs import run_command

COMMANDS = {name: name for name in "cache real".split()}

if __name__ == "__main__":
    run_command("training.data", COMMANDS)

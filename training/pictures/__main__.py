"""`python -m training.pictures COMMAND`: plates and sprites from public packages."""

from training.inputs import run_command

COMMANDS = {name: name for name in "plates sprites verify".split()}

if __name__ == "__main__":
    run_command("training.pictures", COMMANDS)

"""`python -m training.fits COMMAND`: calibrations of the service."""

from training.inputs import run_command

COMMANDS = {name: name for name in "colours facts judge lens setting viewpoint".split()}

if __name__ == "__main__":
    run_command("training.fits", COMMANDS)

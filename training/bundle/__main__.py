"""`python -m training.bundle COMMAND`: makes a bundle and changes its parts."""

from training.inputs import run_command

COMMANDS = {
    name: name
    for name in (
        *("backbone", "quantize", "calibrate", "export"),  # a new bundle
        *(
            "start",
            "captioner",
            "difference",
            "statements",
            "check",
            "people",
            "install",
            "recalibrate",
        ),  # parts of a finished one
        *("golden", "record", "ablations"),  # its figures
    )
}

if __name__ == "__main__":
    run_command("training.bundle", COMMANDS)

"""`python -m training.worlds COMMAND`: pictures and pairs of the surveillance world."""

from training.inputs import run_command

COMMANDS = {
    "sheet": "surveillance.sheet",
    "pairs": "surveillance.made_pairs",
    "streams": "surveillance.made_streams",
    "visits": "surveillance.made_visits",
    "mistakes": "mistake_sheet",
    "lens": "lens_sheet",
}

if __name__ == "__main__":
    run_command("training.worlds", COMMANDS)

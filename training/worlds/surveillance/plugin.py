"""The surveillance world as a plug-in of the training core."""

from pathlib import Path

from training.contract import USUAL
from training.text.grammar import EVENT_NEEDS, EVENT_WORDS
from training.text.lexicon import WIDER
from training.world import PairSource, World
from training.worlds.surveillance.judge import judge
from training.worlds.surveillance.painted import (
    CARRIED,
    LENS,
    ONE_PERSON,
    PAINTED,
    PIECES,
    TWO_FRAMES,
    TWO_PEOPLE,
    PaintedSource,
)
from training.worlds.surveillance.pair_source import SurveillancePairSource
from training.worlds.surveillance.scenarios import SCENARIOS

REAL_SCENARIOS = (PAINTED, ONE_PERSON, TWO_PEOPLE, LENS, PIECES, CARRIED, TWO_FRAMES)  # of frames of real cameras
ALL_SCENARIOS = (*SCENARIOS, *REAL_SCENARIOS)


def open_source(data: Path | None, split: str, scenario: str = USUAL) -> PairSource:
    """@raises SystemExit if plates, sprites or frames are missing, or if there is no such scenario."""
    if scenario not in ALL_SCENARIOS:
        raise SystemExit(f"there is no scenario {scenario!r} in this world; known are {', '.join(ALL_SCENARIOS)}")
    try:
        if scenario in REAL_SCENARIOS:
            return PaintedSource(data, split, scenario)
        return SurveillancePairSource(data, split, scenario=scenario)
    except (FileNotFoundError, ValueError) as reason:
        raise SystemExit(str(reason)) from None


# The imports below wait until they are needed: rendering does without torch.


def open_cache(folders: list[Path], forward: bool = False, only: list[str] | None = None):
    """`forward` changes nothing here: every pair is stored one way round."""
    from training.data.batches import PairCache

    return PairCache(folders, only)


def make_difference(config):
    from training.net.difference import Difference

    return Difference(config)


WORLD = World(
    name="surveillance",
    full_frame=(288, 192),  # the captioner sees region crops at full resolution besides
    open_source=open_source,
    open_cache=open_cache,
    make_difference=make_difference,
    judge=judge,
    wider_nouns=WIDER,
    event_words=EVENT_WORDS,
    event_needs=EVENT_NEEDS,
)

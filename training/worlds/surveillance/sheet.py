"""Contact sheet of sampled pairs.

python -m training.worlds sheet --data ROOT --seed 0 --count 24 --out sheet.png
"""

from __future__ import annotations

import argparse

import cv2

from training.contract import SPLITS, USUAL, Pair
from training.worlds.contact_sheet import contact_sheet
from training.worlds.surveillance.pair_source import SurveillancePairSource
from training.worlds.surveillance.scenarios import SCENARIOS


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", help="folder with plates/ and sprites/ (default: SCENEDELTA_DATA)")
    parser.add_argument("--split", choices=SPLITS, default="train")
    parser.add_argument("--seed", type=int, default=0, help="first seed")
    parser.add_argument("--count", type=int, default=24, help="pairs")
    parser.add_argument("--changed", action="store_true", help="leave out unchanged pairs")
    parser.add_argument("--scenario", choices=SCENARIOS, default=USUAL, help="which pairs (default: the usual mixture)")
    parser.add_argument("--out", required=True)
    arguments = parser.parse_args()
    source = SurveillancePairSource(arguments.data, arguments.split, scenario=arguments.scenario)
    pairs: list[Pair] = []
    seed = arguments.seed
    while len(pairs) < arguments.count:
        pair = source.sample(seed)
        seed += 1
        if pair.kind != "none" or not arguments.changed:
            pairs.append(pair)
    cv2.imwrite(arguments.out, cv2.cvtColor(contact_sheet(pairs), cv2.COLOR_RGB2BGR))

"""A checkpoint of a finished bundle's networks, from which `training.train` trains its captioner on.

    python -m training.bundle start --bundle models/scorer-surveillance --cache DIR [DIR ...] \
        --config training/configs/surveillance-captioner.toml --out start.pt --labels labels.json
    python -m training.train --config training/configs/surveillance-captioner.toml --cache DIR [DIR ...] \
        --heldout DIR --labels labels.json --start-from start.pt --out RUN

The vocabulary is that of the bundle, then the words of the cache's captions that it lacks. The head for nouns, which a
bundle does not hold, starts anew. `training.bundle.captioner` puts the trained captioner into the bundle.
"""

import argparse
import json
from collections import Counter
from dataclasses import asdict, replace

import torch

from training.bundle.restore import restore_captioner, restore_difference
from training.data.batches import Labels
from training.inputs import existing_file, existing_folder, new_file
from training.learn.run import Run
from training.learn.settings import load_config
from training.net.captioner import Captioner
from training.world import load_world

LEAST = 30  # sightings of a noun that gets a class in the head for nouns
NEW_WORD_NOISE = 0.02  # standard deviation around the mean embedding


def extended(labels: Labels, metas: list[dict]) -> Labels:
    """The labels with the words of the captions that they lack, and the frequent nouns of the crops."""
    words = sorted({word for meta in metas for caption in meta["captions"] for word in caption.split()})
    new = [word for word in words if word not in labels.vocabulary]
    seen = [glance[side] for meta in metas for glance in meta["glances"] for side in ("before", "after")]
    nouns = Counter(one["noun"] for one in seen if one)
    return replace(
        labels,
        vocabulary=[*labels.vocabulary, *new],
        nouns=sorted(noun for noun, count in nouns.items() if count >= LEAST),
    )


@torch.no_grad()
def give_words(captioner: Captioner, known: Captioner) -> None:
    """Gives `captioner` the weights of `known`, whose vocabulary is the beginning of its own. A new word starts as the
    mean of the known ones, and as improbable as the least probable of them."""
    target, weights = captioner.state_dict(), known.state_dict()
    for name, value in weights.items():
        if target[name].shape == value.shape:
            target[name].copy_(value)
        elif not name.startswith("crops.noun."):
            words = len(value)
            target[name][:words] = value
            rest = value.min() if value.dim() == 1 else value.mean(0)
            target[name][words:] = rest + (
                NEW_WORD_NOISE * torch.randn_like(target[name][words:]) if value.dim() > 1 else 0
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bundle", type=existing_folder, required=True)
    parser.add_argument("--cache", type=existing_folder, nargs="+", required=True)
    parser.add_argument("--config", type=existing_file, required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=new_file, required=True)
    parser.add_argument("--labels", type=new_file, required=True)
    args = parser.parse_args()
    config = load_config(args.config, [])
    world = load_world(config["world"])
    known, labels = restore_captioner(args.bundle, world)
    labels = extended(labels, world.open_cache(args.cache).meta)
    run = Run(config, labels, args.seed, "cpu")
    run.difference.load_state_dict(restore_difference(args.bundle).state_dict())
    give_words(run.captioner, known)
    run.save_weights(run.parts, args.out)
    args.labels.write_text(json.dumps(asdict(labels)))
    print(f"{len(labels.vocabulary)} words, {len(labels.vocabulary) - len(known.c.vocabulary)} of them new")

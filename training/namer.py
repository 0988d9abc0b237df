"""Trains the namer on the region crops of a feature cache and calibrates it.

    python -m training.namer --cache DIR --heldout DIR --out RUN [--seed 1] [--steps 3000] [--bundle B] [--real DIR]

With --bundle the training starts from the namer of that bundle and keeps its lists of nouns and colours. With
--colours-alone only the layers of its colours learn, and the nouns stay as they are. With --real half of each batch are
things that fixed cameras saw (`training.data real`), drawn by camera: a camera with many boxes would teach its view
otherwise. --judge adds the figures of further held-out caches, such as one of whole cameras.

RUN gets namer.pt and figures.json; `training.bundle install` adds the namer to a bundle. The scales of the logits are
fitted on one half of the held-out crops, the figures measured on the other: precision and specificity of the names that
are written at several values of the service's setting `truth`. Development pairs choose nothing.
"""

import argparse
import json
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from training.bundle.restore import restore_namer
from training.contract import IGNORE
from training.data.noun_classes import classes_above, most_specific
from training.data.sightings import Sightings
from training.inputs import existing_folder
from training.learn.loop import Schedule, train_steps
from training.net.namer import Namer
from training.text.noun_prior import prior_shift
from training.text.noun_tree import HYPERNYMS, NOTHING, ROOT, tree_of

LEAST = 30  # sightings of a noun or colour that gets a class of its own
BATCH, RATE = 128, 1e-3
WEIGHTS = {"noun": 1.0, "colour": 0.5}
RATE_FURTHER = 3e-4  # of a namer that has learned already
NOTHING_WEIGHT = 0.5  # half of all sightings show nothing that changed
COLOUR_LAYERS = ("paint", "colour")  # beginnings of the names of parameters that no noun depends on
TRUTHS = (0.5, 0.7, 0.8, 0.9, 0.95)


def fit_scale(logits: Tensor, target: Tensor) -> float:
    """Temperature scaling (Guo et al., "On calibration of modern neural networks", ICML 2017): the factor on the
    logits [n,K] with the least cross-entropy for `target` [n]."""
    scales = torch.linspace(0.3, 1.5, 121)
    losses = [F.cross_entropy(logits * scale, target).item() for scale in scales]
    return float(scales[int(np.argmin(losses))])


@torch.no_grad()
def predict(namer: Namer, data: Sightings, batch: int = 256) -> tuple[Tensor, Tensor]:
    """Logits [n,2,N] and [n,2,K] of all crops."""
    namer.eval()
    parts = [
        namer(*data.batch(np.arange(first, min(first + batch, len(data))))) for first in range(0, len(data), batch)
    ]
    return tuple(torch.cat(column) for column in zip(*parts))


def figures(namer: Namer, data: Sightings, nouns: list[str], colours: list[str], only: Tensor) -> dict:
    """Figures on the crops of `only` (a mask): over the frames in which a thing came or went."""
    nouns_at, colours_at = (x[only].flatten(0, 1) for x in predict(namer, data))
    noun, colour = (t[only].flatten() for t in data.targets(nouns, colours))
    known = noun != IGNORE
    is_thing = known & (noun != nouns.index(NOTHING))
    p = torch.softmax(nouns_at, -1)
    found = {
        "crops": int(only.sum()),
        "thing or nothing": round(float(((p[:, 0] < 0.5) == is_thing)[known].float().mean()), 4),
    }
    ordered, member = classes_above(nouns, tree_of(nouns))
    p, truth = p[is_thing], noun[is_thing]
    p[:, nouns.index(NOTHING)] = 0
    p = p / p.sum(1, keepdim=True)  # of a name, if there is a thing
    found["noun, most probable"] = round(float((p.argmax(1) == truth).float().mean()), 4)
    top = [ordered.index(name) for name in HYPERNYMS]
    of_class = member[top][:, truth].argmax(0)
    found["class, most probable"] = round(float(((p @ member[top].T).argmax(1) == of_class).float().mean()), 4)
    size = member.sum(1)
    for share in TRUTHS:
        said = most_specific(p, member, share)
        right = member[said, truth]
        found[f"noun at {share}"] = {
            "right": round(float(right.mean()), 4),
            "names a leaf": round(float((size[said] == 1).float().mean()), 4),
            "says something": round(float((said == ordered.index(ROOT)).float().mean()), 4),
        }
    q, shade = torch.softmax(colours_at, -1), colour
    seen = (shade != IGNORE) & is_thing
    best = q[seen].max(1)
    found["colour, most probable"] = round(float((best.indices == shade[seen]).float().mean()), 4)
    for share in TRUTHS:
        sure = best.values >= share
        found[f"colour at {share}"] = {
            "right": round(float((best.indices == shade[seen])[sure].float().mean()), 4),
            "said": round(float(sure.float().mean()), 4),
        }
    return found


def uncalibrated(namer: Namer) -> Namer:
    """The same logits without the prior, with scales of 1: they are fitted after the training."""
    with torch.no_grad():
        for head, scale in ((namer.noun, namer.noun_scale), (namer.colour, namer.colour_scale)):
            for parameter in head[-1].parameters():
                parameter.mul_(scale)
            scale.fill_(1)
        namer.noun_shift.zero_()
    return namer


class ByCamera:
    """Draws crops of real cameras: a camera by the square root of the number of its crops, then one of them."""

    def __init__(self, data: Sightings):
        cameras = [models[0] for models in data.models]
        counts = Counter(cameras)
        weight = np.array([counts[camera] ** -0.5 for camera in cameras])
        self.p = weight / weight.sum()

    def __call__(self, rng: np.random.Generator, size: int) -> np.ndarray:
        return rng.choice(len(self.p), size, p=self.p)


def train(
    namer: Namer,
    data: Sightings,
    nouns: list[str],
    colours: list[str],
    steps: int,
    rate_at_most: float,
    seed: int,
    real: Sightings | None = None,
    colours_alone: bool = False,
) -> Namer:
    """The mean of the weights of the last steps. The given namer is trained in place.

    real: fills half of each batch. colours_alone: the layers that nouns depend on keep their weights.
    """
    torch.manual_seed(seed)
    if colours_alone:
        for name, parameter in namer.named_parameters():
            parameter.requires_grad_(name.startswith(COLOUR_LAYERS))
    sources = [(data, lambda rng, size: rng.integers(0, len(data), size)), *([(real, ByCamera(real))] if real else [])]
    targets = [source.targets(nouns, colours) for source, _ in sources]
    weight = torch.ones(len(nouns))
    weight[nouns.index(NOTHING)] = NOTHING_WEIGHT

    def losses_of(step: int) -> dict[str, Tensor]:
        rng = np.random.default_rng([seed, step])
        flip = bool(rng.random() < 0.5)
        drawn = [draw(rng, BATCH // len(sources)) for _, draw in sources]
        batch = [source.batch(indices, flip) for (source, _), indices in zip(sources, drawn)]
        logits = namer(*(torch.cat(parts) for parts in zip(*batch)))
        noun, colour = (
            torch.cat([target[kind][indices] for target, indices in zip(targets, drawn)]) for kind in (0, 1)
        )
        loss = lambda at, target, weight=None: F.cross_entropy(
            at.flatten(0, 1), target.flatten(), weight, ignore_index=IGNORE, label_smoothing=0.05
        )
        return {"noun": loss(logits[0], noun, weight), "colour": loss(logits[1], colour)}

    return train_steps(namer, losses_of, WEIGHTS, Schedule(steps, rate_at_most))


def drawn_nouns(data: Sightings, real: Sightings | None, nouns: list[str], colours: list[str]) -> dict[str, float]:
    """How often `train` draws each noun, as counts among len(data) crops of each source."""
    counts: dict[str, float] = defaultdict(float)
    weights = [(data, np.ones(len(data))), *([(real, ByCamera(real).p * len(data))] if real else [])]
    for source, weight in weights:
        for crop, sides in enumerate(source.targets(nouns, colours)[0].tolist()):
            for noun in sides:
                if noun != IGNORE:
                    counts[nouns[noun]] += weight[crop]
    return counts


def calibrate(
    namer: Namer, heldout: Sightings, nouns: list[str], colours: list[str], shift: Tensor, colours_alone: bool = False
) -> dict:
    """Fits the scales of the logits on one half of the held-out crops and sets the prior `shift` [nouns].

    colours_alone: the scale of the nouns stays.
    Returns the figures on the other half, without the prior and with it.
    """
    half = torch.arange(len(heldout)) % 2 == 0
    for logits, target, scale in zip(
        predict(namer, heldout), heldout.targets(nouns, colours), (namer.noun_scale, namer.colour_scale)
    ):
        if colours_alone and scale is namer.noun_scale:
            continue
        known = half[:, None] & (target != IGNORE)
        scale.fill_(fit_scale(logits[known], target[known]))
    found = figures(namer, heldout, nouns, colours, ~half)
    namer.noun_shift.copy_(shift)
    return found | {"with the prior of cameras": figures(namer, heldout, nouns, colours, ~half)}


def write_run(run: Path, saved: dict) -> None:
    """Writes namer.pt and figures.json into the folder `run` and prints the figures."""
    torch.save(saved, run / "namer.pt")
    (run / "figures.json").write_text(json.dumps(saved["heldout"], indent=1) + "\n")
    print(json.dumps(saved["heldout"], indent=1))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cache", type=existing_folder, required=True, action="append")
    parser.add_argument("--heldout", type=existing_folder, required=True, action="append")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--bundle", type=existing_folder, help="train on the namer of this bundle")
    parser.add_argument("--real", type=existing_folder, action="append", help="things that fixed cameras saw")
    parser.add_argument("--colours-alone", action="store_true", help="with --bundle: nouns stay as they are")
    parser.add_argument("--judge", type=existing_folder, action="append", default=[])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--steps", type=int, default=3000)
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args()
    if args.colours_alone and not args.bundle:
        parser.error("--colours-alone: needs --bundle, whose nouns stay")
    torch.set_num_threads(args.threads)
    args.out.mkdir(parents=True, exist_ok=True)
    data, heldout = Sightings(args.cache), Sightings(args.heldout)
    if args.bundle:
        namer, words = restore_namer(args.bundle)
        shift = namer.noun_shift.clone()
        namer, nouns, colours = uncalibrated(namer), words["nouns"], words["colours"]
    else:
        nouns, colours = data.names(LEAST)
        torch.manual_seed(args.seed)
        namer = Namer(len(nouns), len(colours))
    print(f"{len(data)} crops, {len(nouns)} nouns, {len(colours)} colours", flush=True)
    rate = RATE_FURTHER if args.bundle else RATE
    real = Sightings(args.real) if args.real else None
    namer = train(namer, data, nouns, colours, args.steps, rate, args.seed, real, args.colours_alone)
    if not args.colours_alone:
        shift = torch.tensor(prior_shift(nouns, drawn_nouns(data, real, nouns, colours)))
    found = calibrate(namer, heldout, nouns, colours, shift, args.colours_alone)
    for folder in args.judge:
        crops = Sightings([folder])
        found[f"on {folder.name}"] = figures(namer, crops, nouns, colours, torch.ones(len(crops), dtype=torch.bool))
    saved = {"namer": namer.state_dict(), "nouns": nouns, "colours": colours, "seed": args.seed, "steps": args.steps}
    write_run(args.out, saved | {"colours_alone": args.colours_alone, "heldout": found})


if __name__ == "__main__":
    main()

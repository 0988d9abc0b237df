"""The CLEVR twin: pairs of views of a CLEVR-Change scene with the exact truth, drawn and ray traced here.

Scene n gives two pairs: seed 2n the default and the changed view, seed 2n + 1 the default and the distractor view (another
camera, nothing else). Everything is seeded; the same seed and split give the same pair on the same device.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import torch

from training.worlds.clevr import grammar, rules
from training.worlds.clevr.optics import Views
from training.worlds.clevr.render import object_map, render, views_of
from training.worlds.pair import MASK_STRIDE, Pair

LEAST_PIXELS = 200  # of every object in each of the three views
GLANCE_STRIDE, GLANCE_LEAST = 4, 130  # a coarse look first: the exact count is for scenes that may pass it
SPLITS = ("train", "heldout")
# The kind and the action that the captioner's heads know, for each change of the data set.
KIND = {"add": "appear", "drop": "disappear", "move": "move", "color": "replace", "material": "replace"}
ACTION = {"add": "appeared", "drop": "disappeared", "move": "moved", "color": "replaced", "material": "replaced"}
DEFAULT, CHANGED, DISTRACTOR = range(3)


class ClevrWorld:
    """`sample(seed)` or, many at once and on a GPU, `sample_batch(seeds, device)`.

    `data_root` is accepted so that worlds can be exchanged; this one needs no data.
    """

    def __init__(self, data_root: str | os.PathLike | None = None, split: str = "train"):
        if split not in SPLITS:
            raise ValueError(f"unknown split {split!r}, expected one of {', '.join(SPLITS)}")
        self.data_root, self.split = data_root, split

    def sample(self, seed: int) -> Pair:
        return self.sample_batch([seed])[0]

    def sample_batch(self, seeds: list[int], device: str | torch.device = "cpu") -> list[Pair]:
        """One pair a seed; a scene's default view is rendered once, also where both its pairs are asked for."""
        scenes = sorted({seed // 2 for seed in seeds})
        drafts = dict(zip(scenes, self.drafts(scenes, device)))
        wanted = sorted({(s // 2, which) for s in seeds for which in (DEFAULT, DISTRACTOR if s % 2 else CHANGED)})
        pictures, slots = render(views_of_drafts([(drafts[n], which) for n, which in wanted], device))
        seen = {key: (picture, slot) for key, picture, slot in zip(wanted, pictures.cpu().numpy(), slots.cpu().numpy())}
        pairs = []
        for seed in seeds:
            draft, scene = drafts[seed // 2], seed // 2
            rng = np.random.default_rng([seed, SPLITS.index(self.split), 1])
            build = distractor_pair if seed % 2 else changed_pair
            after = seen[scene, DISTRACTOR if seed % 2 else CHANGED]
            pairs.append(build(seed, draft, *seen[scene, DEFAULT], *after, rng))
        return pairs

    def drafts(self, scenes: list[int], device: str | torch.device = "cpu") -> list[rules.Draft]:
        """Scenes in whose three views every object shows at least LEAST_PIXELS; the others are drawn anew.

        Change and number of objects are drawn before the first attempt: what is hidden more often must not come up less often.
        """
        generators, plans, accepted = {}, {}, {}
        for scene in scenes:
            rng = generators[scene] = np.random.default_rng([scene, SPLITS.index(self.split)])
            plans[scene] = str(rng.choice(rules.CHANGES)), int(rng.integers(rules.FEWEST, rules.MOST + 1))
        waiting = list(scenes)
        while waiting:
            tried = {scene: rules.draw(*plans[scene], generators[scene]) for scene in waiting}
            for stride, least in ((GLANCE_STRIDE, GLANCE_LEAST), (1, LEAST_PIXELS)):
                tried = {
                    scene: draft
                    for (scene, draft), fewest in zip(
                        tried.items(), fewest_pixels(list(tried.values()), device, stride)
                    )
                    if fewest >= least
                }
            accepted |= tried
            waiting = [scene for scene in waiting if scene not in accepted]
        return [accepted[scene] for scene in scenes]


def views_of_drafts(chosen: list[tuple[rules.Draft, int]], device: str | torch.device) -> Views:
    scenes = [draft.after if which == CHANGED else draft.before for draft, which in chosen]
    return views_of(
        scenes,
        np.array([draft.eyes[which] for draft, which in chosen]),
        np.array([draft.lamp_offsets for draft, _ in chosen]),
        device,
    )


def fewest_pixels(drafts: list[rules.Draft], device: str | torch.device, stride: int) -> list[int]:
    """Of each draft the visible pixels of the object that shows least, over its objects and three views."""
    if not drafts:
        return []
    every = [(draft, which) for draft in drafts for which in (DEFAULT, CHANGED, DISTRACTOR)]
    slots = object_map(views_of_drafts(every, device), stride).flatten(1)
    counts = torch.stack([(slots == k).sum(1) for k in range(rules.MOST + 1)], 1).cpu().numpy() * stride**2  # [V,K]
    fewest = [
        row[: len(draft.after if which == CHANGED else draft.before)].min()
        for (draft, which), row in zip(every, counts)
    ]
    return np.array(fewest).reshape(-1, 3).min(1).tolist()


def box_of(shown: np.ndarray) -> list[float]:
    """x, y, width, height of the true cells of [H,W]."""
    rows, columns = shown.any(1).nonzero()[0], shown.any(0).nonzero()[0]
    return [float(v) for v in (columns[0], rows[0], columns[-1] - columns[0] + 1, rows[-1] - rows[0] + 1)]


def mask_of(shown: np.ndarray) -> np.ndarray:
    """bool [H,W] -> float32 [H/8,W/8]: the share of each cell that is true."""
    height, width = (n // MASK_STRIDE for n in shown.shape)
    return shown.reshape(height, MASK_STRIDE, width, MASK_STRIDE).mean((1, 3), dtype=np.float32)


def describe(thing: rules.Thing, change: str, before: list[float] | None, after: list[float] | None) -> dict[str, Any]:
    """An entry of Pair.objects; beyond what every world gives: size, material and the data set's name of the change."""
    return {
        "noun": thing.shape,
        "hypernym": "object",
        "colour": thing.colour,
        "action": ACTION[change],
        "where": None,
        "places": [],
        "count": 1,
        "box_before": before,
        "box_after": after,
        "boxes_before": [before] if before else [],
        "boxes_after": [after] if after else [],
        "size": thing.size,
        "material": thing.material,
        "change": change,
    }


def changed_pair(
    seed: int,
    draft: rules.Draft,
    before: np.ndarray,
    slots_before: np.ndarray,
    after: np.ndarray,
    slots_after: np.ndarray,
    rng: np.random.Generator,
) -> Pair:
    nowhere = np.zeros(slots_before.shape, bool)
    shown_before = nowhere if draft.changed_before is None else slots_before == draft.changed_before
    shown_after = nowhere if draft.changed_after is None else slots_after == draft.changed_after
    old = None if draft.changed_before is None else draft.before[draft.changed_before]
    new = None if draft.changed_after is None else draft.after[draft.changed_after]
    box_before, box_after = box_of(shown_before) if old else None, box_of(shown_after) if new else None
    if KIND[draft.change] == "replace":  # both sides are listed, the old one first
        objects = [describe(old, draft.change, box_before, None), describe(new, draft.change, None, box_after)]
    else:
        objects = [describe(old or new, draft.change, box_before, box_after)]
    # Captions speak of the scene before; of an added object they can only speak of the scene after.
    scene, index = (draft.after, draft.changed_after) if draft.change == "add" else (draft.before, draft.changed_before)
    came = {"color": new and new.colour, "material": new and new.material}.get(draft.change)
    captions = grammar.captions(*grammar.facts_of(scene, index, draft.change, came), rng)
    return Pair(
        before,
        after,
        KIND[draft.change],
        objects,
        mask_of(shown_before),
        mask_of(shown_after),
        ["camera_moved"],
        captions,
        "clevr",
        seed=seed,
    )


def distractor_pair(
    seed: int,
    draft: rules.Draft,
    before: np.ndarray,
    slots_before: np.ndarray,
    after: np.ndarray,
    slots_after: np.ndarray,
    rng: np.random.Generator,
) -> Pair:
    nothing = mask_of(np.zeros(slots_before.shape, bool))
    return Pair(
        before,
        after,
        "none",
        [],
        nothing,
        nothing.copy(),
        ["camera_moved"],
        grammar.no_change_captions(rng),
        "clevr",
        seed=seed,
    )

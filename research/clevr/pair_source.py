"""Pair source of the CLEVR world: pairs of views of a CLEVR-Change scene, drawn and ray traced, with ground truth.

Scene n gives two pairs: seed 2n is the default and the changed view, seed 2n + 1 the default and the distractor view
(another camera, no change). The same seed and split give the same pair.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import torch

from research.clevr import grammar, rules
from research.clevr.optics import Views
from research.clevr.render import object_map, render, views_of
from research.clevr.rules import ChangedScene, Scene, SceneObject
from training.contract import KIND_OF_ACTION, MASK_STRIDE, SPLITS, Pair

MIN_PIXELS = 200  # visible pixels of every object in each view
# Most scenes fail the check by far. A sparse count comes first: every SPARSE_STRIDE-th pixel, with a lower minimum.
SPARSE_STRIDE, SPARSE_MIN_PIXELS = 4, 130
# Action of training/contract.py for each change of the data set.
ACTION = {"add": "appeared", "drop": "disappeared", "move": "moved", "color": "replaced", "material": "replaced"}
KIND = {change: KIND_OF_ACTION[action] for change, action in ACTION.items()}
DEFAULT, CHANGED, DISTRACTOR = range(3)  # views of a ChangedScene


class ClevrPairSource:
    """`sample(seed)` renders one pair, `sample_batch(seeds)` many at once.

    This world needs no data folder; `data_root` is accepted, because other pair sources need one.
    """

    def __init__(self, data_root: str | os.PathLike | None = None, split: str = "train"):
        if split not in SPLITS:
            raise ValueError(f"unknown split {split!r}, expected one of {', '.join(SPLITS)}")
        self.data_root, self.split = data_root, split

    def sample(self, seed: int) -> Pair:
        return self.sample_batch([seed])[0]

    def sample_batch(self, seeds: list[int]) -> list[Pair]:
        """One pair per seed. The default view of a scene is rendered once for both of its pairs."""
        numbers = sorted({seed // 2 for seed in seeds})
        scenes = dict(zip(numbers, self.draw_scenes(numbers)))
        wanted = sorted({(s // 2, view) for s in seeds for view in (DEFAULT, _second_view(s))})
        images, slots = render(views_of_scenes([(scenes[n], view) for n, view in wanted]))
        rendered = dict(zip(wanted, zip(images.cpu().numpy(), slots.cpu().numpy())))
        pairs = []
        for seed in seeds:
            number = seed // 2
            rng = np.random.default_rng([seed, SPLITS.index(self.split), 1])
            build = distractor_pair if seed % 2 else changed_pair
            after = rendered[number, _second_view(seed)]
            pairs.append(build(seed, scenes[number], *rendered[number, DEFAULT], *after, rng))
        return pairs

    def draw_scenes(self, numbers: list[int]) -> list[ChangedScene]:
        """The scenes of these numbers. In all three views every object shows at least MIN_PIXELS.

        Change and number of objects are drawn before the first attempt, so that rejections do not make crowded
        scenes rarer.
        """
        generators, plans, accepted = {}, {}, {}
        for number in numbers:
            rng = generators[number] = np.random.default_rng([number, SPLITS.index(self.split)])
            plans[number] = str(rng.choice(rules.CHANGES)), int(rng.integers(rules.MIN_OBJECTS, rules.MAX_OBJECTS + 1))
        waiting = list(numbers)
        while waiting:
            tried = {number: rules.draw_changed_scene(*plans[number], generators[number]) for number in waiting}
            for stride, minimum in ((SPARSE_STRIDE, SPARSE_MIN_PIXELS), (1, MIN_PIXELS)):
                counts = fewest_pixels(list(tried.values()), stride)
                tried = {n: scene for (n, scene), fewest in zip(tried.items(), counts) if fewest >= minimum}
            accepted |= tried
            waiting = [number for number in waiting if number not in accepted]
        return [accepted[number] for number in numbers]


def _second_view(seed: int) -> int:
    return DISTRACTOR if seed % 2 else CHANGED


def _objects_in(scene: ChangedScene, view: int) -> Scene:
    return scene.after if view == CHANGED else scene.before


def views_of_scenes(chosen: list[tuple[ChangedScene, int]]) -> Views:
    """Tensors of (scene, view) pairs; a view is DEFAULT, CHANGED or DISTRACTOR."""
    return views_of(
        [_objects_in(scene, view) for scene, view in chosen],
        np.array([scene.eyes[view] for scene, view in chosen]),
        np.array([scene.lamp_offsets for scene, _ in chosen]),
    )


def fewest_pixels(scenes: list[ChangedScene], stride: int) -> list[int]:
    """Per scene the visible pixels of its least visible object in any of the three views.

    Counted on every stride-th pixel and scaled to all pixels.
    """
    if not scenes:
        return []
    views = [(scene, view) for scene in scenes for view in (DEFAULT, CHANGED, DISTRACTOR)]
    slots = object_map(views_of_scenes(views), stride).flatten(1)
    counts = torch.stack([(slots == k).sum(1) for k in range(rules.MAX_OBJECTS + 1)], 1)  # [V,K]
    counts = counts.numpy() * stride**2
    fewest = [row[: len(_objects_in(scene, view))].min() for (scene, view), row in zip(views, counts)]
    return np.array(fewest).reshape(-1, 3).min(1).tolist()


def box_of(shown: np.ndarray) -> list[float]:
    """Bounding box [x, y, width, height] of the true cells of [H,W]."""
    rows, columns = shown.any(1).nonzero()[0], shown.any(0).nonzero()[0]
    return [float(v) for v in (columns[0], rows[0], columns[-1] - columns[0] + 1, rows[-1] - rows[0] + 1)]


def mask_of(shown: np.ndarray) -> np.ndarray:
    """bool [H,W] -> float32 [H/8,W/8]: the share of each cell that is true."""
    height, width = (n // MASK_STRIDE for n in shown.shape)
    return shown.reshape(height, MASK_STRIDE, width, MASK_STRIDE).mean((1, 3), dtype=np.float32)


def describe(obj: SceneObject, change: str, before: list[float] | None, after: list[float] | None) -> dict[str, Any]:
    """An entry of Pair.objects with its boxes, and with size, material and the data set's name of the change."""
    return {
        "noun": obj.shape,
        "hypernym": "object",
        "colour": obj.colour,
        "action": ACTION[change],
        "where": None,
        "places": [],
        "count": 1,
        "box_before": before,
        "box_after": after,
        "boxes_before": [before] if before else [],
        "boxes_after": [after] if after else [],
        "size": obj.size,
        "material": obj.material,
        "change": change,
    }


def changed_pair(
    seed: int,
    scene: ChangedScene,
    before: np.ndarray,
    slots_before: np.ndarray,
    after: np.ndarray,
    slots_after: np.ndarray,
    rng: np.random.Generator,
) -> Pair:
    """The default and the changed view. `before` and `after` are images, `slots_*` their object maps."""
    nowhere = np.zeros(slots_before.shape, bool)
    shown_before = nowhere if scene.index_before is None else slots_before == scene.index_before
    shown_after = nowhere if scene.index_after is None else slots_after == scene.index_after
    old = None if scene.index_before is None else scene.before[scene.index_before]
    new = None if scene.index_after is None else scene.after[scene.index_after]
    box_before, box_after = box_of(shown_before) if old else None, box_of(shown_after) if new else None
    if KIND[scene.change] == "replace":
        objects = [describe(old, scene.change, box_before, None), describe(new, scene.change, None, box_after)]
    else:
        objects = [describe(old or new, scene.change, box_before, box_after)]
    # Captions describe the scene before the change. An added object exists only in the scene after it.
    described, index = (scene.after, scene.index_after) if scene.change == "add" else (scene.before, scene.index_before)
    new_value = {"color": new and new.colour, "material": new and new.material}.get(scene.change)
    return Pair(
        before=before,
        after=after,
        kind=KIND[scene.change],
        objects=objects,
        mask_before=mask_of(shown_before),
        mask_after=mask_of(shown_after),
        nuisances=["camera_moved"],
        captions=grammar.captions(*grammar.claims_of(described, index, scene.change, new_value), rng),
        plate_id="clevr",
        seed=seed,
    )


def distractor_pair(
    seed: int, scene: ChangedScene, before: np.ndarray, slots: np.ndarray, after: np.ndarray, _: np.ndarray, rng
) -> Pair:
    """The default and the distractor view, with the arguments of `changed_pair`."""
    none = lambda: mask_of(np.zeros(slots.shape, bool))
    captions = grammar.no_change_captions(rng)
    return Pair(before, after, "none", [], none(), none(), ["camera_moved"], captions, "clevr", seed=seed)

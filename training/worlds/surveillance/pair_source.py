"""Pair source of the surveillance world: pairs of frames of a fixed camera, composed of plates and sprites."""

from __future__ import annotations

import os

import cv2
import numpy as np

from training.contract import USUAL, Pair, kind_of
from training.text.captions import write_captions
from training.worlds.surveillance.camera_motion import MARGIN, draw_motion
from training.worlds.surveillance.changes import Change, ChangeSampler
from training.worlds.surveillance.composed_frame import ComposedFrame, adjust_exposure
from training.worlds.surveillance.data_folder import data_root
from training.worlds.surveillance.effects import sway_foliage
from training.worlds.surveillance.exposure import estimate_exposure
from training.worlds.surveillance.ground_texture import ground_patches
from training.worlds.surveillance.ground_truth import describe_changes, largest_first
from training.worlds.surveillance.layers import Sun
from training.worlds.surveillance.nuisances import draw_effects, draw_strong
from training.worlds.surveillance.placement import PlacedFigure, RejectedSample, plate_allows
from training.worlds.surveillance.placer import Placer
from training.worlds.surveillance.plates import Plate, load_plates
from training.worlds.surveillance.rooms import room_plate
from training.worlds.surveillance.scenarios import SCENARIOS
from training.worlds.surveillance.sprite_nouns import NOUN_WEIGHT, OTHER_NOUN_WEIGHT
from training.worlds.surveillance.sprite_sampler import SpriteSampler
from training.worlds.surveillance.sprites import load_scenery, load_sprites
from training.worlds.surveillance.top_down_plates import top_down_plate
from training.worlds.surveillance.view import View

CONTEXT_COUNT_SHARE = [0.3, 0.18, 0.16, 0.13, 0.1, 0.08, 0.05]  # of 0 to 6 unchanged figures
LANDMARK_NOUNS = ("table", "bench", "sofa", "ladder", "barrier")  # unchanged figures that a location may refer to
IDENTICAL_SHARE = 0.1  # of unchanged pairs: the same exposure, encoded twice
AUTO_EXPOSURE_SHARE = 0.3  # of changed pairs
TOP_DOWN_SHARE = 0.35  # of pairs: the camera looks down more steeply than in any real plate
INDOOR_SHARE = 0.2  # of generated plates
ROOM_SHARE = 0.6  # of indoor pairs: a generated room
MAX_ATTEMPTS = 200

cv2.setNumThreads(1)


class SurveillancePairSource:
    """`sample(seed)` returns the same pair for the same seed, split and data, independent of earlier calls."""

    def __init__(
        self,
        data_root_path: str | os.PathLike | None = None,
        split: str = "train",
        shippable_only: bool = True,
        scenario: str = USUAL,
    ):
        self.scenario = SCENARIOS[scenario]
        root = data_root(data_root_path)
        self.split = split
        self.plates = load_plates(root, split, shippable_only)
        self.sampler = SpriteSampler(load_sprites(root, split), load_scenery(root, split), drawn=split == "train")
        if not self.plates or not self.sampler.nouns:
            raise ValueError(
                f"split {split!r} of {root} has {len(self.plates)} plates and "
                f"{len(self.sampler.nouns)} nouns, expected at least one of each"
            )
        self.patches = ground_patches(self.plates)
        plates = [p for p in self.plates if not (self.scenario.outdoor and p.indoor)]
        self.plates_for = {noun: [p for p in plates if plate_allows(p, noun)] for noun in self.sampler.nouns}
        wanted = self.scenario.nouns or self.sampler.nouns
        self.nouns = [noun for noun in self.sampler.nouns if noun in wanted and self.plates_for[noun]]
        weights = np.array([NOUN_WEIGHT.get(noun, OTHER_NOUN_WEIGHT) for noun in self.nouns])
        self.noun_weights = weights / weights.sum()

    def sample(self, seed: int) -> Pair:
        rng = np.random.default_rng([seed, 0 if self.split == "train" else 1])
        # Kind and noun are drawn before the first attempt, so that rejections do not make difficult ones rarer.
        share = self.scenario.kind_share
        kind = str(rng.choice(list(share), p=list(share.values())))
        focus = str(rng.choice(self.nouns, p=self.noun_weights))
        for _ in range(MAX_ATTEMPTS):
            try:
                return self._attempt(kind, focus, seed, np.random.default_rng(rng.integers(2**63)))
            except RejectedSample:
                continue
        raise RuntimeError(f"no pair of kind {kind!r} after {MAX_ATTEMPTS} attempts for seed {seed} ({self.split})")

    def _attempt(self, kind: str, focus: str, seed: int, rng: np.random.Generator) -> Pair:
        """One draw of a pair: plate, nuisances, figures, composition, ground truth. Raises RejectedSample."""
        scenario = self.scenario
        plate = self.draw_plate(focus, rng)
        strong = draw_strong(rng, plate.indoor, kind != "none") if scenario.strong is None else list(scenario.strong)
        motion = draw_motion(rng, "camera_moved" in strong)
        identical = kind == "none" and scenario.strong is None and rng.random() < IDENTICAL_SHARE
        if identical:
            strong, motion = [], "still"
        view = View(plate, rng, MARGIN[motion])
        if not view.grounds:
            raise RejectedSample
        size = (view.width, view.height)
        effects = draw_effects(rng, size, motion, strong, plate.time, plate.indoor, identical, scenario.low_sun)
        placer = Placer(view, self.sampler, draw_sun(rng, plate.indoor, plate.time), rng)

        context = placer.place_context(int(rng.choice(7, p=CONTEXT_COUNT_SHARE)))
        changes = ChangeSampler(placer, focus, scenario.combination_share).draw(kind)
        changed = [figure for change in changes for figure in change.figures]
        context += placer.place_occluders(changed)
        background = view.canvas()
        exposure = estimate_exposure(background, placer.sun, rng)
        tone_seed = int(rng.integers(2**31))
        before = ComposedFrame(view, exposure, effects.before, background, context, _figures(changes, 0), tone_seed)
        context_after = context if identical else [placer.jitter(figure) for figure in context]
        after = ComposedFrame(
            view,
            exposure,
            effects.after,
            sway_foliage(background, effects.after),
            context_after,
            _figures(changes, 1),
            tone_seed,
        )
        landmarks = view.landmarks + [(f.figure.noun, f.box) for f in context if f.figure.noun in LANDMARK_NOUNS]
        objects = largest_first(describe_changes(changes, before, after, view, landmarks, rng))
        if not scenario.accepts(objects):
            raise RejectedSample
        if changes and rng.random() < AUTO_EXPOSURE_SHARE:
            adjust_exposure((before, after), rng)
        captions = write_captions(objects, effects.names, rng)
        return Pair(
            before=before.finish(),
            after=after.finish(),
            kind=kind_of(objects),
            objects=objects,
            mask_before=before.mask(),
            mask_after=after.mask(),
            nuisances=sorted(set(effects.names)),
            captions=captions,
            plate_id=plate.id,
            seed=seed,
            models=sorted({model for f in (*changed, *context) for model in f.figure.models}),
        )

    def draw_plate(self, noun: str, rng: np.random.Generator) -> Plate:
        """A plate whose ground accepts the noun: a generated room, a generated top-down plate or a real one."""
        kinds = {p.kind for p in self.patches}
        indoor = bool(rng.random() < INDOOR_SHARE) and not self.scenario.outdoor
        if indoor and "floor" in kinds and rng.random() < ROOM_SHARE:
            plate = room_plate(self.patches, rng)
            if plate_allows(plate, noun):
                return plate
        if rng.random() < TOP_DOWN_SHARE and "paved" in kinds and ("floor" in kinds or not indoor):
            plate = top_down_plate(self.patches, indoor, rng)
            if plate_allows(plate, noun):
                return plate
        plates = self.plates_for[noun]
        return plates[int(rng.integers(len(plates)))]


def draw_sun(rng: np.random.Generator, indoor: bool, time: str) -> Sun | None:
    if indoor or time != "day" or rng.random() < 0.5:
        return None
    return Sun(
        azimuth=float(rng.uniform(-150, 150)),
        elevation=float(rng.uniform(25, 65)),
        strength=float(rng.uniform(0.3, 0.55)),
    )


def _figures(changes: list[Change], side: int) -> list[PlacedFigure]:
    """The changed figures of one frame: side 0 is before, 1 is after."""
    return [figure for change in changes for figure in (change.before, change.after)[side]]

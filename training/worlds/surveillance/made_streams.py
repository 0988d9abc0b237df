"""Writes frames of made cameras that look at one place for long, so that thresholds per camera can be measured.

    python -m training.worlds streams --data ROOT --cameras 40 --frames 400 --changed 25 --out DIR

DIR gets images/ and pairs.ndjson, in the format of lab/README.md: each frame of a camera with the camera's
first frame as "before", and the camera as the scene. In most frames nothing has changed. A camera has nuisances of its
own, which come and go: one stands in the wind, another one has a noisy sensor. Nuisances of different frames are drawn
independently, whereas real ones last. Places and models are those of the held-out split.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np

from training.contract import SPLITS
from training.inputs import existing_folder
from training.worlds.surveillance.camera_motion import MARGIN, draw_homography, draw_motion
from training.worlds.surveillance.changes import ChangeSampler
from training.worlds.surveillance.composed_frame import ComposedFrame
from training.worlds.surveillance.effects import FrameEffects, sway_foliage
from training.worlds.surveillance.exposure import estimate_exposure
from training.worlds.surveillance.made_pairs import JPEG_QUALITY
from training.worlds.surveillance.nuisances import AFTER, REGISTRY, EffectsDraw, draw_camera, draw_clock, draw_strong
from training.worlds.surveillance.pair_source import CONTEXT_COUNT_SHARE, SurveillancePairSource, draw_sun
from training.worlds.surveillance.placement import PlacedFigure, RejectedSample, plate_allows
from training.worlds.surveillance.placer import Placer
from training.worlds.surveillance.plugin import open_source
from training.worlds.surveillance.view import View

ACTIVE_SHARE = (0.05, 0.6)  # of the frames of a camera that show one of its nuisances, smallest and largest
MAX_ATTEMPTS = 50


class MadeCamera:
    """A place, the things that stand there, and what the camera itself does to its frames."""

    def __init__(self, source: SurveillancePairSource, rng: np.random.Generator):
        self.source, self.rng = source, rng
        while True:
            self.plate = source.draw_plate(self._draw_noun(), rng)
            self.nuisances = draw_strong(rng, self.plate.indoor, changed=False)
            self.motion = draw_motion(rng, "camera_moved" in self.nuisances)
            self.view = View(self.plate, rng, MARGIN[self.motion])
            if self.view.grounds:
                break
        self.size = (self.view.width, self.view.height)
        self.active = float(rng.uniform(*ACTIVE_SHARE))
        sun = draw_sun(rng, self.plate.indoor, self.plate.time)
        self.placer = Placer(self.view, source.sampler, sun, rng)
        self.context = self.placer.place_context(int(rng.choice(len(CONTEXT_COUNT_SHARE), p=CONTEXT_COUNT_SHARE)))
        self.background = self.view.canvas()
        self.exposure = estimate_exposure(self.background, sun, rng)
        self.tone_seed = int(rng.integers(2**31))
        self.effects = draw_camera(rng, self.size, MARGIN[self.motion], self.plate.time)

    def first(self) -> np.ndarray:
        """The frame without nuisances that the others are compared with, uint8 [H, W, 3] RGB."""
        return self._compose(self.effects, self.context, [])

    def still(self) -> np.ndarray:
        """A later frame in which nothing has changed, uint8 [H, W, 3] RGB."""
        return self._compose(self._draw_effects(), self._later_context(), [])

    def changed(self) -> np.ndarray | None:
        """A later frame in which something has appeared; None: no such thing was found for this place."""
        for _ in range(MAX_ATTEMPTS):
            noun = self._draw_noun()
            if not plate_allows(self.plate, noun):
                continue
            try:
                sampler = ChangeSampler(self.placer, noun, self.source.scenario.combination_share)
                figures = [figure for change in sampler.draw("appear") for figure in change.after]
                return self._compose(self._draw_effects(), self._later_context(), figures)
            except RejectedSample:
                continue
        return None

    def _draw_noun(self) -> str:
        return str(self.rng.choice(self.source.nouns, p=self.source.noun_weights))

    def _later_context(self) -> list[PlacedFigure]:
        return [self.placer.jitter(figure) for figure in self.context]

    def _draw_effects(self) -> FrameEffects:
        rng, base = self.rng, replace(self.effects, seed=int(self.rng.integers(2**31)))
        if base.overlay:
            base = replace(base, overlay=(draw_clock(rng), *base.overlay[1:]))
        if not self.plate.indoor:
            base = replace(base, sway=float(rng.choice([0.0, rng.uniform(0.2, 0.8)])))
        pair = EffectsDraw(rng, [self.effects, base], affected=AFTER)
        for name in self.nuisances:
            if rng.random() < self.active:
                REGISTRY[name].draw(pair)
        effects = pair.frames[AFTER]
        return replace(effects, homography=draw_homography(rng, self.motion, *self.size) @ effects.homography)

    def _compose(self, effects: FrameEffects, context: list[PlacedFigure], figures: list[PlacedFigure]) -> np.ndarray:
        """Raises RejectedSample if a figure is hardly visible."""
        background = sway_foliage(self.background, effects)
        frame = ComposedFrame(self.view, self.exposure, effects, background, context, figures, self.tone_seed)
        for figure in figures:
            frame.visible_box(figure)
            frame.mean_level(figure)
        return frame.finish()


def frames_of(camera: MadeCamera, frames: int, changed: int) -> Iterator[tuple[bool, np.ndarray]]:
    """`frames` unchanged and at most `changed` changed frames, each with whether something has changed."""
    for _ in range(frames):
        yield False, camera.still()
    for _ in range(changed):
        frame = camera.changed()
        if frame is not None:
            yield True, frame


def write_frame(frame: np.ndarray, name: str, out: Path) -> str:
    """Writes the picture into `out` and returns its file, relative to `out`."""
    file = f"images/{name}.jpg"
    cv2.imwrite(str(out / file), cv2.cvtColor(frame, cv2.COLOR_RGB2BGR), [cv2.IMWRITE_JPEG_QUALITY, JPEG_QUALITY])
    return file


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=existing_folder, help="folder of the data (default: SCENEDELTA_DATA)")
    parser.add_argument("--split", choices=SPLITS, default="heldout")
    parser.add_argument("--cameras", type=int, default=40)
    parser.add_argument("--frames", type=int, default=400, help="unchanged frames per camera")
    parser.add_argument("--changed", type=int, default=25, help="changed frames per camera")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    source = open_source(args.data, args.split)
    (args.out / "images").mkdir(parents=True, exist_ok=True)
    with open(args.out / "pairs.ndjson", "w", encoding="utf-8") as lines:
        for number in range(args.cameras):
            camera = MadeCamera(source, np.random.default_rng([args.seed, number]))
            before = write_frame(camera.first(), f"{number}-before", args.out)
            for index, (changed, frame) in enumerate(frames_of(camera, args.frames, args.changed)):
                name = f"{number}-{index}"
                label = {
                    "id": name,
                    "scene": f"camera-{number}",
                    "before": before,
                    "after": write_frame(frame, name, args.out),
                    "references": ["something has appeared" if changed else "nothing has changed"],
                    "verdict": "change" if changed else "none",
                    "kind": "appear" if changed else "none",
                    "boxes_before": [],
                    "boxes_after": [],
                    "nuisance": camera.nuisances,
                    "made": True,
                }
                lines.write(json.dumps(label) + "\n")
            print(f"camera {number}: {', '.join(camera.nuisances) or 'no nuisances'}", flush=True)

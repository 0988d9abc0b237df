"""Writes frames of made busy places, one per second, with the way of each thing as the truth.

    python -m training.worlds visits --data ROOT --streams 30 --seed 0 --out DIR

DIR gets a folder per stream with `frames/`, named by their times, and `truth.json`: `things` (id, noun, and the centre
of each frame that shows at least 40 % of it, as [second, x, y] in fractions of the frame) and `objects` (what was left
or taken, when, and by which thing; at least half of its frames show 40 % of it). People walk alone, in pairs, meet and
stand; one leaves or takes a bag, or a car parks. A sprite has one pose: its legs do not move, and people who lie, sit
or fall take no part. Streams that DIR has already are kept.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

import cv2
import numpy as np

from training.contract import SPLITS
from training.inputs import existing_folder
from training.worlds.surveillance.composed_frame import ComposedFrame
from training.worlds.surveillance.figures import Figure
from training.worlds.surveillance.made_pairs import JPEG_QUALITY
from training.worlds.surveillance.made_streams import MadeCamera
from training.worlds.surveillance.pair_source import SurveillancePairSource
from training.worlds.surveillance.placement import PlacedFigure, RejectedSample, ground_allows
from training.worlds.surveillance.plugin import open_source
from training.worlds.surveillance.sprite_nouns import CARRIED
from training.worlds.surveillance.view import Ground

SECONDS = 75
START = datetime(2026, 1, 5, 12)
PERSON_PX = (45, 180)  # heights of people; smaller ones are not followed, larger ones fill the frame
SPEED = {"person": (0.9, 1.6), "vehicle": (2.5, 5.0)}  # metres per second
MARGIN_PX = {"person": 30, "vehicle": 120}  # beyond the frame, where things begin and end their ways
BESIDE_M = 0.6  # distance of two people of a pair, and of a bag from its owner
LEAST_FRAMES = 3  # in view, of a thing in the truth
LOW_POSES = ("sitting", "lying", "half lying", "crouching", "kneeling", "bending", "crawling", "getting up", "falling")

Point = tuple[float, float]


@dataclass(eq=False)
class Actor:
    """A thing that goes from stop to stop; its place per second is in `places`, None while it is out of view."""

    id: str
    figure: Figure
    ground: Ground
    stops: list[tuple[Point, int]]  # a point in frame pixels, and the seconds that it stands there
    begin: int
    places: dict[int, tuple[float, float, float]] = field(default_factory=dict)  # second -> x, y, azimuth
    arrivals: list[int] = field(default_factory=list)  # second of each stop
    path: list[list[float]] = field(default_factory=list)


@dataclass(eq=False)
class Bag:
    """An object that is left or taken, from its first second in view to the one after the last."""

    placed: PlacedFigure
    begin: int
    end: int
    event: dict
    visible: int = 0  # number of frames that show it


class BusyPlace:
    """One stream: the actors of a camera and the objects that they leave or take."""

    def __init__(self, source: SurveillancePairSource, rng: np.random.Generator):
        self.rng = rng
        while True:
            try:
                self.camera = MadeCamera(source, rng)
                if self.camera.motion not in ("medium", "large"):
                    self.ground = self._ground("person")
                    self._point(self.ground)
                    self._fill()
                    break
            except RejectedSample:
                continue
        self.camera.nuisances = []

    def _fill(self) -> None:
        """Raises RejectedSample if the place has too little ground for the ways."""
        rng = self.rng
        self.actors: list[Actor] = []
        self._bags: list[Bag] = []
        for _ in range(int(rng.integers(2, 6))):
            self._walk()
        if rng.random() < 0.6:
            self._meet()
        drawn = rng.random()
        if drawn < 0.7:
            self._carry("object_left" if drawn < 0.5 else "object_removed")
        else:
            self._park()

    def frame(self, second: int) -> np.ndarray:
        """uint8 [H, W, 3] RGB. Appends the places of what it shows to the actors' paths."""
        camera = self.camera
        shown = [(actor, self._placed(actor, second)) for actor in self.actors if second in actor.places]
        bags = [bag for bag in self._bags if bag.begin <= second < bag.end]
        figures = [*(placed for _, placed in shown), *(bag.placed for bag in bags)]
        effects = camera._draw_effects()
        seed = camera.tone_seed
        made = ComposedFrame(camera.view, camera.exposure, effects, camera.background, camera.context, figures, seed)
        width, height = made.size
        for bag in bags:
            bag.visible += visible_box(made, bag.placed) is not None
        for actor, placed in shown:
            box = visible_box(made, placed)
            if box is None:
                continue
            x, y, w, h = box
            actor.path.append([second, round((x + w / 2) / width, 3), round((y + h / 2) / height, 3)])
        return made.finish()

    def truth(self) -> dict:
        """After all frames were made."""
        followed = [actor for actor in self.actors if len(actor.path) >= LEAST_FRAMES]
        things = [{"id": a.id, "noun": a.figure.noun, "path": a.path} for a in followed]
        ids = {actor.id for actor in followed}
        visible = [bag.event for bag in self._bags if bag.visible >= (bag.end - bag.begin) / 2]
        return {"things": things, "objects": [one for one in visible if one["by"] in ids]}

    def _walk(self) -> None:
        rng = self.rng
        points = [self._point(self.ground) for _ in range(int(rng.integers(1, 4)))]
        stops = [(point, int(rng.choice([0, 0, rng.integers(2, 12)]))) for point in points]
        begin = int(rng.integers(-8, SECONDS - 15))
        self._add("person", self.ground, stops, begin)
        if rng.random() < 0.3:
            self._add("person", self.ground, [(self._beside(point), wait) for point, wait in stops], begin)

    def _meet(self) -> None:
        point, begin = self._point(self.ground), int(self.rng.integers(0, 25))
        for at in (point, self._beside(point)):
            self._add("person", self.ground, [(at, int(self.rng.integers(8, 16)))], begin)

    def _carry(self, kind: str) -> None:
        point, begin = self._point(self.ground), int(self.rng.integers(5, 20))
        owner = self._add("person", self.ground, [(point, 3)], begin)
        if not owner.arrivals or owner.arrivals[0] + 2 >= SECONDS:
            return
        second = owner.arrivals[0] + 2
        bag = self._placed_at(self._figure(CARRIED), self.ground, *self._beside(point))
        begin, end = (second, SECONDS) if kind == "object_left" else (0, second)
        self._bags.append(Bag(bag, begin, end, {"kind": kind, "by": owner.id, "second": second}))

    def _park(self) -> None:
        try:
            ground = self._ground("vehicle")
            self._add("vehicle", ground, [(self._point(ground), SECONDS)], int(self.rng.integers(5, 25)))
        except RejectedSample:
            return

    def _ground(self, kind: str) -> Ground:
        view = self.camera.view
        noun = "man" if kind == "person" else "car"
        fit = [ground for ground in view.grounds if ground_allows(ground.allowed, noun, view.plate.indoor)]
        if not fit or (kind == "vehicle" and view.plate.indoor):
            raise RejectedSample
        return max(fit, key=lambda ground: ground.cells.sum())

    def _point(self, ground: Ground) -> Point:
        for _ in range(50):
            x, y = self.camera.view.sample_point(ground, self.rng)
            height = 1.7 * self.camera.view.px_per_metre(y, upright=True)
            # Feet alone, below the upper edge, are a thing in view that the truth does not list.
            if PERSON_PX[0] <= height <= min(PERSON_PX[1], y):
                return x, y
        raise RejectedSample

    def _beside(self, point: Point) -> Point:
        x, y = point
        scale = self.camera.view.px_per_metre(y, upright=True)
        return x + float(self.rng.choice([-1, 1])) * BESIDE_M * scale * float(self.rng.uniform(0.8, 1.6)), y

    def _figure(self, nouns: tuple[str, ...]) -> Figure:
        camera, sampler = self.camera, self.camera.source.sampler
        noun = str(self.rng.choice([noun for noun in nouns if noun in sampler.nouns]))
        return sampler.sample(noun, camera.plate.elevation, None, camera.placer.sun is not None, self.rng)

    def _walker(self) -> Figure:
        while True:
            figure = self._figure(("man", "woman"))
            if not any((sprite.pose or "").startswith(LOW_POSES) for sprite in figure.sprites):
                return figure

    def _add(self, kind: str, ground: Ground, stops: list[tuple[Point, int]], begin: int) -> Actor:
        figure = self._walker() if kind == "person" else self._figure(("car", "van"))
        actor = Actor(f"{kind}-{len(self.actors)}", figure, ground, stops, begin)
        outside = (-MARGIN_PX[kind], self.camera.view.width + MARGIN_PX[kind])
        start, end = ((float(self.rng.choice(outside)), stop[0][1]) for stop in (stops[0], stops[-1]))
        self._go(actor, start, [*stops, (end, 0)], float(self.rng.uniform(*SPEED[kind])))
        self.actors.append(actor)
        return actor

    def _go(self, actor: Actor, start: Point, stops: list[tuple[Point, int]], speed: float) -> None:
        """Fills the places of an actor: `speed` metres per second from stop to stop."""
        view = self.camera.view
        foreshortening = np.sin(np.radians(max(view.plate.elevation, 12)))
        (x, y), second, azimuth = start, actor.begin, 0.0
        for (to_x, to_y), wait in stops:
            while (x, y) != (to_x, to_y) and second < SECONDS:
                scale = max(view.px_per_metre(y, upright=True), 4.0)
                across, down = (to_x - x) / scale, (to_y - y) / scale / foreshortening
                share = min(1.0, speed / max(float(np.hypot(across, down)), 1e-6))
                x, y = (to_x, to_y) if share == 1.0 else (x + share * (to_x - x), y + share * (to_y - y))
                azimuth = float(np.degrees(np.arctan2(-across, down)))
                actor.places[second] = (x, y, azimuth)
                second += 1
            actor.arrivals.append(second)
            for _ in range(wait):
                actor.places[second] = (x, y, azimuth)
                second += 1

    def _placed(self, actor: Actor, second: int) -> PlacedFigure:
        x, y, azimuth = actor.places[second]
        figure = self.camera.source.sampler.turned(actor.figure, round(azimuth / 30) * 30 % 360)
        return self._placed_at(figure, actor.ground, x, y)

    def _placed_at(self, figure: Figure, ground: Ground, x: float, y: float) -> PlacedFigure:
        scale = self.camera.view.px_per_metre(y, upright=figure.hypernym != "vehicle")
        return PlacedFigure(figure, x, y, scale, 1.0, ground)


def visible_box(made: ComposedFrame, placed: PlacedFigure) -> list[float] | None:
    try:
        return made.visible_box(placed)
    except RejectedSample:
        return None


def write_stream(place: BusyPlace, out: Path) -> None:
    (out / "frames").mkdir(parents=True, exist_ok=True)
    for second in range(SECONDS):
        name = (START + timedelta(seconds=second)).strftime("%Y-%m-%dT%H-%M-%SZ.jpg")
        frame = cv2.cvtColor(place.frame(second), cv2.COLOR_RGB2BGR)
        cv2.imwrite(str(out / "frames" / name), frame, [cv2.IMWRITE_JPEG_QUALITY, JPEG_QUALITY])
    (out / "truth.json").write_text(json.dumps(place.truth()) + "\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=existing_folder, help="folder of the data (default: SCENEDELTA_DATA)")
    parser.add_argument("--split", choices=SPLITS, default="heldout")
    parser.add_argument("--streams", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    source = open_source(args.data, args.split)
    for number in range(args.streams):
        out = args.out / f"stream-{number:03}"
        if not (out / "truth.json").exists():
            write_stream(BusyPlace(source, np.random.default_rng([args.seed, number])), out)

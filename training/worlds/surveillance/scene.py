"""The surveillance world: pairs of frames of a fixed camera, composed of plates and sprites, with the exact truth."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import Any

import cv2
import numpy as np

from training.text import grammar
from training.worlds.pair import MASK_STRIDE, Pair, kind_of
from training.worlds.surveillance import location_phrases as places
from training.worlds.surveillance import nuisances
from training.worlds.surveillance.assets import Plate, data_root, load_plates, load_scenery, load_sprites, stable_rank
from training.worlds.surveillance.layers import Rendered, Sun, render
from training.worlds.surveillance.rooms import room_plate
from training.worlds.surveillance.sprite_sampler import (
    NOUN_WEIGHT,
    OTHER_WEIGHT,
    PERSONS,
    UNUSUAL_INDOORS,
    UNUSUAL_OUTDOORS,
    Cast,
    Figure,
)
from training.worlds.surveillance.staging import Actor, Light, fits, may_stand, read_light, suits, to_layer
from training.worlds.surveillance.top_down_plates import patches, steep_plate
from training.worlds.surveillance.view import Ground, View

# Real changed pairs are several things at once in two of five cases. `multi` is drawn as several changes, of one kind or of many.
KIND_SHARE = {"none": 0.36, "appear": 0.14, "disappear": 0.14, "move": 0.09, "replace": 0.05, "multi": 0.22}
SEVERAL_SHARE = {"group": 0.15, "traffic": 0.2, "swap": 0.35, "mixed": 0.15, "crowd": 0.15}
COVERED_SHARE = 0.5  # of changed things: something else stands close by, so that one hides a part of the other
COVERS = (
    "chair",
    "table",
    "bench",
    "plant",
    "box",
    "trash can",
    "stool",
    "sofa",
    "barrier",
    "stroller",
    "bicycle",
    "suitcase",
)
IN_LINE_SHARE = 0.5  # of those: right in front or behind, as the camera sees it
FURNITURE = ("table", "bench", "sofa", "ladder", "barrier")  # people say that somebody is by it
SCENERY_SHARE = 0.3  # of what stands around
IDENTICAL_SHARE = 0.1  # of unchanged pairs: the same exposure, coded twice
MIN_VISIBLE_SHARE, MIN_VISIBLE_PX = 0.4, 60  # of a changed thing; what is hidden more cannot be named
MIN_CONTRAST = 7.0  # mean absolute difference to the background, levels
TURNED_SHARE, VEHICLE_TURN = 0.75, 35.0  # of what moves; degrees (standard deviation), for most vehicles
CLEAR_HEIGHT_PX = 42  # below, people say "person" and leave out colours more often
DARK_LEVEL = 26.0  # mean level below which no colour can be told
ALPHA_SEEN = 0.35
MAX_ATTEMPTS = 200
PLACING_TRIES = 30
STEEP_SHARE = 0.35  # of pairs: cameras that look down by more than the plates do
INDOOR_SHARE, ROOM_SHARE = 0.2, 0.6  # of pairs; of those, in a drawn room

cv2.setNumThreads(1)


@dataclass
class Change:
    """One thing (or group) that differs; `key` makes members look the same in both frames."""

    action: str  # of grammar: appeared, disappeared, moved, replaced
    before: list[Actor]
    after: list[Actor]


class Retry(Exception):
    """This draw cannot be shown (no room, hidden, invisible); another one will."""


class SurveillanceWorld:
    """`sample(seed)` gives the same pair for the same seed, split and data, whatever was sampled before."""

    def __init__(
        self, data_root_path: str | os.PathLike | None = None, split: str = "train", shippable_only: bool = True
    ):
        root = data_root(data_root_path)
        self.split = split
        self.plates = load_plates(root, split, shippable_only)
        self.cast = Cast(load_sprites(root, split), load_scenery(root, split), drawn=split == "train")
        if not self.plates or not self.cast.nouns:
            raise ValueError(
                f"split {split!r} of {root} has {len(self.plates)} plates and "
                f"{len(self.cast.nouns)} nouns, expected at least one of each"
            )
        self.patches = patches(self.plates)
        self.plates_for = {noun: [p for p in self.plates if suits(p, noun)] for noun in self.cast.nouns}
        self.nouns = [noun for noun in self.cast.nouns if self.plates_for[noun]]
        weights = np.array([NOUN_WEIGHT.get(noun, OTHER_WEIGHT) for noun in self.nouns])
        self.noun_weights = weights / weights.sum()

    def sample(self, seed: int) -> Pair:
        rng = np.random.default_rng([seed, 0 if self.split == "train" else 1])
        kind = str(rng.choice(list(KIND_SHARE), p=list(KIND_SHARE.values())))
        # Drawn before any attempt, like the kind: what is harder to place must not come up less often.
        focus = str(rng.choice(self.nouns, p=self.noun_weights))
        for _ in range(MAX_ATTEMPTS):
            try:
                return self._attempt(kind, focus, seed, np.random.default_rng(rng.integers(2**63)))
            except Retry:
                continue
        raise RuntimeError(f"no pair of kind {kind!r} after {MAX_ATTEMPTS} attempts for seed {seed} ({self.split})")

    # -- drawing ----------------------------------------------------------------------------------------------------

    def _attempt(self, kind: str, focus: str, seed: int, rng: np.random.Generator) -> Pair:
        plate = self._plate(focus, rng)
        strong = nuisances.draw_strong(rng, plate.indoor, kind != "none")
        motion = nuisances.draw_motion(rng, "camera_moved" in strong)
        identical = kind == "none" and rng.random() < IDENTICAL_SHARE
        if identical:
            strong, motion = [], "still"
        view = View(plate, rng, nuisances.MARGIN[motion])
        if not view.grounds:
            raise Retry
        size = (view.width, view.height)
        looks = nuisances.draw_looks(rng, size, motion, strong, plate.time, plate.indoor, identical)
        stage = _Stage(view, self.cast, _sun(rng, plate.indoor, plate.time), focus, rng)

        context = stage.extras(int(rng.choice(7, p=[0.3, 0.18, 0.16, 0.13, 0.1, 0.08, 0.05])))
        changes = stage.changes(kind)
        context += stage.covers(changes)
        background = view.canvas()
        light = read_light(background, stage.sun, rng)
        look_seed = int(rng.integers(2**31))
        sides = []
        for index, look in enumerate((looks.before, looks.after)):
            changed = [(c, a) for c in changes for a in (c.before, c.after)[index]]
            extras = context if index == 0 or identical else [stage.stirred(a) for a in context]
            backdrop = background if index == 0 else nuisances.sway(background, look)
            sides.append(_Side(view, light, look, backdrop, extras, changed, look_seed))
        before, after = sides
        grey = looks.before.grey, looks.after.grey
        landmarks = view.landmarks + [(a.figure.noun, a.box) for a in context if a.figure.noun in FURNITURE]
        objects = _describe(changes, before, after, view, landmarks, grey, rng)
        areas = [_area(o) for o in objects]
        objects = _largest_first(objects, areas)
        if changes and rng.random() < 0.3:
            _auto_exposure(before, after, rng)
        captions = grammar.captions(objects, looks.names, rng)
        return Pair(
            before=before.finish(),
            after=after.finish(),
            kind=kind_of(objects),
            objects=objects,
            mask_before=before.mask(),
            mask_after=after.mask(),
            nuisances=sorted(set(looks.names)),
            captions=captions,
            plate_id=plate.id,
            seed=seed,
            models=sorted(
                {m for c in changes for a in (*c.before, *c.after) for m in a.figure.models}
                | {m for a in context for m in a.figure.models}
            ),
        )

    def _plate(self, focus: str, rng: np.random.Generator) -> Plate:
        """A plate that suits the noun: made for this pair in STEEP_SHARE of the cases."""
        kinds = {p.kind for p in self.patches}
        indoor = bool(rng.random() < INDOOR_SHARE)
        if indoor and "floor" in kinds and rng.random() < ROOM_SHARE:
            plate = room_plate(self.patches, rng)
            if suits(plate, focus):
                return plate
        if rng.random() < STEEP_SHARE and "paved" in kinds and ("floor" in kinds or not indoor):
            plate = steep_plate(self.patches, indoor, rng)
            if suits(plate, focus):
                return plate
        suited = self.plates_for[focus]
        return suited[int(rng.integers(len(suited)))]


def _sun(rng: np.random.Generator, indoor: bool, time: str) -> Sun | None:
    if indoor or time != "day" or rng.random() < 0.5:
        return None
    return Sun(
        azimuth=float(rng.uniform(-150, 150)),
        elevation=float(rng.uniform(25, 65)),
        strength=float(rng.uniform(0.3, 0.55)),
    )


class _Stage:
    """Draws who stands where on one view."""

    def __init__(self, view: View, cast: Cast, sun: Sun | None, focus: str, rng: np.random.Generator):
        self.view, self.cast, self.sun, self.focus, self.rng = view, cast, sun, focus, rng
        self.taken: list[Actor] = []
        indoor = view.plate.indoor
        unusual = UNUSUAL_INDOORS if indoor else UNUSUAL_OUTDOORS
        nouns, weights = [], []
        for noun in cast.nouns:
            if any(may_stand(g.allowed, noun, indoor) for g in view.grounds):
                nouns.append(noun)
                weights.append(
                    NOUN_WEIGHT.get(noun, OTHER_WEIGHT)
                    * (0.1 if noun in unusual else 1.0)
                    * (3.0 if indoor and noun not in PERSONS else 1.0)
                )
        if not nouns:
            raise Retry
        self.nouns, self.weights = nouns, np.array(weights) / np.sum(weights)

    def extras(self, count: int) -> list[Actor]:
        """Things that stand there in both frames; fewer than `count` where there is no room."""
        extras = []
        for _ in range(count):
            try:
                extras.append(self.bystander())
            except Retry:
                continue
        return extras

    def bystander(
        self, ground: Ground | None = None, near: tuple[float, float, float] | None = None, noun: str | None = None
    ) -> Actor:
        """Something that stands there in both frames: `noun`, else scenery or whatever may be met here."""
        indoor = self.view.plate.indoor
        if noun is None and self.cast.has_scenery(indoor) and self.rng.random() < SCENERY_SHARE:
            figure = self.cast.scenery(indoor, self.view.plate.elevation, self.sun is not None, self.rng)
            return self.actor("object", ground, figure, near)
        return self.actor(noun or self.noun(), ground, near=near)

    def covers(self, changes: list[Change]) -> list[Actor]:
        """Things close to what changes: who steps in front of a table hides it, and the table has not gone."""
        covers = []
        for actor in [a for change in changes for a in (*change.before, *change.after)]:
            if self.rng.random() >= COVERED_SHARE:
                continue
            at_hand = [n for n in COVERS if n in self.nouns]
            noun = str(self.rng.choice(at_hand)) if at_hand and self.rng.random() < 0.6 else None
            reach = 3.5 if actor.figure.hypernym == "vehicle" else 1.2
            try:
                covers.append(self.bystander(actor.ground, (actor.x, actor.y, reach), noun))
            except Retry:
                continue
        return covers

    def noun(self) -> str:
        return str(self.rng.choice(self.nouns, p=self.weights))

    def actor(
        self,
        noun: str,
        ground: Ground | None = None,
        figure: Figure | None = None,
        near: tuple[float, float, float] | None = None,
    ) -> Actor:
        """A new actor where there is room; `near` is x, y and the largest distance in metres."""
        view, rng = self.view, self.rng
        indoor = view.plate.indoor
        grounds = [ground] if ground else [g for g in view.grounds if may_stand(g.allowed, noun, indoor)]
        if not grounds:
            raise Retry
        areas = np.sqrt([g.cells.sum() for g in grounds])
        given = figure
        for _ in range(PLACING_TRIES):
            where = grounds[int(rng.choice(len(grounds), p=areas / areas.sum()))]
            x, y = view.spot(where, rng) if near is None else self._close_to(where, near)
            if y > view.height - 14 and rng.random() < 0.5:  # feet below the lower edge of the picture
                y += rng.uniform(0, 40)
            if figure is None:
                figure = self.cast.draw(
                    noun, view.plate.elevation, self._azimuth(where, noun, x, y), self.sun is not None, rng
                )
            upright = figure.hypernym != "vehicle"
            actor = Actor(
                figure,
                x,
                y,
                view.px_per_metre(y, upright) * float(np.exp(rng.normal(0, 0.03))),
                float(rng.uniform(0.95, 1.08)) if figure.upright else 1.0,
                where,
            )
            if fits(actor, self.taken, view):
                self.taken.append(actor)
                return actor
            if near is None:
                figure = given
        raise Retry

    def _close_to(self, ground: Ground, near: tuple[float, float, float]) -> tuple[float, float]:
        x, y, metres = near
        ppm = self.view.px_per_metre(y, True)
        angle = self.rng.uniform(0, 2 * np.pi)
        if self.rng.random() < IN_LINE_SHARE:
            angle = np.pi / 2 * self.rng.choice([-1, 1]) + self.rng.normal(0, 0.25)
        distance = metres * ppm * self.rng.uniform(0.25, 1.0)
        tilt = np.sin(np.radians(max(self.view.plate.elevation, 12)))
        x, y = x + distance * np.cos(angle), y + distance * np.sin(angle) * tilt
        if not 0 <= x < self.view.width or cv2.pointPolygonTest(ground.polygon, (float(x), float(y)), False) < 0:
            raise Retry
        return float(x), float(y)

    def _azimuth(self, ground: Ground, noun: str, x: float, y: float) -> float | None:
        road = places.surface_place(ground.name) in ("on the road", "in the street")
        if not road or grammar.hypernym(noun) != "vehicle" or self.rng.random() < 0.1:
            return None
        return (self.view.along(ground, x, y) + (0 if self.rng.random() < 0.5 else 180) + self.rng.normal(0, 6)) % 360

    def stirred(self, actor: Actor) -> Actor:
        """What has not changed is still never exactly the same: a little sway, seldom another pose."""
        if self.rng.random() < 0.5:
            return actor
        amount = 0.02 * actor.size if actor.figure.upright else 0.0
        moved = replace(actor, x=actor.x + self.rng.normal(0, min(amount, 1.0)))
        if actor.figure.upright and self.rng.random() < 0.15:
            moved.figure = self.cast.turned(actor.figure, actor.figure.azimuth + self.rng.choice([-30, 30]))
        return moved

    # -- changes ----------------------------------------------------------------------------------------------------

    def changes(self, kind: str, noun: str | None = None) -> list[Change]:
        noun = noun or self.focus
        if kind == "none":
            return []
        if kind == "appear":
            return [Change("appeared", [], [self.actor(noun)])]
        if kind == "disappear":
            return [Change("disappeared", [self.actor(noun)], [])]
        if kind == "move":
            return [self.move(noun)]
        if kind == "replace":
            return [self.replacement(noun)]
        return self.several()

    def several(self) -> list[Change]:
        """2 to 5 things: a group together, independent things that all came or went, a crowd of alike ones, one gone and another come, or any of these."""
        wanted = int(self.rng.choice([2, 3, 4, 5], p=[0.45, 0.3, 0.15, 0.1]))
        way = str(self.rng.choice(list(SEVERAL_SHARE), p=list(SEVERAL_SHARE.values())))
        changes: list[Change] = []
        if way == "group":
            group = self.group(min(wanted, int(self.rng.choice([2, 3, 4, 5], p=[0.6, 0.25, 0.1, 0.05]))))
            changes.append(
                Change("appeared", [], group) if self.rng.random() < 0.5 else Change("disappeared", group, [])
            )
            wanted -= len(group)
        elif way == "traffic":
            action = str(self.rng.choice(["appear", "disappear"]))
            for i in range(wanted):
                changes += self.changes(action, self.focus if i == 0 else self.kindred(self.focus))
            return changes
        elif way == "crowd":  # everybody goes about, as in a street between two looks at it
            for i in range(wanted + int(self.rng.integers(2))):
                action = str(self.rng.choice(["appear", "disappear", "move"], p=[0.3, 0.3, 0.4]))
                changes += self.changes(action, self.of_a_sort(self.focus) if i else self.focus)
            return changes
        elif way == "swap":  # of two alike things that are not the same one, neither has moved
            pair = [self.changes("disappear", self.focus), self.changes("appear", self.kindred(self.focus))]
            changes += [c for side in (pair if self.rng.random() < 0.5 else pair[::-1]) for c in side]
            wanted = max(0, wanted - 2) if self.rng.random() < 0.5 else 0
        while wanted > 0 or not changes:
            action = str(self.rng.choice(["appear", "disappear", "move"], p=[0.4, 0.4, 0.2]))
            changes += self.changes(action, self.noun() if changes else self.focus)
            wanted -= 1
        return changes

    def of_a_sort(self, noun: str) -> str:
        """A noun that one may meet here, a person for a person, a vehicle for a vehicle; as often as it is met."""
        alike = [n for n in self.nouns if grammar.hypernym(n) == grammar.hypernym(noun)] or [noun]
        weights = np.array([NOUN_WEIGHT.get(n, OTHER_WEIGHT) for n in alike])
        return str(self.rng.choice(alike, p=weights / weights.sum()))

    def kindred(self, noun: str) -> str:
        """Mostly the same noun, else another that one may meet here."""
        if self.rng.random() < 0.6:
            return noun
        alike = [n for n in self.nouns if grammar.hypernym(n) == grammar.hypernym(noun)]
        return str(self.rng.choice(alike)) if alike and self.rng.random() < 0.7 else self.noun()

    def group(self, count: int) -> list[Actor]:
        hypernym = grammar.hypernym(self.focus)
        persons = self.rng.random() < {"person": 0.9, "vehicle": 0.1}.get(hypernym, 0.6)
        pool = [n for n in self.nouns if (n in PERSONS if persons else n == "car")]
        if not pool:
            raise Retry
        members = [self.actor(str(self.rng.choice(pool)))]
        first = members[0]
        spread = 1.6 if persons else 9.0
        for _ in range(12 * count):
            if len(members) == count:
                break
            try:
                members.append(
                    self.actor(
                        str(self.rng.choice(pool)), first.ground, near=(first.x, first.y, spread * np.sqrt(count))
                    )
                )
            except Retry:
                continue
        if len(members) < 2:
            raise Retry
        return members

    def move(self, noun: str) -> Change:
        start = self.actor(noun)
        self.taken.remove(start)  # it may move by less than its own size
        figure = start.figure
        near = None
        if self.rng.random() < 0.6:
            near = (
                start.x,
                start.y,
                float(self.rng.uniform(1, 4) if figure.hypernym != "vehicle" else self.rng.uniform(3, 12)),
            )
        if self.rng.random() < TURNED_SHARE:  # seen from the same side it is too easy to know again
            spread = VEHICLE_TURN if figure.hypernym == "vehicle" and self.rng.random() < 0.8 else 360.0
            figure = self.cast.turned(figure, figure.azimuth + float(self.rng.normal(0, spread)))
        end = self.actor(noun, start.ground, figure, near)
        end.stretch = start.stretch
        self.taken.append(start)
        if not places.directions(start.box, end.box, self.view.width, start.size, end.size):
            raise Retry
        return Change("moved", [start], [end])

    def replacement(self, noun: str) -> Change:
        """One of a sort for another. A table is not replaced by a man: he stands in front of it."""
        old = self.actor(noun)
        self.taken.remove(old)
        for _ in range(PLACING_TRIES):
            noun = old.figure.noun if self.rng.random() < 0.4 else self.of_a_sort(old.figure.noun)
            noun = {"suv": "car", "minivan": "car"}.get(noun, noun)
            if not may_stand(old.ground.allowed, noun, self.view.plate.indoor):
                continue
            try:
                new = self.actor(noun, old.ground, near=(old.x, old.y, 0.5))
            except Retry:
                continue
            if (new.figure.noun, new.figure.colour) != (old.figure.noun, old.figure.colour):
                self.taken.append(old)
                return Change("replaced", [old], [new])
            self.taken.remove(new)
        raise Retry


class _Side:
    """One frame: composed, looked at, not yet finished."""

    def __init__(
        self,
        view: View,
        light: Light,
        look: nuisances.Look,
        background: np.ndarray,
        extras: list[Actor],
        changed: list[tuple[Change, Actor]],
        seed: int,
    ):
        self.view, self.look = view, look
        actors = sorted([*extras, *(a for _, a in changed)], key=lambda a: a.y)
        layers = [to_layer(a, view, light, seed + tone_seed(a.figure)) for a in actors]
        self.canvas, rendered = render(background, layers)
        self.background = background
        self.seen = {id(a): r for a, r in zip(actors, rendered)}
        self.changed = [a for _, a in changed]
        self.frames = {id(a): self._in_frame(self.seen[id(a)]) for a in self.changed}

    @property
    def size(self) -> tuple[int, int]:
        return self.view.width, self.view.height

    def _in_frame(self, r: Rendered) -> np.ndarray:
        """float32 [H, W]: visible alpha of an actor in the jittered frame."""
        h, w = r.visible.shape
        alpha = np.zeros(self.canvas.shape[:2], np.float32)
        alpha[r.y : r.y + h, r.x : r.x + w] = r.visible
        return nuisances.warp(alpha, self.look.homography, self.size, fill=False)

    def box(self, actor: Actor) -> list[float]:
        """[x, y, w, h] of what can be seen of the actor; Retry where that is too little."""
        alpha, r = self.frames[id(actor)], self.seen[id(actor)]
        solid = alpha > ALPHA_SEEN
        if solid.sum() < MIN_VISIBLE_PX or alpha.sum() < MIN_VISIBLE_SHARE * r.total:
            raise Retry
        rows, columns = np.flatnonzero(solid.any(axis=1)), np.flatnonzero(solid.any(axis=0))
        return [float(columns[0]), float(rows[0]), float(columns[-1] + 1 - columns[0]), float(rows[-1] + 1 - rows[0])]

    def level(self, actor: Actor) -> float:
        """Mean level of the actor's visible pixels; Retry where they can hardly be told from the background."""
        r = self.seen[id(actor)]
        h, w = r.visible.shape
        solid = r.visible > ALPHA_SEEN
        here = self.canvas[r.y : r.y + h, r.x : r.x + w][solid].astype(np.float32)
        there = self.background[r.y : r.y + h, r.x : r.x + w][solid]
        if not solid.any() or np.abs(here - there).mean() < MIN_CONTRAST + self.look.noise / 3:
            raise Retry
        return float(here.mean())

    def mask(self) -> np.ndarray:
        """float32 [H / 8, W / 8], 0..1."""
        width, height = self.size
        union = np.zeros((height, width), np.float32)
        for alpha in self.frames.values():
            np.maximum(union, alpha, out=union)
        cells = (width // MASK_STRIDE, height // MASK_STRIDE)
        return cv2.resize(union, cells, interpolation=cv2.INTER_AREA)

    def finish(self) -> np.ndarray:
        return np.ascontiguousarray(nuisances.finish(self.canvas, self.look, self.size))


def tone_seed(figure: Figure) -> int:
    """Of the figure's identity, not of its view: it keeps its tone when it turns."""
    return int(stable_rank("/".join((*figure.models, figure.colour))) * 2**20)


def _describe(
    changes: list[Change],
    before: _Side,
    after: _Side,
    view: View,
    landmarks: list[tuple[str, places.Box]],
    grey: tuple[bool, bool],
    rng: np.random.Generator,
) -> list[dict[str, Any]]:
    objects: list[dict[str, Any]] = []
    for change in changes:
        sides = [
            (s, actors, i) for i, (s, actors) in enumerate(((before, change.before), (after, change.after))) if actors
        ]
        boxes = [[s.box(a) for a in actors] for s, actors, _ in sides]
        levels = [[s.level(a) for a in actors] for s, actors, _ in sides]
        is_grey = any(grey[i] for _, _, i in sides)
        if change.action == "moved":
            ways = _agreed_directions(change, boxes, view)
            objects.append(_entry("moved", change.before, boxes[0], boxes[1], ways, min(map(min, levels)), is_grey, 0))
            continue
        for (side, actors, index), found, level in zip(sides, boxes, levels):
            phrases = _places(actors, found, view, landmarks, rng)
            objects.append(
                _entry(
                    change.action,
                    actors,
                    found if index == 0 else [],
                    found if index == 1 else [],
                    phrases,
                    min(level),
                    is_grey,
                    int(rng.choice(len(phrases)) if rng.random() < 0.5 else 0),
                )
            )
    return objects


def _agreed_directions(change: Change, boxes: list[list[list[float]]], view: View) -> list[str]:
    """Directions that hold both in the scene and in the pixels of the (jittered) frames."""
    start, end = change.before[0], change.after[0]
    ways = places.directions(start.box, end.box, view.width, start.size, end.size)
    seen = places.directions(boxes[0][0], boxes[1][0], view.width, start.size, end.size)
    agreed = [w for w in ways if w in seen]
    if not agreed:
        raise Retry
    return agreed


def _places(
    actors: list[Actor],
    boxes: list[list[float]],
    view: View,
    landmarks: list[tuple[str, places.Box]],
    rng: np.random.Generator,
) -> list[str]:
    box = _union(boxes)
    share = 1.7 * actors[0].size / view.height
    in_frame = places.frame_places(tuple(box), view.width, view.height, share)
    phrases = [in_frame[i] for i in rng.permutation(len(in_frame))]
    surface = places.surface_place(actors[0].ground.name)
    if surface:
        phrases.insert(0 if rng.random() < 0.3 else len(phrases), surface)
    if len(actors) == 1:
        phrases += places.landmark_places(actors[0].box, landmarks)
    return phrases


def _entry(
    action: str,
    actors: list[Actor],
    boxes_before: list[list[float]],
    boxes_after: list[list[float]],
    phrases: list[str],
    level: float,
    grey: bool,
    primary: int,
) -> dict[str, Any]:
    nouns = {a.figure.noun for a in actors}
    colours = {a.figure.colour for a in actors}
    hypernym = actors[0].figure.hypernym
    noun = nouns.pop() if len(nouns) == 1 else ("person" if hypernym == "person" else "car")
    colour = colours.pop() if len(colours) == 1 else None
    if level < DARK_LEVEL and colour not in ("white", "black"):
        colour = None
    if grey and colour not in grammar.GREYS:
        colour = None
    if grey and colour == "silver":
        colour = "grey"
    boxes = boxes_before or boxes_after
    return {
        "noun": noun,
        "hypernym": hypernym,
        "colour": colour,
        "action": action,
        "where": phrases[primary],
        "places": phrases,
        "count": len(actors),
        "small": max(b[3] for b in boxes) < CLEAR_HEIGHT_PX,
        "grey": grey,
        "box_before": _union(boxes_before) if boxes_before else None,
        "box_after": _union(boxes_after) if boxes_after else None,
        "boxes_before": boxes_before,
        "boxes_after": boxes_after,
    }


def _union(boxes: list[list[float]]) -> list[float]:
    x0, y0 = min(b[0] for b in boxes), min(b[1] for b in boxes)
    x1, y1 = max(b[0] + b[2] for b in boxes), max(b[1] + b[3] for b in boxes)
    return [x0, y0, x1 - x0, y1 - y0]


def _area(thing: dict[str, Any]) -> float:
    return sum(b[2] * b[3] for b in (*thing["boxes_before"], *thing["boxes_after"]))


def _largest_first(objects: list[dict[str, Any]], areas: list[float]) -> list[dict[str, Any]]:
    if any(o["action"] == "replaced" for o in objects):
        return objects  # old and new belong together, in this order
    return [o for _, o in sorted(zip(areas, objects), key=lambda item: -item[0])]


def _auto_exposure(before: _Side, after: _Side, rng: np.random.Generator) -> None:
    """A large dark or bright thing makes the camera adjust the whole frame."""
    for side in (before, after):
        if not side.changed:
            continue
        share = float(side.mask().mean())
        factor = float(np.exp(rng.normal(0, 0.05) + np.sign(rng.normal()) * min(share, 0.3) * 0.6))
        side.look = replace(side.look, gain=tuple(g * factor for g in side.look.gain))

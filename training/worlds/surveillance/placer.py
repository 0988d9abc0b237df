"""Placer: draws figures at random free places on the ground of one view."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np

from training.text.lexicon import hypernym
from training.worlds.surveillance.figures import Figure
from training.worlds.surveillance.layers import Sun
from training.worlds.surveillance.location_phrases import surface_phrase
from training.worlds.surveillance.placement import PlacedFigure, RejectedSample, ground_allows, is_free
from training.worlds.surveillance.sprite_nouns import (
    NOUN_WEIGHT,
    OTHER_NOUN_WEIGHT,
    PERSONS,
    UNUSUAL_INDOORS,
    UNUSUAL_OUTDOORS,
)
from training.worlds.surveillance.sprite_sampler import SpriteSampler
from training.worlds.surveillance.view import Ground, View

MAX_TRIES = 30  # positions that are tried per figure
SCENERY_SHARE = 0.3  # of the figures of the context
OCCLUDER_SHARE = 0.5  # of changed figures that get a figure close by, so that one hides a part of the other
OCCLUDERS = (
    *("chair", "table", "bench", "plant", "box", "trash can"),
    *("stool", "sofa", "barrier", "stroller", "bicycle", "suitcase"),
)
IN_LINE_SHARE = 0.5  # of figures close by: in front or behind as the camera sees it, else in any direction

Nearby = tuple[float, float, float]  # x, y in frame pixels and the largest distance in metres


class Placer:
    """Places figures on one view, without overlap of their footprints. Raises RejectedSample if no place is free."""

    def __init__(self, view: View, sampler: SpriteSampler, sun: Sun | None, rng: np.random.Generator):
        self.view, self.sampler, self.sun, self.rng = view, sampler, sun, rng
        self.placed: list[PlacedFigure] = []
        indoor = view.plate.indoor
        unusual = UNUSUAL_INDOORS if indoor else UNUSUAL_OUTDOORS
        self.nouns: list[str] = []
        weights = []
        for noun in sampler.nouns:
            if any(ground_allows(g.allowed, noun, indoor) for g in view.grounds):
                self.nouns.append(noun)
                weights.append(
                    NOUN_WEIGHT.get(noun, OTHER_NOUN_WEIGHT)
                    * (0.1 if noun in unusual else 1.0)
                    * (3.0 if indoor and noun not in PERSONS else 1.0)
                )
        if not self.nouns:
            raise RejectedSample
        self.weights = np.array(weights) / np.sum(weights)

    def draw_noun(self) -> str:
        """A noun that the view's ground accepts, by its frequency."""
        return str(self.rng.choice(self.nouns, p=self.weights))

    def place(
        self,
        noun: str,
        ground: Ground | None = None,
        figure: Figure | None = None,
        near: Nearby | None = None,
    ) -> PlacedFigure:
        """A figure at a free place. The default is a new figure of the noun anywhere on ground that accepts it."""
        view, rng = self.view, self.rng
        indoor = view.plate.indoor
        grounds = [ground] if ground else [g for g in view.grounds if ground_allows(g.allowed, noun, indoor)]
        if not grounds:
            raise RejectedSample
        areas = np.sqrt([g.cells.sum() for g in grounds])
        given = figure
        for _ in range(MAX_TRIES):
            chosen = grounds[int(rng.choice(len(grounds), p=areas / areas.sum()))]
            x, y = view.sample_point(chosen, rng) if near is None else self._point_near(chosen, near)
            if y > view.height - 14 and rng.random() < 0.5:  # the feet may be below the lower edge of the frame
                y += rng.uniform(0, 40)
            if figure is None:
                azimuth = self._traffic_azimuth(chosen, noun, x, y)
                figure = self.sampler.sample(noun, view.plate.elevation, azimuth, self.sun is not None, rng)
            scale = view.px_per_metre(y, upright=figure.hypernym != "vehicle") * float(np.exp(rng.normal(0, 0.03)))
            width_factor = float(rng.uniform(0.95, 1.08)) if figure.upright else 1.0
            candidate = PlacedFigure(figure, x, y, scale, width_factor, chosen)
            if is_free(candidate, self.placed, view):
                self.placed.append(candidate)
                return candidate
            if near is None:
                figure = given
        raise RejectedSample

    def place_context(self, count: int) -> list[PlacedFigure]:
        """Up to `count` figures that stay in both frames; fewer if there is no free place."""
        context = []
        for _ in range(count):
            try:
                context.append(self._place_context_figure())
            except RejectedSample:
                continue
        return context

    def place_occluders(self, changed: list[PlacedFigure]) -> list[PlacedFigure]:
        """Unchanged figures close to some of the changed ones, so that a hidden thing is not learned as a change."""
        occluders = []
        for target in changed:
            if self.rng.random() >= OCCLUDER_SHARE:
                continue
            available = [n for n in OCCLUDERS if n in self.nouns]
            noun = str(self.rng.choice(available)) if available and self.rng.random() < 0.6 else None
            reach = 3.5 if target.figure.hypernym == "vehicle" else 1.2
            try:
                occluders.append(self._place_context_figure(target.ground, (target.x, target.y, reach), noun))
            except RejectedSample:
                continue
        return occluders

    def jitter(self, placed: PlacedFigure) -> PlacedFigure:
        """An unchanged figure as the second frame shows it: sometimes shifted a little, seldom turned."""
        if self.rng.random() < 0.5:
            return placed
        sigma = 0.02 * placed.px_per_metre if placed.figure.upright else 0.0
        jittered = replace(placed, x=placed.x + self.rng.normal(0, min(sigma, 1.0)))
        if placed.figure.upright and self.rng.random() < 0.15:
            jittered.figure = self.sampler.turned(placed.figure, placed.figure.azimuth + self.rng.choice([-30, 30]))
        return jittered

    def _place_context_figure(
        self, ground: Ground | None = None, near: Nearby | None = None, noun: str | None = None
    ) -> PlacedFigure:
        """A figure of the noun. Without a noun it is scenery or anything that the ground accepts."""
        indoor = self.view.plate.indoor
        if noun is None and self.sampler.has_scenery(indoor) and self.rng.random() < SCENERY_SHARE:
            sunny = self.sun is not None
            figure = self.sampler.sample_scenery(indoor, self.view.plate.elevation, sunny, self.rng)
            return self.place("object", ground, figure, near)
        return self.place(noun or self.draw_noun(), ground, near=near)

    def _point_near(self, ground: Ground, near: Nearby) -> tuple[float, float]:
        x, y, max_metres = near
        scale = self.view.px_per_metre(y, upright=True)
        angle = self.rng.uniform(0, 2 * np.pi)
        if self.rng.random() < IN_LINE_SHARE:
            angle = np.pi / 2 * self.rng.choice([-1, 1]) + self.rng.normal(0, 0.25)
        distance = max_metres * scale * self.rng.uniform(0.25, 1.0)
        foreshortening = np.sin(np.radians(max(self.view.plate.elevation, 12)))
        x, y = x + distance * np.cos(angle), y + distance * np.sin(angle) * foreshortening
        if not 0 <= x < self.view.width or cv2.pointPolygonTest(ground.polygon, (float(x), float(y)), False) < 0:
            raise RejectedSample
        return float(x), float(y)

    def _traffic_azimuth(self, ground: Ground, noun: str, x: float, y: float) -> float | None:
        """Azimuth of a vehicle that drives along its road in either direction; None (any) for all other figures."""
        road = surface_phrase(ground.name) in ("on the road", "in the street")
        if not road or hypernym(noun) != "vehicle" or self.rng.random() < 0.1:
            return None
        along = self.view.heading_azimuth(ground, x, y)
        return (along + (0 if self.rng.random() < 0.5 else 180) + self.rng.normal(0, 6)) % 360

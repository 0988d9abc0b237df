"""Drawn vehicles, and the sprite samplers that use them."""

from __future__ import annotations

import numpy as np
import pytest

from training.text import lexicon
from training.worlds.surveillance.drawn_vehicles import NOUN, draw_kind, draw_vehicle
from training.worlds.surveillance.figures import figure_of_drawn_vehicle
from training.worlds.surveillance.sprite_nouns import NOUN_WEIGHT
from training.worlds.surveillance.sprite_sampler import DRAWN_SHARE, SpriteSampler
from training.worlds.surveillance.sprites import Sprite
from training.worlds.surveillance.vehicle_paint import PAINT_RANGE

ELEVATIONS = (4, 10, 30, 55, 80)
SEEDS = range(4)


@pytest.mark.parametrize("kind", NOUN)
class TestDrawing:
    def test_at_every_elevation_the_whole_vehicle_is_drawn_in_the_size_of_a_sprite(self, kind):
        for seed, elevation in enumerate(ELEVATIONS):
            pixels = draw_vehicle(kind, elevation, 75.0 * seed, bool(seed % 2), seed)[0].pixels
            alpha = pixels[..., 3]
            assert pixels.dtype == np.uint8 and 140 <= max(alpha.shape) <= 170
            assert (alpha == 255).mean() > 0.25
            for border in (alpha[0], alpha[-1], alpha[:, 0], alpha[:, -1]):
                assert not border.any()

    def test_equal_seeds_give_equal_pixels_and_different_seeds_differ(self, kind):
        first, again, other = (draw_vehicle(kind, 30, 40, True, seed)[0].pixels for seed in (1, 1, 2))
        assert np.array_equal(first, again)
        assert first.shape != other.shape or not np.array_equal(first, other)

    def test_colour_and_height_do_not_depend_on_the_azimuth(self, kind):
        for seed in SEEDS:
            labels = {draw_vehicle(kind, 10, azimuth, False, seed)[1:] for azimuth in (0, 90, 200)}
            assert len(labels) == 1 and labels.pop()[0] in PAINT_RANGE

    def test_the_anchor_is_the_intersection_of_the_footprints_diagonals(self, kind):
        drawing = draw_vehicle(kind, 30, 25, False, 3)[0]
        a, b, c, d = np.float64(drawing.footprint)
        along = np.linalg.solve(np.column_stack([c - a, b - d]), b - a)
        assert np.allclose(a + along[0] * (c - a), drawing.anchor, atol=0.1)

    def test_the_front_view_shows_the_width_and_the_side_view_the_length(self, kind):
        front, flank = (draw_vehicle(kind, 10, azimuth, False, 5)[0] for azimuth in (0, 90))
        spans = [np.ptp(np.flatnonzero(d.pixels[..., 3].any(axis=0))) / d.px_per_m for d in (front, flank)]
        assert 1.6 < spans[0] < 3.65 < spans[1] < 14


def test_nouns_and_colours_are_in_the_lexicon():
    assert {*NOUN.values(), *DRAWN_SHARE, *(word for words in DRAWN_SHARE.values() for word in words)} <= set(
        lexicon.NOUNS
    )
    assert set(PAINT_RANGE) <= set(lexicon.COLOURS)
    assert set(DRAWN_SHARE) <= set(NOUN_WEIGHT)


def test_each_noun_gets_exactly_its_kinds():
    for noun in set(NOUN.values()):
        assert {draw_kind(noun, seed) for seed in range(60)} == {k for k, n in NOUN.items() if n == noun}


def test_a_turned_figure_is_the_same_vehicle():
    sampler = SpriteSampler([], [], drawn=True)
    figure = figure_of_drawn_vehicle("pickup", "truck", 10, 30, True, 7)
    turned = sampler.turned(figure, 390 + 90)
    assert (turned.models, turned.noun, turned.colour, turned.height_m) == (
        ["drawn_pickup"],
        "truck",
        figure.colour,
        figure.height_m,
    )
    assert turned.azimuth == 120 and not np.array_equal(turned.pixels, figure.pixels)
    assert np.array_equal(sampler.turned(turned, 30).pixels, figure.pixels)


class TestSpriteSampler:
    @pytest.fixture
    def sprites(self, tmp_path, monkeypatch) -> list[Sprite]:
        monkeypatch.setattr(
            "training.worlds.surveillance.figures.sprite_pixels",
            lambda path: np.full((20, 40, 4), 200, np.uint8),
        )
        return [
            Sprite(
                path=tmp_path / noun,
                model=noun,
                noun=noun,
                hypernym="vehicle",
                subtype=None,
                colours=("red",),
                pose=None,
                needs_seat=False,
                height_m=1.5,
                length_m=4.0,
                elevation=10,
                azimuth=0,
                sunlit=False,
                px_per_m=30.0,
                anchor=(20.0, 15.0),
                footprint=np.float32([[0, 20], [40, 20], [40, 10], [0, 10]]),
            )
            for noun in ("car", "truck", "van", "bus", "bicycle")
        ]

    def _is_drawn(self, sampler: SpriteSampler, noun: str) -> list[bool]:
        rng = np.random.default_rng(0)
        return [sampler.sample(noun, 10, None, False, rng).drawn_kind is not None for _ in range(40)]

    def test_drawing_is_off_by_default(self, sprites):
        sampler = SpriteSampler(sprites, [])
        assert not any(any(self._is_drawn(sampler, noun)) for noun in ("car", "truck", "van", "bus"))

    def test_drawn_vehicles_and_sprites_are_mixed_if_drawing_is_on(self, sprites):
        sampler = SpriteSampler(sprites, [], drawn=True)
        for noun in ("car", "truck", "van", "bus"):
            drawn = self._is_drawn(sampler, noun)
            assert any(drawn) and not all(drawn)
        assert not any(self._is_drawn(sampler, "bicycle"))

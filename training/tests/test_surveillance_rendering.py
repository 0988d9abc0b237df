"""Rendering of the surveillance world: the compositor, location phrases, generated rooms and exposure."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from training.worlds.surveillance.exposure import estimate_exposure, figure_tone
from training.worlds.surveillance.ground_texture import Patch
from training.worlds.surveillance.layers import Layer, Tone, render
from training.worlds.surveillance.location_phrases import direction_phrases, frame_phrases, landmark_phrases
from training.worlds.surveillance.plates import Plate
from training.worlds.surveillance.rooms import room_plate


class TestLayers:
    @staticmethod
    def layer(x: float, y: float, value: int) -> Layer:
        pixels = np.full((20, 10, 4), (value, value, value, 255), np.uint8)
        return Layer(
            pixels,
            np.array([[1.0, 0, x], [0, 1.0, y]]),
            (5, 20),
            np.float32([[0, 20], [10, 20], [10, 18], [0, 18]]),
            10.0,
            Tone((1.0,) * 3, 1.0, 0.0),
            0.0,
            0.0,
            None,
        )

    def test_a_later_layer_hides_an_earlier_one_and_its_alpha(self):
        background = np.full((60, 60, 3), 100, np.uint8)
        frame, (behind, before) = render(background, [self.layer(20, 20, 200), self.layer(25, 20, 10)])
        assert frame[30, 22, 0] == 200 and frame[30, 28, 0] == 10 and frame[5, 5, 0] == 100
        assert behind.visible.sum() == pytest.approx(behind.total / 2, rel=0.05)
        assert before.visible.sum() == pytest.approx(before.total, rel=0.01)

    def test_parts_beyond_the_frame_are_missing_from_the_visible_alpha(self):
        _, (cut,) = render(np.zeros((60, 60, 3), np.uint8), [self.layer(55, 20, 200)])
        assert cut.visible.sum() == pytest.approx(cut.total / 2, rel=0.05)

    def test_the_background_array_is_not_modified(self):
        background = np.full((60, 60, 3), 100, np.uint8)
        render(background, [self.layer(20, 20, 200)])
        assert (background == 100).all()


class TestLocationPhrases:
    @pytest.mark.parametrize(
        "box, phrase",
        [
            ((20, 100, 40, 80), "on the left"),
            ((560, 100, 40, 80), "on the right"),
            ((300, 150, 40, 80), "in the middle"),
            ((20, 320, 40, 70), "at the lower left"),
            ((590, 20, 40, 40), "at the upper right"),
            ((600, 150, 40, 80), "at the right edge"),
        ],
    )
    def test_phrases_of_the_frame(self, box, phrase):
        assert phrase in frame_phrases(box, 640, 400, share=0.2)

    def test_no_box_is_both_left_and_right(self):
        for x in range(0, 600, 10):
            found = " ".join(frame_phrases((x, 100, 40, 80), 640, 400, share=0.05))
            assert not ("left" in found and "right" in found)

    def test_a_landmark_is_named_only_if_it_is_close_and_the_only_one_of_its_noun(self):
        fence = ("the fence", (100.0, 100.0, 80.0, 60.0))
        near, far = (190.0, 90.0, 20.0, 60.0), (500.0, 90.0, 20.0, 60.0)
        assert landmark_phrases(near, [fence]) == ["by the fence"]
        assert landmark_phrases(far, [fence]) == []
        assert landmark_phrases(near, [fence, fence]) == []

    def test_the_direction_phrase_depends_on_the_size_of_the_step(self):
        start = (300.0, 100.0, 40.0, 80.0)
        assert direction_phrases(start, (320.0, 100.0, 40.0, 80.0), 640, 30, 30) == ["slightly to the right"]
        assert direction_phrases(start, (100.0, 100.0, 40.0, 80.0), 640, 30, 30) == ["to the left"]
        assert direction_phrases(start, (300.0, 180.0, 60.0, 120.0), 640, 30, 45)[0] == "closer"
        assert direction_phrases(start, start, 640, 30, 30) == []


class TestRooms:
    def test_a_room_has_a_floor_below_its_wall_and_plausible_heights_of_persons(self):
        source = Plate(
            id="p",
            path=Path("p.jpg"),
            place="here",
            indoor=True,
            time="day",
            size=(640, 400),
            detail_width=400.0,
            elevation=10.0,
            person_px=((100, 20), (380, 100)),
            px_per_metre=((100, 12), (380, 60)),
            ground=(),
            landmarks=(),
            avoid=(),
        )
        patch = Patch(np.random.default_rng(0).uniform(60, 120, (80, 80, 3)).astype(np.float32), source, "floor")
        for seed in range(12):
            plate = room_plate([patch], np.random.default_rng(seed))
            width, height = plate.size
            assert plate.image.shape == (height, width, 3) and plate.image.dtype == np.uint8
            _, floor, allowed = plate.ground[0]
            assert "vehicle" not in allowed
            assert floor[:, 1].min() >= 0.1 * height
            (row0, size0), (row1, size1) = plate.person_px
            assert row0 < row1 and 10 < size0 < size1, seed


def test_white_paint_is_bright_and_black_cloth_is_dark_at_normal_exposure():
    """In the sprites white paint is at 0.58 of full scale and black cloth at 0.12."""
    background = np.full((400, 640, 3), 107, np.uint8)
    background[:40], background[-40:] = 235, 12
    white, black = [], []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        exposure = estimate_exposure(background, None, rng)
        tone = figure_tone(exposure, 0.42, False, rng)
        at = lambda level: tone.lift + float(np.mean(tone.gain)) * level**tone.gamma
        white.append(at(0.58))
        black.append(at(0.12))
    assert 0.6 < np.median(white) < 0.95 and max(black) < 0.2 and np.median(black) < 0.11

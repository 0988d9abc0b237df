"""Nuisances of the surveillance world: the registry, the effects on pixels, and the truth under camera motion."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from training.contract import NUISANCES
from training.worlds.surveillance import pair_source
from training.worlds.surveillance.effects import FrameEffects, apply_effects
from training.worlds.surveillance.nuisances import REGISTRY, EffectsDraw, PairEffects, nuisance
from training.worlds.surveillance.pair_source import SurveillancePairSource


def test_every_nuisance_but_the_overlay_is_registered():
    assert set(NUISANCES) - set(REGISTRY) == {"overlay"} and set(REGISTRY) <= set(NUISANCES)


def test_a_nuisance_that_the_model_has_no_output_for_is_refused():
    def earthquake(pair: EffectsDraw) -> None: ...

    with pytest.raises(ValueError, match="'earthquake' is not in NUISANCES"):
        nuisance()(earthquake)


@pytest.mark.parametrize("name", sorted(set(REGISTRY) - {"camera_moved"}))
def test_a_strong_nuisance_changes_the_effects_of_a_frame(name):
    neutral = FrameEffects(homography=np.eye(3))
    for seed in range(5):
        pair = EffectsDraw(np.random.default_rng(seed), [neutral, neutral], affected=seed % 2)
        REGISTRY[name].draw(pair)
        assert any(vars(frame) != vars(neutral) for frame in pair.frames)


def test_boxes_and_masks_follow_a_moved_camera(surveillance_root, monkeypatch):
    """The same pair is drawn with and without a shift of the second frame."""

    def shifted(amount):
        def draw(rng, size, *_):
            still = FrameEffects(homography=np.eye(3))
            moved = FrameEffects(homography=np.array([[1, 0, amount], [0, 1, 0], [0, 0, 1]], float))
            return PairEffects(still, moved)

        return draw

    monkeypatch.setattr(pair_source, "draw_motion", lambda *_: "still")
    source = SurveillancePairSource(surveillance_root)

    def clear_of_the_edges(pair) -> bool:
        return pair.kind == "appear" and 20 < pair.boxes_after[0][0] and sum(pair.boxes_after[0][::2]) < 620

    monkeypatch.setattr(pair_source, "draw_effects", shifted(0.0))
    still = next(filter(clear_of_the_edges, map(source.sample, range(100))))
    monkeypatch.setattr(pair_source, "draw_effects", shifted(16.0))
    moved = source.sample(still.seed)
    x, y, w, h = still.boxes_after[0]
    assert moved.boxes_after[0] == [x + 16, y, w, h]
    assert np.allclose(np.roll(still.mask_after, 2, axis=1)[:, 2:], moved.mask_after[:, 2:], atol=1e-4)


@pytest.mark.parametrize(
    "change, at_least",
    [
        ({"gain": (1.5,) * 3}, 20),
        ({"grey": True}, 8),
        ({"noise": 12.0}, 5),
        ({"weather": "fog", "weather_amount": 1.0}, 20),
        ({"shadow": 0.5}, 10),
        ({"quality": 15}, 1),
    ],
)
def test_each_effect_changes_the_pixels(change, at_least):
    canvas = np.random.default_rng(0).integers(60, 160, (120, 160, 3), dtype=np.uint8)
    canvas = cv2.GaussianBlur(canvas, (0, 0), 3) + np.uint8([40, 0, 20])
    plain = FrameEffects(homography=np.eye(3), noise=0.0, quality=95)
    changed = FrameEffects(**{**plain.__dict__, **change})
    frames = [apply_effects(canvas, effects, (160, 120)).astype(int) for effects in (plain, changed)]
    assert np.abs(frames[0] - frames[1]).mean() > at_least


def test_an_infrared_frame_has_no_colour():
    canvas = np.random.default_rng(0).integers(0, 255, (64, 64, 3), dtype=np.uint8)
    frame = apply_effects(canvas, FrameEffects(homography=np.eye(3), grey=True), (64, 64)).astype(int)
    assert np.ptp(frame, axis=2).max() <= 2

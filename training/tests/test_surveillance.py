"""Pairs of the surveillance world: reproducible, with ground truth that agrees with the pixels."""

from __future__ import annotations

import numpy as np
import pytest

from training.contract import KINDS, NUISANCES
from training.text import grammar
from training.worlds.surveillance import composed_frame, layers, pair_source
from training.worlds.surveillance.effects import FrameEffects
from training.worlds.surveillance.nuisances import PairEffects
from training.worlds.surveillance.pair_source import SurveillancePairSource
from training.worlds.surveillance.placer import Placer

SEEDS = range(28)


@pytest.fixture(scope="module")
def pairs(surveillance_root):
    source = SurveillancePairSource(surveillance_root)
    return [source.sample(seed) for seed in SEEDS]


def test_equal_seeds_give_equal_pairs_in_any_order(surveillance_root, pairs):
    again = SurveillancePairSource(surveillance_root)
    for seed in (7, 3):
        pair = again.sample(seed)
        assert np.array_equal(pair.before, pairs[seed].before) and np.array_equal(pair.after, pairs[seed].after)
        assert np.array_equal(pair.mask_after, pairs[seed].mask_after)
        assert (pair.captions, pair.objects) == (pairs[seed].captions, pairs[seed].objects)


def test_arrays_and_labels_are_in_their_ranges(pairs):
    for pair in pairs:
        height = pair.before.shape[0]
        assert pair.before.shape == pair.after.shape == (height, 640, 3) and height % 8 == 0
        assert pair.before.dtype == pair.after.dtype == np.uint8
        for mask in (pair.mask_before, pair.mask_after):
            assert mask.shape == (height // 8, 80) and mask.dtype == np.float32
            assert 0 <= mask.min() and mask.max() <= 1
        assert pair.kind in KINDS and set(pair.nuisances) <= set(NUISANCES)
        assert 3 <= len(pair.captions) <= 5 and len(set(pair.captions)) == len(pair.captions)


def test_unchanged_pairs_have_no_objects_and_no_masks_and_captions_of_no_change(pairs):
    unchanged = [p for p in pairs if p.kind == "none"]
    assert unchanged
    for pair in unchanged:
        assert not pair.objects and not pair.mask_before.any() and not pair.mask_after.any()
        assert all(grammar.parse(text) == [] for text in pair.captions)


def test_the_kind_decides_which_frames_have_a_mask(pairs):
    sides = {"appear": (False, True), "disappear": (True, False), "move": (True, True), "replace": (True, True)}
    for pair in pairs:
        if pair.kind in sides:
            assert (pair.mask_before.max() > 0.1, pair.mask_after.max() > 0.1) == sides[pair.kind], pair.seed


def test_boxes_enclose_the_masks(pairs):
    for pair in pairs:
        for mask, boxes in ((pair.mask_before, pair.boxes_before), (pair.mask_after, pair.boxes_after)):
            inside = np.zeros(mask.shape, bool)
            for x, y, w, h in boxes:
                assert 0 <= x and 0 <= y and x + w <= 640 and y + h <= pair.before.shape[0] and w * h >= 60
                inside[int(y // 8) : int(-(-(y + h) // 8)), int(x // 8) : int(-(-(x + w) // 8))] = True
            assert not (mask[~inside] > 0.5).any()


def test_captions_state_only_facts_of_the_objects(pairs):
    for pair in pairs:
        for text in pair.captions:
            for slot in grammar.parse(text):
                assert any(grammar.consistent(slot, o) for o in pair.objects), (pair.seed, text)


def test_directions_of_moves_agree_with_the_boxes(pairs):
    moved = [o for p in pairs for o in p.objects if o["action"] == "moved"]
    assert moved
    for obj in moved:
        shift = (obj["box_after"][0] + obj["box_after"][2] / 2) - (obj["box_before"][0] + obj["box_before"][2] / 2)
        for phrase in obj["places"]:
            if phrase.endswith("the left"):
                assert shift < 0
            elif phrase.endswith("the right"):
                assert shift > 0


def test_all_differences_lie_in_the_boxes(surveillance_root, monkeypatch):
    """Shadows and nuisances are switched off, because both differ outside the boxes."""

    def plain(rng, size, *_):
        effects = FrameEffects(homography=np.eye(3))
        return PairEffects(effects, effects)

    monkeypatch.setattr(layers, "_draw_shadows", lambda canvas, layer: None)
    monkeypatch.setattr(pair_source, "draw_motion", lambda *_: "still")
    monkeypatch.setattr(pair_source, "draw_effects", plain)
    monkeypatch.setattr(composed_frame, "apply_effects", lambda canvas, effects, size: canvas)
    monkeypatch.setattr(Placer, "jitter", lambda self, placed: placed)
    source = SurveillancePairSource(surveillance_root)
    for seed in range(14):
        pair = source.sample(seed)
        differs = np.abs(pair.before.astype(int) - pair.after).max(axis=2) > 2  # levels of 255
        outside = differs.copy()
        for x, y, w, h in (*pair.boxes_before, *pair.boxes_after):
            assert differs[int(y) : int(y + h), int(x) : int(x + w)].any()
            # Soft edges extend a little beyond the pixels that count as visible.
            outside[max(0, int(y) - 8) : int(y + h) + 8, max(0, int(x) - 8) : int(x + w) + 8] = False
        assert not outside.any(), pair.seed

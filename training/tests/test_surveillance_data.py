"""The data of the surveillance world: splits, refused folders, and the augmentation of sprites."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from training.tests.surveillance_data import MODEL_COUNT
from training.worlds.surveillance.data_folder import data_root
from training.worlds.surveillance.pair_source import SurveillancePairSource
from training.worlds.surveillance.plates import load_plates
from training.worlds.surveillance.sprite_augment import augment_sprite, repaint
from training.worlds.surveillance.sprites import load_sprites


def test_plates_of_development_scenes_are_never_loaded(surveillance_root):
    ids = {p.id for split in ("train", "heldout") for p in load_plates(surveillance_root, split, shippable_only=False)}
    assert "p11" not in ids and "p10" in ids


def test_unshippable_plates_are_left_out_by_default(surveillance_root):
    assert "p10" not in {p.id for split in ("train", "heldout") for p in load_plates(surveillance_root, split)}


def test_splits_share_no_place_and_no_model(surveillance_root):
    train, heldout = ({p.place for p in load_plates(surveillance_root, s)} for s in ("train", "heldout"))
    assert train and heldout and not train & heldout
    train, heldout = ({s.model for s in load_sprites(surveillance_root, split)} for split in ("train", "heldout"))
    assert not train & heldout


def test_the_feature_projections_are_fitted_on_the_train_split_only(surveillance_root):
    pytest.importorskip("torch")
    from training.bundle.pca_scenes import PastedScenes

    scenes = PastedScenes(surveillance_root, np.random.default_rng(0))
    assert {p.path for p in scenes.plates} == {p.path for p in load_plates(surveillance_root, "train")}
    assert not {p.path for p in scenes.plates} & {p.path for p in load_plates(surveillance_root, "heldout")}
    pasted = [sprite.model for _ in range(8) for sprite, _ in scenes.picture(6)[1]]
    assert not set(pasted) & {s.model for s in load_sprites(surveillance_root, "heldout")}


def test_every_noun_with_several_models_is_in_both_splits(surveillance_root):
    for split in ("train", "heldout"):
        assert {s.noun for s in load_sprites(surveillance_root, split)} == set(MODEL_COUNT)


def test_a_missing_data_file_is_named_in_the_error(tmp_path, monkeypatch):
    monkeypatch.delenv("SCENEDELTA_DATA", raising=False)
    with pytest.raises(FileNotFoundError, match="plates/plates.json"):
        data_root(tmp_path)
    with pytest.raises(ValueError, match="SCENEDELTA_DATA"):
        data_root()


def test_an_unknown_split_is_refused(surveillance_root):
    with pytest.raises(ValueError, match="'test'"):
        SurveillancePairSource(surveillance_root, split="test")


def test_equal_seeds_give_equal_pixels_and_different_seeds_differ():
    pixels = np.zeros((60, 40, 4), np.uint8)
    cv2.ellipse(pixels, (20, 30), (15, 25), 0, 0, 360, (180, 40, 40, 255), -1)
    first, again, other = augment_sprite(pixels, 1), augment_sprite(pixels, 1), augment_sprite(pixels, 2)
    assert first.shape == pixels.shape
    np.testing.assert_array_equal(first, again)
    assert np.abs(first.astype(int) - other).mean() > 1
    inside = first[20:40, 14:26]
    assert (inside[..., 3] == 255).all()
    assert (inside[..., 0] > inside[..., 1] + 60).all(), "red stays red"


def test_grey_cloth_may_become_light_while_hued_pixels_stay():
    pixels = np.full((40, 40, 4), 255, np.uint8)
    pixels[:20, :, :3], pixels[20:, :, :3] = 64, (180, 40, 40)
    ratios = []
    for seed in range(12):
        plain, cloth = (
            augment_sprite(pixels, seed).astype(float),
            augment_sprite(pixels, seed, cloth="grey").astype(float),
        )
        np.testing.assert_allclose(cloth[25:], plain[25:], atol=1)
        ratios.append(cloth[:15, :, :3].mean() / plain[:15, :, :3].mean())
    assert min(ratios) >= 0.99 and max(ratios) > 1.4 and max(ratios) < 2
    np.testing.assert_array_equal(augment_sprite(pixels, 3, cloth="black"), augment_sprite(pixels, 3))


def test_a_repainted_car_has_the_paint_of_its_new_name_and_keeps_its_tyres():
    white = np.full((20, 40, 4), 255, np.uint8)
    white[:10, :, :3], white[10:, :, :3] = 230, 30
    painted = {name: pixels for pixels, name in (repaint(white, "white", seed) for seed in range(200))}
    assert set(painted) == {"white", "light blue", "beige"}
    np.testing.assert_array_equal(painted["white"], white)
    red, green, blue = painted["light blue"][0, 0, :3].astype(int)
    assert red < green <= blue and blue == 230
    assert (painted["beige"][0, 0, :3].astype(int) @ [1, 0, -1]) > 10
    assert painted["light blue"][15, 0, :3].max() <= 30
    dark = np.zeros((20, 40, 4), np.uint8)
    dark[..., 0], dark[10:, :, 1:3] = 200, 20
    names = {repaint(dark, "red", seed)[1] for seed in range(40)}
    assert names == {"red", "dark red"}
    assert all(repaint(dark, colour, seed)[1] == colour for colour in ("black", "yellow") for seed in range(20))

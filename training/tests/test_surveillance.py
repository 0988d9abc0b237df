"""The surveillance world, over a small data folder made here in the format of the real one."""

from __future__ import annotations

import json
from pathlib import Path

import cv2
import numpy as np
import pytest

from training.text import grammar
from training.worlds.pair import KINDS, NUISANCES
from training.worlds.surveillance import layers, nuisances
from training.worlds.surveillance import location_phrases as places
from training.worlds.surveillance import scene as surveillance
from training.worlds.surveillance.assets import Plate, data_root, load_plates, load_sprites
from training.worlds.surveillance.layers import Layer, Tone, render
from training.worlds.surveillance.rooms import room_plate
from training.worlds.surveillance.scene import SurveillanceWorld
from training.worlds.surveillance.sprite_augment import repainted, varied
from training.worlds.surveillance.staging import exposed, read_light
from training.worlds.surveillance.top_down_plates import Patch

SEEDS = range(28)
MODELS = {"car": 4, "man": 4, "woman": 4, "dog": 2, "suitcase": 2}
SIZE_M = {
    "car": [4.2, 1.8, 1.5],
    "man": [0.5, 0.5, 1.8],
    "woman": [0.5, 0.5, 1.7],
    "dog": [0.8, 0.4, 0.6],
    "suitcase": [0.5, 0.4, 0.7],
}
HYPERNYM = {"car": "vehicle", "man": "person", "woman": "person", "dog": "animal", "suitcase": "object"}
COLOURS = {"red": (200, 30, 30), "gray": (120, 120, 120), "black": (20, 20, 20)}


def write_plates(root: Path) -> None:
    rng = np.random.default_rng(0)
    folder = root / "plates"
    folder.mkdir(parents=True)
    records = []
    for index in range(12):
        noise = cv2.resize(rng.integers(90, 170, (50, 80, 3), dtype=np.uint8), (640, 400))
        cv2.imwrite(str(folder / f"p{index}.jpg"), noise)
        records.append(
            {
                "id": f"p{index}",
                "file": f"plates/p{index}.jpg",
                "place": f"place{index // 2}",
                "licence": "CC0",
                "shippable": index != 10,
                "dev_scene": index == 11,
                "setting": "indoor" if index in (4, 5, 6, 7) else "outdoor",
                "time": "day",
                "width": 640,
                "height": 400,
                "native_width": "~400",
                "horizon_y": 40,
                "person_px": [[100, 18.0], [380, 102.0]],
                "px_per_metre": [[100, 10.8], [380, 61.2]],
                "camera_elevation": 10,
                "camera_height_m": 5.5,
                "vehicle_y_max": 390,
                "person_y_max": 390,
                "ground": [
                    {
                        "name": "road",
                        "polygon": [[20, 390], [60, 120], [580, 120], [620, 390]],
                        "allowed": ["vehicle", "person", "object"],
                    }
                ],
                "landmarks": [{"phrase": "the fence", "box": [0, 60, 60, 80]}],
                "avoid": [[300, 60, 30, 20]],
            }
        )
    (folder / "plates.json").write_text(json.dumps({"plates": records}))


def write_sprites(root: Path) -> None:
    records = []
    for noun, count in MODELS.items():
        length, width, height = SIZE_M[noun]
        for model in range(count):
            for colour, rgb in COLOURS.items():
                for azimuth in (0, 90, 180, 270):
                    across = width if azimuth in (0, 180) else length
                    scale = 120 / max(across, height)
                    w, h = int(across * scale), int(height * scale)
                    picture = np.zeros((h, w, 4), np.uint8)
                    cv2.ellipse(picture, (w // 2, h // 2), (w // 2 - 1, h // 2 - 1), 0, 0, 360, (*rgb[::-1], 255), -1)
                    name = f"images/{noun}{model}/10_{azimuth:03d}_{colour}-overcast.webp"
                    path = root / "sprites" / name
                    path.parent.mkdir(parents=True, exist_ok=True)
                    cv2.imwrite(str(path), picture)
                    records.append(
                        {
                            "file": name,
                            "model": f"{noun}{model}",
                            "noun": noun,
                            "hypernym": HYPERNYM[noun],
                            "colors": [colour],
                            "size_m": SIZE_M[noun],
                            "elevation": 10,
                            "azimuth": azimuth,
                            "lighting": "overcast",
                            "px": [w, h],
                            "px_per_m": scale,
                            "anchor": [w / 2, h - 4],
                            "footprint": [[0, h], [w, h], [w, h - 8], [0, h - 8]],
                            "licence": "CC0",
                        }
                    )
    (root / "sprites" / "sprites.json").write_text(json.dumps(records))


@pytest.fixture(scope="session")
def root(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    write_plates(folder)
    write_sprites(folder)
    return folder


@pytest.fixture(scope="session")
def world(root) -> SurveillanceWorld:
    return SurveillanceWorld(root)


@pytest.fixture(scope="session")
def pairs(world):
    return [world.sample(seed) for seed in SEEDS]


class TestData:
    def test_plates_of_development_scenes_are_never_loaded(self, root):
        ids = {p.id for split in ("train", "heldout") for p in load_plates(root, split, shippable_only=False)}
        assert "p11" not in ids and "p10" in ids

    def test_plates_that_may_not_be_shipped_are_left_out_unless_asked_for(self, root):
        assert "p10" not in {p.id for split in ("train", "heldout") for p in load_plates(root, split)}

    def test_splits_share_no_place_and_no_model(self, root):
        train, heldout = ({p.place for p in load_plates(root, s)} for s in ("train", "heldout"))
        assert train and heldout and not train & heldout
        train, heldout = ({s.model for s in load_sprites(root, split)} for split in ("train", "heldout"))
        assert not train & heldout

    def test_the_features_are_fitted_on_the_train_split_alone(self, root):
        pytest.importorskip("torch")
        from training.bundle.pca_scenes import CrudeScenes

        scenes = CrudeScenes(root, np.random.default_rng(0))
        assert {p.path for p in scenes.plates} == {p.path for p in load_plates(root, "train")}
        assert not {p.path for p in scenes.plates} & {p.path for p in load_plates(root, "heldout")}
        pasted = [sprite.model for _ in range(8) for sprite, _ in scenes.picture(6)[1]]
        assert not set(pasted) & {s.model for s in load_sprites(root, "heldout")}

    def test_every_noun_with_several_models_is_in_both_splits(self, root):
        for split in ("train", "heldout"):
            assert {s.noun for s in load_sprites(root, split)} == set(MODELS)

    def test_a_folder_without_the_data_is_named(self, tmp_path, monkeypatch):
        monkeypatch.delenv("SCENEDELTA_DATA", raising=False)
        with pytest.raises(FileNotFoundError, match="plates/plates.json"):
            data_root(tmp_path)
        with pytest.raises(ValueError, match="SCENEDELTA_DATA"):
            data_root()

    def test_an_unknown_split_is_refused(self, root):
        with pytest.raises(ValueError, match="'test'"):
            SurveillanceWorld(root, split="test")


class TestPair:
    def test_the_same_seed_gives_the_same_pair_whatever_came_before(self, root, pairs):
        again = SurveillanceWorld(root)
        for seed in (7, 3):
            pair = again.sample(seed)
            assert np.array_equal(pair.before, pairs[seed].before) and np.array_equal(pair.after, pairs[seed].after)
            assert np.array_equal(pair.mask_after, pairs[seed].mask_after)
            assert (pair.captions, pair.objects) == (pairs[seed].captions, pairs[seed].objects)

    def test_shapes_types_and_names(self, pairs):
        for pair in pairs:
            height = pair.before.shape[0]
            assert pair.before.shape == pair.after.shape == (height, 640, 3) and height % 8 == 0
            assert pair.before.dtype == pair.after.dtype == np.uint8
            for mask in (pair.mask_before, pair.mask_after):
                assert mask.shape == (height // 8, 80) and mask.dtype == np.float32
                assert 0 <= mask.min() and mask.max() <= 1
            assert pair.kind in KINDS and set(pair.nuisances) <= set(NUISANCES)
            assert 3 <= len(pair.captions) <= 5 and len(set(pair.captions)) == len(pair.captions)

    def test_unchanged_pairs_have_no_objects_no_masks_and_say_so(self, pairs):
        unchanged = [p for p in pairs if p.kind == "none"]
        assert unchanged
        for pair in unchanged:
            assert not pair.objects and not pair.mask_before.any() and not pair.mask_after.any()
            assert all(grammar.parse(text) == [] for text in pair.captions)

    def test_masks_are_on_the_side_that_the_kind_says(self, pairs):
        sides = {"appear": (False, True), "disappear": (True, False), "move": (True, True), "replace": (True, True)}
        for pair in pairs:
            if pair.kind in sides:
                assert (pair.mask_before.max() > 0.1, pair.mask_after.max() > 0.1) == sides[pair.kind], pair.seed

    def test_boxes_enclose_the_masks(self, pairs):
        for pair in pairs:
            for mask, boxes in ((pair.mask_before, pair.boxes_before), (pair.mask_after, pair.boxes_after)):
                inside = np.zeros(mask.shape, bool)
                for x, y, w, h in boxes:
                    assert 0 <= x and 0 <= y and x + w <= 640 and y + h <= pair.before.shape[0] and w * h >= 60
                    inside[int(y // 8) : int(-(-(y + h) // 8)), int(x // 8) : int(-(-(x + w) // 8))] = True
                assert not (mask[~inside] > 0.5).any()

    def test_captions_say_only_what_the_objects_say(self, pairs):
        for pair in pairs:
            for text in pair.captions:
                for slot in grammar.parse(text):
                    assert any(grammar.consistent(slot, o) for o in pair.objects), (pair.seed, text)

    def test_moves_go_where_the_boxes_go(self, pairs):
        moved = [o for p in pairs for o in p.objects if o["action"] == "moved"]
        assert moved
        for thing in moved:
            shift = (thing["box_after"][0] + thing["box_after"][2] / 2) - (
                thing["box_before"][0] + thing["box_before"][2] / 2
            )
            for phrase in thing["places"]:
                if phrase.endswith("the left"):
                    assert shift < 0
                elif phrase.endswith("the right"):
                    assert shift > 0

    def test_all_that_changes_lies_in_the_boxes(self, root, monkeypatch):
        """Without shadows and nuisances the frames differ in the boxes and nowhere else."""

        def plain(rng, size, *_):
            look = nuisances.Look(homography=np.eye(3))
            return nuisances.Looks(look, look)

        monkeypatch.setattr(layers, "_shade", lambda canvas, layer: None)
        monkeypatch.setattr(nuisances, "draw_motion", lambda *_: "still")
        monkeypatch.setattr(nuisances, "draw_looks", plain)
        monkeypatch.setattr(nuisances, "finish", lambda canvas, look, size: canvas)
        monkeypatch.setattr(surveillance._Stage, "stirred", lambda self, actor: actor)
        world = SurveillanceWorld(root)
        for seed in range(14):
            pair = world.sample(seed)
            differs = (
                np.abs(pair.before.astype(int) - pair.after).max(axis=2) > 2
            )  # levels; thinner traces are not seen
            outside = differs.copy()
            for x, y, w, h in (*pair.boxes_before, *pair.boxes_after):
                assert differs[int(y) : int(y + h), int(x) : int(x + w)].any()
                # Soft edges reach a little further than the pixels that count as seen.
                outside[max(0, int(y) - 6) : int(y + h) + 6, max(0, int(x) - 6) : int(x + w) + 6] = False
            assert not outside.any(), pair.seed


class TestNuisances:
    def test_a_moved_camera_takes_boxes_and_masks_along(self, root, monkeypatch):
        """The same draw with a shifted second frame: its boxes shift by as much."""

        def shifted(amount):
            def draw(rng, size, *_):
                still = nuisances.Look(homography=np.eye(3))
                moved = nuisances.Look(homography=np.array([[1, 0, amount], [0, 1, 0], [0, 0, 1]], float))
                return nuisances.Looks(still, moved)

            return draw

        monkeypatch.setattr(nuisances, "draw_motion", lambda *_: "still")
        found = {}
        for amount in (0.0, 16.0):
            monkeypatch.setattr(nuisances, "draw_looks", shifted(amount))
            found[amount] = next(p for p in map(SurveillanceWorld(root).sample, range(50)) if p.kind == "appear")
        still, moved = found[0.0], found[16.0]
        assert still.seed == moved.seed
        x, y, w, h = still.boxes_after[0]
        assert 0 < x and x + w < 620, "choose a seed whose object is clear of the edge"
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
    def test_each_look_shows(self, change, at_least):
        canvas = np.random.default_rng(0).integers(60, 160, (120, 160, 3), dtype=np.uint8)
        canvas = cv2.GaussianBlur(canvas, (0, 0), 3) + np.uint8([40, 0, 20])
        plain = nuisances.Look(homography=np.eye(3), noise=0.0, quality=95)
        changed = nuisances.Look(**{**plain.__dict__, **change})
        frames = [nuisances.finish(canvas, look, (160, 120)).astype(int) for look in (plain, changed)]
        assert np.abs(frames[0] - frames[1]).mean() > at_least

    def test_a_grey_frame_has_no_colour(self):
        canvas = np.random.default_rng(0).integers(0, 255, (64, 64, 3), dtype=np.uint8)
        frame = nuisances.finish(canvas, nuisances.Look(homography=np.eye(3), grey=True), (64, 64)).astype(int)
        assert np.ptp(frame, axis=2).max() <= 2


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

    def test_what_the_frame_cuts_off_is_missing_from_the_visible_alpha(self):
        _, (cut,) = render(np.zeros((60, 60, 3), np.uint8), [self.layer(55, 20, 200)])
        assert cut.visible.sum() == pytest.approx(cut.total / 2, rel=0.05)

    def test_the_background_is_left_alone(self):
        background = np.full((60, 60, 3), 100, np.uint8)
        render(background, [self.layer(20, 20, 200)])
        assert (background == 100).all()


class TestPlaces:
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
        assert phrase in places.frame_places(box, 640, 400, share=0.2)

    def test_left_and_right_are_never_both_said(self):
        for x in range(0, 600, 10):
            found = " ".join(places.frame_places((x, 100, 40, 80), 640, 400, share=0.05))
            assert not ("left" in found and "right" in found)

    def test_a_landmark_is_named_only_beside_it_and_only_if_there_is_one(self):
        fence = ("the fence", (100.0, 100.0, 80.0, 60.0))
        near, far = (190.0, 90.0, 20.0, 60.0), (500.0, 90.0, 20.0, 60.0)
        assert places.landmark_places(near, [fence]) == ["by the fence"]
        assert places.landmark_places(far, [fence]) == []
        assert places.landmark_places(near, [fence, fence]) == []

    def test_a_small_step_and_a_large_one_are_told_apart(self):
        start = (300.0, 100.0, 40.0, 80.0)
        assert places.directions(start, (320.0, 100.0, 40.0, 80.0), 640, 30, 30) == ["slightly to the right"]
        assert places.directions(start, (100.0, 100.0, 40.0, 80.0), 640, 30, 30) == ["to the left"]
        assert places.directions(start, (300.0, 180.0, 60.0, 120.0), 640, 30, 45)[0] == "closer"
        assert places.directions(start, start, 640, 30, 30) == []


class TestRooms:
    def test_a_room_has_a_floor_in_front_of_its_wall_and_people_of_a_sensible_size(self):
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
            assert plate.picture.shape == (height, width, 3) and plate.picture.dtype == np.uint8
            _, floor, allowed = plate.ground[0]
            assert "vehicle" not in allowed
            assert floor[:, 1].min() >= 0.1 * height
            (row0, size0), (row1, size1) = plate.person_px
            assert row0 < row1 and 10 < size0 < size1, seed


class TestVariation:
    def test_the_same_seed_looks_the_same_and_another_one_does_not(self):
        pixels = np.zeros((60, 40, 4), np.uint8)
        cv2.ellipse(pixels, (20, 30), (15, 25), 0, 0, 360, (180, 40, 40, 255), -1)
        first, again, other = varied(pixels, 1), varied(pixels, 1), varied(pixels, 2)
        assert first.shape == pixels.shape
        np.testing.assert_array_equal(first, again)
        assert np.abs(first.astype(int) - other).mean() > 1
        inside = first[20:40, 14:26]
        assert (inside[..., 3] == 255).all()
        assert (inside[..., 0] > inside[..., 1] + 60).all(), "red stays red"

    def test_grey_cloth_may_be_light_and_what_has_a_hue_stays_as_it_is(self):
        pixels = np.full((40, 40, 4), 255, np.uint8)
        pixels[:20, :, :3], pixels[20:, :, :3] = 64, (180, 40, 40)
        ratios = []
        for seed in range(12):
            plain, cloth = varied(pixels, seed).astype(float), varied(pixels, seed, cloth="grey").astype(float)
            np.testing.assert_allclose(cloth[25:], plain[25:], atol=1)
            ratios.append(cloth[:15, :, :3].mean() / plain[:15, :, :3].mean())
        assert min(ratios) >= 0.99 and max(ratios) > 1.4 and max(ratios) < 2
        np.testing.assert_array_equal(varied(pixels, 3, cloth="black"), varied(pixels, 3))

    def test_a_repainted_car_gets_the_paint_that_its_new_name_says_and_keeps_its_tyres(self):
        white = np.full((20, 40, 4), 255, np.uint8)
        white[:10, :, :3], white[10:, :, :3] = 230, 30
        painted = {name: pixels for pixels, name in (repainted(white, "white", seed) for seed in range(200))}
        assert set(painted) == {"white", "light blue", "beige"}
        np.testing.assert_array_equal(painted["white"], white)
        red, green, blue = painted["light blue"][0, 0, :3].astype(int)
        assert red < green <= blue and blue == 230
        assert (painted["beige"][0, 0, :3].astype(int) @ [1, 0, -1]) > 10
        assert painted["light blue"][15, 0, :3].max() <= 30
        dark = np.zeros((20, 40, 4), np.uint8)
        dark[..., 0], dark[10:, :, 1:3] = 200, 20
        names = {repainted(dark, "red", seed)[1] for seed in range(40)}
        assert names == {"red", "dark red"}
        assert all(repainted(dark, colour, seed)[1] == colour for colour in ("black", "yellow") for seed in range(20))


def test_white_paint_is_bright_and_black_cloth_is_black_in_a_clear_frame():
    """The sprites as they were rendered are dim and flat: 0.58 of full scale, and 0.12."""
    background = np.full((400, 640, 3), 107, np.uint8)
    background[:40], background[-40:] = 235, 12
    white, black = [], []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        light = read_light(background, None, rng)
        tone = exposed(light, 0.42, False, rng)
        at = lambda level: tone.lift + float(np.mean(tone.gain)) * level**tone.gamma
        white.append(at(0.58))
        black.append(at(0.12))
    assert 0.6 < np.median(white) < 0.95 and max(black) < 0.2 and np.median(black) < 0.11

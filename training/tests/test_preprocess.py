"""From frames to cache entries: the resampler, region crops, shards."""

import argparse
import json

import numpy as np
import pytest

from training.contract import Pair
from training.data.cache import Maps, frame_size, layout, pair_entry, write_shard
from training.data.preprocess import CROP_MARGIN, CROP_MIN_SIDE, crop_square, resize, resize_by_area
from training.data.regions import JITTER, REGIONS, changed_places, choose_regions, iou
from training.data.shards import made_with


def noise(height: int, width: int) -> np.ndarray:
    return np.random.default_rng(0).integers(0, 256, (height, width, 3), dtype=np.uint8)


def triangle_weights(source: int, target: int, start: float, extent: float) -> np.ndarray:
    """[target,source] of an antialiased triangle filter, from its definition."""
    scale = extent / target
    support = max(scale, 1.0)
    centres = start + (np.arange(target) + 0.5) * scale
    distance = np.abs(np.arange(source) + 0.5 - centres[:, None]) / support
    # Pillow reads only the pixels whose centres lie within the support.
    weights = np.clip(1 - distance, 0, None)
    return weights / weights.sum(axis=1, keepdims=True)


class TestResize:
    @pytest.mark.parametrize(
        "box", [None, (0, 0, 90, 60), (10.3, 5.7, 40.25, 33.5), (61.5, 20, 28.5, 28.5), (3.2, 4.1, 9.9, 9.9)]
    )
    def test_equals_the_triangle_filter_in_float_to_one_grey_level(self, box):
        picture = noise(60, 90)
        x, y, width, height = box or (0, 0, 90, 60)
        rows, columns = triangle_weights(60, 16, y, height), triangle_weights(90, 24, x, width)
        expected = np.einsum("ih,hwc,jw->cij", rows, picture / 255, columns)
        assert np.abs(resize(picture, 24, 16, box) - expected).max() <= 1 / 255

    def test_gives_float32_channels_first_in_0_to_1(self):
        resized = resize(np.full((30, 40, 3), (255, 0, 51), np.uint8), 8, 6)
        assert resized.dtype == np.float32 and resized.shape == (3, 6, 8)
        assert np.allclose(resized.reshape(3, -1).T, [1, 0, 0.2])

    def test_box_may_pass_the_edge_by_a_rounding_error_only(self):
        picture = noise(40, 40)
        assert np.array_equal(
            resize(picture, 16, 16, (10, 10, 30 + 1e-9, 30)), resize(picture, 16, 16, (10, 10, 30, 30))
        )
        with pytest.raises(ValueError):
            resize(picture, 16, 16, (10, 10, 31, 30))

    def test_float_images_are_refused(self):
        with pytest.raises(ValueError, match=r"expected uint8 \[h,w,3\], got float64 \[4, 4, 3\]"):
            resize(np.zeros((4, 4, 3)), 2, 2)


class TestGlanceBox:
    def test_is_a_square_around_the_centre_with_margin(self):
        assert crop_square((300, 100, 40, 100), 640, 480) == pytest.approx(
            (320 - 50 * CROP_MARGIN, 150 - 50 * CROP_MARGIN, 100 * CROP_MARGIN, 100 * CROP_MARGIN)
        )

    def test_of_a_tiny_object_has_the_smallest_side(self):
        x, y, width, height = crop_square((200, 200, 4, 6), 1280, 720)
        assert width == height == CROP_MIN_SIDE * 1280
        assert (x + width / 2, y + height / 2) == pytest.approx((202, 203))

    def test_is_shifted_into_the_frame(self):
        x, y, side, _ = crop_square((600, -20, 60, 60), 640, 480)
        assert x + side == pytest.approx(640) and y == 0 and side == pytest.approx(81)

    def test_stays_in_the_frame_and_covers_as_much_of_the_object_as_possible(self):
        rng = np.random.default_rng(3)
        for _ in range(300):
            w, h = rng.integers(64, 700, 2)
            box = (rng.uniform(0, w), rng.uniform(0, h), rng.uniform(1, w), rng.uniform(1, h))
            x, y, side, other = crop_square(box, int(w), int(h))
            assert side == other and x >= 0 and y >= 0 and x + side <= w + 1e-6 and y + side <= h + 1e-6
            if max(box[2:]) * CROP_MARGIN <= min(w, h) and box[0] + box[2] <= w and box[1] + box[3] <= h:
                assert x <= box[0] + 1e-6 and x + side >= box[0] + box[2] - 1e-6
                assert y <= box[1] + 1e-6 and y + side >= box[1] + box[3] - 1e-6


class TestResizeByArea:
    def test_cells_are_exact_means_when_sizes_divide(self):
        values = np.arange(24.0).reshape(4, 6)
        assert np.allclose(resize_by_area(values, 3, 2), values.reshape(2, 2, 3, 2).mean(axis=(1, 3)))

    @pytest.mark.parametrize("size", [(80, 60), (80, 45), (20, 20)])
    def test_the_overall_mean_is_kept_for_any_ratio(self, size):
        values = np.random.default_rng(0).random(size[::-1])
        resized = resize_by_area(values, 48, 32)
        assert resized.shape == (32, 48)
        assert resized.mean() == pytest.approx(values.mean(), rel=1e-6)
        assert 0 <= resized.min() and resized.max() <= 1 + 1e-6


def thing(before=None, after=None, noun="car", hypernym="vehicle") -> dict:
    action = "moved" if before and after else "disappeared" if before else "appeared"
    return {
        "noun": noun,
        "hypernym": hypernym,
        "colour": "red",
        "action": action,
        "box_before": before,
        "box_after": after,
    }


class TestRegions:
    def test_an_object_that_moved_a_little_is_one_place_and_far_is_two(self):
        assert changed_places([thing([10, 10, 20, 20], [15, 10, 20, 20])]) == [(10, 10, 25, 20)]
        assert changed_places([thing([10, 10, 20, 20], [200, 10, 30, 30])]) == [(200, 10, 30, 30), (10, 10, 20, 20)]

    def test_a_replacement_listed_as_two_objects_is_one_place(self):
        assert changed_places([thing(before=[10, 10, 20, 20]), thing(after=[12, 8, 20, 22])]) == [(10, 8, 22, 22)]

    def test_the_largest_are_kept_in_order_of_area(self):
        objects = [thing(after=[50 * i, 50, 10 + 5 * i, 20]) for i in range(5)]
        regions = choose_regions(objects, 640, 480, np.random.default_rng(0))
        assert len(regions) == REGIONS
        areas = [r.object_box[2] * r.object_box[3] for r in regions]
        assert areas == sorted(areas, reverse=True) and min(areas) > 20 * 20 * (1 - JITTER) ** 2

    def test_regions_describe_the_object_of_each_frame(self):
        objects = [thing(before=[100, 100, 60, 40]), thing(after=[105, 95, 20, 50], noun="man", hypernym="person")]
        region = max(
            choose_regions(objects, 640, 480, np.random.default_rng(1)),
            key=lambda r: iou(r.object_box, (100, 95, 60, 50)),
        )
        assert region.side == "both"
        assert (
            region.before == {"noun": "car", "hypernym": "vehicle", "colour": "red"} and region.after["noun"] == "man"
        )

    def test_of_two_objects_in_view_the_one_the_region_is_for_is_named(self):
        objects = [thing(after=[300, 100, 60, 160], noun="man"), thing(after=[325, 200, 30, 30], noun="bag")]
        regions = choose_regions(objects, 640, 480, np.random.default_rng(0))
        assert [region.after["noun"] for region in regions[:2]] == ["man", "bag"]

    def test_jittered_boxes_stay_near_the_object_and_in_the_frame(self):
        for seed in range(100):
            regions = choose_regions([thing(after=[600, 200, 50, 80])], 640, 480, np.random.default_rng(seed))
            near = max(regions, key=lambda r: iou(r.object_box, (600, 200, 40, 80)))
            assert iou(near.object_box, (600, 200, 40, 80)) > 0.4 and near.side == "after"
            for x, y, w, h in (near.object_box, near.crop):
                assert x >= 0 and y >= 0 and x + w <= 640 + 1e-6 and y + h <= 480 + 1e-6

    def test_unchanged_pairs_get_a_distractor_at_the_stated_rate(self):
        counts = [len(choose_regions([], 640, 480, np.random.default_rng(seed))) for seed in range(1000)]
        assert set(counts) == {0, 1}
        assert np.mean(counts) == pytest.approx(0.35, abs=0.05)


class FakeFeatures:
    """Means of blocks of pixels instead of a network."""

    coarse_dim, fine_dim = 3, 3

    def __call__(self, images):
        b, c, h, w = images.shape
        return tuple(images.reshape(b, c, h // s, s, w // s, s).mean(axis=(3, 5)) for s in (16, 8))


class FakeWorld:
    def __init__(self):
        self.rendered = []

    def sample(self, seed: int) -> Pair:
        self.rendered.append(seed)
        before = np.full((360, 640, 3), 100, np.uint8)
        after, mask = before.copy(), np.zeros((45, 80), np.float32)
        objects = []
        if seed % 2:
            after[160:240, 320:400] = 200
            mask[20:30, 40:50] = 1
            objects = [thing(after=[np.float64(320), 160, 80, 80])]
        return Pair(
            before, after, "appear" if seed % 2 else "none", objects, mask * 0, mask, [], ["a", "b", "c"], "p", [], seed
        )


class TestCache:
    def test_an_entry_holds_both_frames_crops_and_masks(self):
        entry, meta = pair_entry(FakeWorld().sample(7), FakeFeatures(), (384, 256))
        assert {name: array.shape for name, array in entry.items()} == layout(3, 3, (384, 256))
        assert np.allclose(entry["coarse"][0], 100 / 255, atol=1e-6)
        assert layout(3, 3, (288, 192))["fine"] == (2, 3, 24, 36)
        assert entry["fine"][1, 0, 15, 25] == pytest.approx(200 / 255)
        assert entry["masks"][0].sum() == 0 and entry["masks"][1].mean() == pytest.approx(100 / (45 * 80), rel=1e-5)
        count = int(entry["glance_mask"].sum())
        assert count == len(meta["glances"]) and not entry["glance_coarse"][count:].any()
        shown = [glance["side"] for glance in meta["glances"]].index("after")
        assert entry["glance_coarse"][shown, 1].max() == pytest.approx(200 / 255, abs=1e-4)
        assert entry["glance_coarse"][shown, 0].max() == pytest.approx(100 / 255, abs=1e-4)
        x, y, width, height = entry["glance_object_box"][shown] * [640, 360, 640, 360]
        assert iou((x, y, width, height), (320, 160, 80, 80)) > 0.5

    def test_finished_shards_are_kept_and_the_same_seeds_give_the_same_bytes(self, tmp_path):
        world = FakeWorld()
        assert write_shard(world, FakeFeatures(), range(4, 8), tmp_path / "a", (288, 192))
        assert not write_shard(world, FakeFeatures(), range(4, 8), tmp_path / "a", (288, 192))
        assert world.rendered == [4, 5, 6, 7]
        write_shard(FakeWorld(), FakeFeatures(), range(4, 8), tmp_path / "b", (288, 192))
        shard = tmp_path / "a" / "00000004-00000008"
        names = sorted(path.name for path in shard.iterdir())
        assert names == sorted([f"{name}.npy" for name in layout(3, 3, (288, 192))] + ["meta.jsonl"])
        for name in names:
            assert (shard / name).read_bytes() == (tmp_path / "b" / shard.name / name).read_bytes()
        assert np.load(shard / "coarse.npy", mmap_mode="r").dtype == np.float16
        metas = [json.loads(line) for line in (shard / "meta.jsonl").read_text().splitlines()]
        assert [meta["seed"] for meta in metas] == [4, 5, 6, 7]
        assert metas[1]["objects"][0]["box_after"] == [320, 160, 80, 80]

    def test_a_cache_refuses_shards_made_with_something_else(self, tmp_path):
        for name in ("one.onnx", "other.onnx"):
            (tmp_path / name).write_text(name)
        made = made_with("surveillance", "train", (288, 192), tmp_path / "one.onnx")
        out, world = tmp_path / "cache", FakeWorld()
        assert write_shard(world, FakeFeatures(), range(2), out, (288, 192), made=made)
        assert not write_shard(world, FakeFeatures(), range(2), out, (288, 192), made=made)
        assert json.loads((out / "00000000-00000002" / "made.json").read_text()) == made
        others = {
            "features": {"features": tmp_path / "other.onnx"},
            "maps": {"maps": tmp_path / "other.onnx"},
            "look": {"full_frame": (384, 256)},
            "split": {"split": "heldout"},
            "world": {"world": "clevr"},
        }
        for name, change in others.items():
            other = made_with(
                **{
                    "world": "surveillance",
                    "split": "train",
                    "full_frame": (288, 192),
                    "features": tmp_path / "one.onnx",
                    **change,
                }
            )
            for seeds in (range(2), range(2, 4)):  # the shard that is there, and another of the folder
                with pytest.raises(
                    SystemExit, match=f"00000000-00000002: was made with {name} .*, expected .*; give another --out"
                ):
                    write_shard(world, FakeFeatures(), seeds, out, (288, 192), made=other)
        assert [p.name for p in out.iterdir()] == ["00000000-00000002"]

    def test_a_shard_without_made_json_stays(self, tmp_path):
        (tmp_path / "one.onnx").write_text("one")
        assert write_shard(FakeWorld(), FakeFeatures(), range(2), tmp_path, (288, 192))
        made = made_with("surveillance", "train", (288, 192), tmp_path / "one.onnx")
        assert not write_shard(FakeWorld(), FakeFeatures(), range(2), tmp_path, (288, 192), made=made)

    def test_a_shard_that_fails_half_way_leaves_nothing(self, tmp_path):
        world = FakeWorld()
        world.sample = lambda seed: 1 / 0
        with pytest.raises(ZeroDivisionError):
            write_shard(world, FakeFeatures(), range(2), tmp_path, (288, 192))
        assert list(tmp_path.iterdir()) == []

    def test_with_maps_crops_lie_where_these_respond_and_at_the_true_boxes_if_none_does(self):
        class FakeMaps(Maps):
            def __init__(self, *boxes):
                self.boxes = list(boxes)

            def __call__(self, coarse, fine):
                return self.boxes

        pair = FakeWorld().sample(1)  # what changed fills 320 to 400, 160 to 240 of 640x360
        entry, meta = pair_entry(
            pair, FakeFeatures(), (384, 256), FakeMaps((0.55, 0.5, 0.05, 0.1), (0.0, 0.0, 0.1, 0.1))
        )
        np.testing.assert_allclose(
            entry["glance_object_box"][:2], [(0.55, 0.5, 0.05, 0.1), (0.0, 0.0, 0.1, 0.1)], atol=1e-6
        )
        assert entry["glance_mask"].tolist() == [1, 1, 0]
        assert [glance["side"] for glance in meta["glances"]] == ["after", "none"]
        silent, _ = pair_entry(pair, FakeFeatures(), (384, 256), FakeMaps())
        truth, _ = pair_entry(pair, FakeFeatures(), (384, 256))
        np.testing.assert_array_equal(silent["glance_object_box"], truth["glance_object_box"])

    def test_frames_of_different_size_are_refused(self):
        pair = FakeWorld().sample(0)
        pair.after = pair.after[:-8]
        with pytest.raises(ValueError, match="frames differ in shape"):
            pair_entry(pair, FakeFeatures(), (384, 256))


def test_the_size_of_the_full_frame_is_read_or_refused():
    assert frame_size("288x192") == (288, 192)
    for text in ("288", "288x190", "0x16", "axb", "-16x16"):
        with pytest.raises(argparse.ArgumentTypeError, match="multiples of 16"):
            frame_size(text)

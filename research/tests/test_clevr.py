"""The CLEVR world: ray intersections, light, and the ground truth of pairs.

The images are few or sparsely sampled, because a full image takes seconds on a CPU.
"""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("numba")

from research.clevr import grammar, pair_source, rules
from research.clevr.light import GROUND, LAMP_WATT, LAMPS, SUN, SUN_AT, irradiance
from research.clevr.optics import FAR, as_array, clear_share, ground, nearest
from research.clevr.render import object_map, pixel_filter, views_of
from research.clevr.rules import SceneObject

torch.set_num_threads(1)


def scenes_with(change: str, count: int) -> list[rules.ChangedScene]:
    return [rules.draw_changed_scene(change, 3 + i % 8, np.random.default_rng([i, 7])) for i in range(count)]


def view_of(scene: rules.Scene):
    return views_of([scene], rules.EYE[None], np.zeros((1, 3, 3)))


def solids_of(views):
    """The objects of the only view, as the compiled functions take them."""
    return [part[0] for part in views.solids()]


def hit(views, origin, direction):
    return nearest(*solids_of(views), origin, direction)


@pytest.mark.parametrize("shape", rules.SHAPES)
def test_rays_from_the_side_and_from_above_hit_each_solid_at_its_surface(shape):
    views = view_of([SceneObject("large", "red", "metal", shape, 1.0, -1.0, 0.0)])
    for origin, direction, distance, slot, normal in (
        ((6.0, -1.0, 0.7), (-1.0, 0.0, 0.0), 6.0 - 1.7, 0, (1.0, 0.0, 0.0)),
        ((1.0, -1.0, 9.0), (0.0, 0.0, -1.0), 9.0 - 1.4, 0, (0.0, 0.0, 1.0)),
        ((1.0, -0.2, 9.0), (0.0, 0.0, -1.0), 9.0, -1, (0.0, 0.0, 1.0)),  # beside the object
    ):
        found_distance, found_slot, found_normal = hit(views, origin, direction)
        assert found_slot == slot and found_distance == pytest.approx(distance, abs=2e-3)
        assert found_normal == pytest.approx(normal, abs=1e-2)


def test_a_rotated_cube_is_hit_at_its_rounded_edge():
    views = view_of([SceneObject("large", "red", "metal", "cube", 0.0, 0.0, np.pi / 4)])
    reach = 5.0 - hit(views, (5.0, 0.0, 0.5), (-1.0, 0.0, 0.0))[0]
    assert 0.7 * 1.3 < reach < 0.7 * np.sqrt(2)  # the edge, rounded


def test_horizontal_rays_hit_the_backdrop_uphill_and_nothing_downhill():
    origin = (0.0, 0.0, 2.0)
    distance, normal = ground(origin, (-0.903, 0.429, 0.0))
    assert 13.3 < distance < 15.1  # where the profile is 2 high
    assert np.dot(normal, (-0.903, 0.429, 0.0)) < 0
    assert ground(origin, (0.903, -0.429, 0.0))[0] == FAR


def test_a_lamp_is_hidden_below_an_object_visible_far_from_it_and_partly_visible_between():
    views = view_of([SceneObject("large", "red", "rubber", "sphere", 0.0, 0.0, 0.0)])
    solids, seeds = solids_of(views), np.arange(16) / 16
    lamp_share = lambda x: np.mean([clear_share(*solids, (x, 0.0, 0.0), (0.0, 0.0, 8.0), 0.5, seed) for seed in seeds])
    share = np.array([lamp_share(x) for x in np.linspace(0.0, 3.0, 60)])
    assert share[0] == 0 and share[-1] == 1
    assert ((share > 0.2) & (share < 0.8)).any()
    assert (np.diff(share) > -0.05).all()


def test_irradiance_at_the_origin_follows_from_the_powers_of_the_lamps():
    views = view_of([])
    lamps = as_array(views.lamps)[0]
    solids, above = solids_of(views), (0.0, 0.0, 1.0)
    got = [irradiance(*solids, lamps, index, (0.0, 0.0, 0.0), above, 0.0, False) for index in range(len(lamps))]
    for index, lamp in enumerate(LAMPS):
        squared = lamp @ lamp
        assert got[index] == pytest.approx(LAMP_WATT[index] / 4 * lamp[2] / np.sqrt(squared) / squared, rel=1e-4)
    assert got[3] == pytest.approx(SUN * SUN_AT[2] / np.linalg.norm(SUN_AT), rel=1e-4)
    assert GROUND == 0.8


def test_the_pixel_filter_preserves_the_total_light():
    light = torch.zeros(1, 320, 480, 3)
    light[0, 100, 200] = 1
    out = pixel_filter(light)
    assert out.sum().item() == pytest.approx(3, rel=1e-5)
    assert out[0, 100, 200, 0] < 1 and out[0, 99, 200, 0] == out[0, 100, 201, 0] > 0
    assert torch.allclose(pixel_filter(torch.full((1, 4, 5, 3), 0.25)), torch.full((1, 4, 5, 3), 0.25))


@pytest.fixture(scope="module")
def source() -> pair_source.ClevrPairSource:
    return pair_source.ClevrPairSource()


@pytest.fixture(scope="module")
def changed_scenes(source) -> list[rules.ChangedScene]:
    return source.draw_scenes(list(range(6)))


@pytest.fixture(scope="module")
def rendered(source):
    return source.sample_batch([2, 3])


def test_a_seed_gives_the_same_pair_alone_and_in_a_batch(source, rendered):
    alone, batched = source.sample(2), rendered[0]
    assert alone.captions == batched.captions and alone.objects == batched.objects
    assert np.array_equal(alone.mask_before, batched.mask_before) and np.array_equal(
        alone.mask_after, batched.mask_after
    )
    for side in ("before", "after"):
        assert np.abs(getattr(alone, side).astype(int) - getattr(batched, side)).max() <= 1


def test_a_changed_and_a_distractor_pair_share_their_first_frame(rendered):
    changed, distractor = rendered
    assert np.array_equal(changed.before, distractor.before)
    assert not np.array_equal(changed.after, distractor.after)
    assert changed.kind != "none" and changed.objects and changed.captions
    assert (
        distractor.kind == "none"
        and distractor.objects == []
        and not distractor.mask_before.any()
        and not distractor.mask_after.any()
    )
    assert {grammar.parse(text).change for text in distractor.captions} == {None}
    assert all(
        p.nuisances == ["camera_moved"] and p.before.shape == (320, 480, 3) and p.before.dtype == np.uint8
        for p in rendered
    )


def test_splits_differ_and_an_unknown_split_is_refused(changed_scenes):
    other = pair_source.ClevrPairSource(split="heldout").draw_scenes([0])[0]
    assert other.before != changed_scenes[0].before
    with pytest.raises(ValueError, match="'dev'.*train, heldout"):
        pair_source.ClevrPairSource(split="dev")


def test_every_object_shows_enough_pixels_in_all_three_views(changed_scenes):
    for changed in changed_scenes[:2]:
        slots = object_map(pair_source.views_of_scenes([(changed, w) for w in range(3)])).numpy()
        for which, seen in enumerate(slots):
            things = changed.after if which == pair_source.CHANGED else changed.before
            assert min((seen == k).sum() for k in range(len(things))) >= 200
            assert seen.max() == len(things) - 1


@pytest.mark.parametrize("change", rules.CHANGES)
def test_boxes_and_masks_cover_the_visible_changed_object(change):
    changed = scenes_with(change, 2)[1]
    before, after = object_map(
        pair_source.views_of_scenes([(changed, pair_source.DEFAULT), (changed, pair_source.CHANGED)])
    ).numpy()
    blank = np.zeros((320, 480, 3), np.uint8)
    pair = pair_source.changed_pair(0, changed, blank, before, blank, after, np.random.default_rng(0))
    assert pair.kind == {"add": "appear", "drop": "disappear", "move": "move"}.get(change, "replace")
    assert pair.mask_before.any() == (change != "add") and pair.mask_after.any() == (change != "drop")
    assert len(pair.boxes_before) == (change != "add") and len(pair.boxes_after) == (change != "drop")
    for boxes, mask, seen, index in (
        (pair.boxes_before, pair.mask_before, before, changed.index_before),
        (pair.boxes_after, pair.mask_after, after, changed.index_after),
    ):
        if boxes:
            x, y, w, h = map(int, boxes[0])
            assert (seen[y : y + h, x : x + w] == index).sum() == (seen == index).sum() == round(mask.sum() * 64)
    assert {obj["change"] for obj in pair.objects} == {change}
    if change == "color":
        old, new = pair.objects
        assert old["box_before"] and new["box_after"] and old["colour"] != new["colour"]

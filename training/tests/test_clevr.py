"""The CLEVR twin: rules, captions, rays, and the truth of a pair. Few and coarse pictures: a full one costs seconds on a CPU."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from training.worlds.clevr import grammar, rules
from training.worlds.clevr import scene as clevr
from training.worlds.clevr.light import GROUND, LAMP_WATT, LAMPS, SUN, SUN_AT, irradiance
from training.worlds.clevr.optics import FAR, clear_share, ground, nearest, unit
from training.worlds.clevr.render import object_map, pixel_filter, views_of
from training.worlds.clevr.rules import Thing
from training.worlds.clevr.stats import CORNERS, MEAN_COLOUR, corner_levels, look, mean_colours

torch.set_num_threads(1)
BRIGHTNESS_TOLERANCE = 8  # levels of 255


def drafts_of(change: str, count: int) -> list[rules.Draft]:
    return [rules.draw(change, 3 + seed % 8, np.random.default_rng([seed, 7])) for seed in range(count)]


def view_of(things: list[Thing], eye=tuple(rules.EYE)):
    return views_of([things], np.array([eye]), np.zeros((1, 3, 3)))


def facts_of_draft(draft: rules.Draft):
    """Scene the captions speak of, index of their subject, all claims."""
    added = draft.change == "add"
    scene, index = (draft.after, draft.changed_after) if added else (draft.before, draft.changed_before)
    new = None if draft.changed_after is None else draft.after[draft.changed_after]
    came = {"color": new and new.colour, "material": new and new.material}.get(draft.change)
    return scene, index, grammar.facts_of(scene, index, draft.change, came)


# --------------------------------------------------------------------------------------------------------------------- rules


@pytest.mark.parametrize("change", rules.CHANGES)
def test_objects_keep_their_distances_before_and_after(change):
    behind = -rules.EYE[:2] / np.hypot(*rules.EYE[:2])  # away from the camera before its jitter
    right = np.array([-behind[1], behind[0]]) * -1
    for draft in drafts_of(change, 16):
        for scene in (draft.before, draft.after):
            assert all(abs(t.x) <= 3 and abs(t.y) <= 3 for t in scene)
            for i, a in enumerate(scene):
                for b in scene[:i]:
                    step = np.array([a.x - b.x, a.y - b.y])
                    assert np.hypot(*step) - a.radius - b.radius >= 0.25
                    assert abs(step @ behind) >= 0.4 - 1e-3 and abs(step @ right) >= 0.4 - 1e-3


def test_exactly_the_named_property_of_one_object_changes():
    for change, fields in (("color", {"colour"}), ("material", {"material"}), ("move", {"x", "y"})):
        for draft in drafts_of(change, 10):
            for i, (old, new) in enumerate(zip(draft.before, draft.after, strict=True)):
                differ = {f.name for f in dataclasses.fields(Thing) if getattr(old, f.name) != getattr(new, f.name)}
                assert differ == (fields if i == draft.changed_before else set())
            if change == "move":
                old, new = draft.before[draft.changed_before], draft.after[draft.changed_after]
                assert np.hypot(old.x - new.x, old.y - new.y) >= 0.4
    for draft in drafts_of("add", 10):
        assert draft.after[:-1] == draft.before and draft.changed_after == len(draft.before)
    for draft in drafts_of("drop", 10):
        assert draft.before[: draft.changed_before] + draft.before[draft.changed_before + 1 :] == draft.after


def test_an_unknown_change_is_named():
    with pytest.raises(ValueError, match="'paint'.*color, material, add, drop, move"):
        rules.apply_change("paint", drafts_of("drop", 1)[0].before, np.random.default_rng(0))


# ------------------------------------------------------------------------------------------------------------------- grammar


def test_the_tables_hold_exactly_the_72_words():
    phrases = [w for table in grammar.SYNONYMS.values() for words in table.values() for w in words]
    phrases += [*grammar.ANY_SHAPE, *grammar.BECOMES, *grammar.NO_CHANGE, "that is", "the"]
    phrases += [p for table in (grammar.RELATIONS, grammar.PREDICATES) for ps in table.values() for p in ps]
    assert {word for phrase in phrases for word in phrase.split()} == grammar.WORDS
    assert len(grammar.WORDS) == 72


@pytest.mark.parametrize("change", rules.CHANGES)
def test_every_claim_reads_back_and_means_the_changed_object_alone(change):
    rng = np.random.default_rng(5)
    for draft in drafts_of(change, 6):
        scene, index, (plain, relational) = facts_of_draft(draft)
        for fact in [*plain, *relational]:
            text = grammar.write(fact, rng)
            assert grammar.parse(text) == fact, text
            assert set(text.split()) <= grammar.WORDS and len(text.split()) <= grammar.MAX_WORDS
        for fact in plain:
            assert [i for i, t in enumerate(scene) if t.has(dict(fact.target))] == [index]
        for fact in relational:
            (anchor,) = [t for t in scene if t.has(dict(fact.anchor))]
            step = np.array([scene[index].x - anchor.x, scene[index].y - anchor.y])
            away = -rules.EYE[:2] / np.hypot(*rules.EYE[:2])
            rightwards = np.array([away[1], -away[0]])
            towards = {"behind": away, "front": -away, "right": rightwards, "left": -rightwards}[fact.relation]
            assert step @ towards > 0.2 - 1e-3


def test_twins_of_the_changed_object_are_told_apart_by_a_relation_or_not_at_all():
    twin = dict(size="small", colour="red", material="metal", shape="cube", turn=0.0)
    anchor = Thing("large", "blue", "rubber", "sphere", 0.0, 0.0, 0.0)
    right = rules.DIRECTIONS["right"] * 2
    scene = [Thing(x=right[0], y=right[1], **twin), Thing(x=-right[0], y=-right[1], **twin), anchor]
    plain, relational = grammar.facts_of(scene, 0, "drop", None)
    assert plain == []
    assert {fact.relation for fact in relational} == {"right"}
    same_side = [scene[0], Thing(x=right[0] * 1.4, y=right[1] * 1.4, **twin), anchor]
    assert grammar.facts_of(same_side, 0, "drop", None) == ([], [])


@pytest.mark.parametrize(
    "text", ["a red car has appeared", "the red ball changed to", "the thing left of moved", "nothing", ""]
)
def test_a_caption_outside_the_grammar_is_refused(text):
    with pytest.raises(ValueError, match="no caption of this grammar"):
        grammar.parse(text)


def test_every_no_change_wording_reads_back_as_no_change():
    assert {grammar.parse(text).change for text in grammar.NO_CHANGE} == {None}


# ---------------------------------------------------------------------------------------------------------------------- rays


def hit(views, origin, direction):
    return nearest(
        views,
        torch.tensor([0]),
        torch.tensor([origin], dtype=torch.float32),
        unit(torch.tensor([direction], dtype=torch.float32)),
    )


@pytest.mark.parametrize("shape", rules.SHAPES)
def test_a_ray_from_the_side_and_one_from_above_meet_each_solid_at_its_surface(shape):
    views = view_of([Thing("large", "red", "metal", shape, 1.0, -1.0, 0.0)])
    side = hit(views, (6.0, -1.0, 0.7), (-1.0, 0.0, 0.0))
    top = hit(views, (1.0, -1.0, 9.0), (0.0, 0.0, -1.0))
    beside = hit(views, (1.0, -0.2, 9.0), (0.0, 0.0, -1.0))
    assert side.slot.item() == top.slot.item() == 0 and beside.slot.item() == -1
    assert side.distance.item() == pytest.approx(6.0 - 1.7, abs=2e-3)
    assert top.distance.item() == pytest.approx(9.0 - 1.4, abs=2e-3)
    assert beside.distance.item() == pytest.approx(9.0, abs=2e-3)
    assert torch.allclose(side.normal, torch.tensor([[1.0, 0.0, 0.0]]), atol=1e-2)
    assert torch.allclose(top.normal, torch.tensor([[0.0, 0.0, 1.0]]), atol=1e-2)


def test_a_turned_cube_shows_its_edge():
    views = view_of([Thing("large", "red", "metal", "cube", 0.0, 0.0, np.pi / 4)])
    reach = 5.0 - hit(views, (5.0, 0.0, 0.5), (-1.0, 0.0, 0.0)).distance.item()
    assert 0.7 * 1.3 < reach < 0.7 * np.sqrt(2)  # the edge, rounded


def test_the_backdrop_ends_rays_that_would_miss_the_plane():
    origin = torch.tensor([[0.0, 0.0, 2.0]])
    uphill = unit(torch.tensor([[-0.903, 0.429, 0.0]]))
    distance, normal = ground(origin, uphill)
    assert 13.3 < distance.item() < 15.1  # where the profile is 2 high
    assert (normal * uphill).sum() < 0
    assert ground(origin, -uphill)[0].item() == FAR


def test_a_lamp_is_hidden_below_an_object_and_free_far_from_it_and_half_seen_between():
    views = view_of([Thing("large", "red", "rubber", "sphere", 0.0, 0.0, 0.0)])
    lamp = torch.tensor([0.0, 0.0, 8.0])
    x = torch.linspace(0.0, 3.0, 60)
    points = torch.stack([x, torch.zeros_like(x), torch.zeros_like(x)], 1)
    n = len(x)
    share = clear_share(
        views, torch.zeros(n, dtype=torch.long), points, lamp.expand(n, 3), 0.5, torch.full((n,), 0.3), 64
    )
    assert share[0] == 0 and share[-1] == 1
    assert ((share > 0.2) & (share < 0.8)).any()
    assert (share[1:] - share[:-1] > -0.05).all()


def test_light_at_the_origin_is_what_the_lamps_powers_say():
    views = view_of([])
    got = irradiance(views, torch.tensor([0]), torch.zeros(1, 3), torch.tensor([[0.0, 0.0, 1.0]]), None)[0, :, 2]
    tint = [0.817, 1.0, 1.0]
    for index, lamp in enumerate(LAMPS):
        squared = lamp @ lamp
        assert got[index].item() == pytest.approx(
            LAMP_WATT[index] / 4 * tint[index] * lamp[2] / np.sqrt(squared) / squared, rel=1e-4
        )
    assert got[3].item() == pytest.approx(SUN * SUN_AT[2] / np.linalg.norm(SUN_AT), rel=1e-4)
    assert GROUND == 0.8


def test_the_pixel_filter_spreads_light_without_losing_any():
    light = torch.zeros(1, 320, 480, 3)
    light[0, 100, 200] = 1
    out = pixel_filter(light)
    assert out.sum().item() == pytest.approx(3, rel=1e-5)
    assert out[0, 100, 200, 0] < 1 and out[0, 99, 200, 0] == out[0, 100, 201, 0] > 0
    assert torch.allclose(pixel_filter(torch.full((1, 4, 5, 3), 0.25)), torch.full((1, 4, 5, 3), 0.25))


# --------------------------------------------------------------------------------------------------------------------- pairs


@pytest.fixture(scope="module")
def world() -> clevr.ClevrWorld:
    return clevr.ClevrWorld()


@pytest.fixture(scope="module")
def drafts(world) -> list[rules.Draft]:
    return world.drafts(list(range(6)))


@pytest.fixture(scope="module")
def rendered(world):
    return world.sample_batch([2, 3])


def test_the_same_seed_gives_the_same_pair_alone_and_in_a_batch(world, rendered):
    alone, together = world.sample(2), rendered[0]
    assert alone.captions == together.captions and alone.objects == together.objects
    assert np.array_equal(alone.mask_before, together.mask_before) and np.array_equal(
        alone.mask_after, together.mask_after
    )
    for side in ("before", "after"):
        assert np.abs(getattr(alone, side).astype(int) - getattr(together, side)).max() <= 1


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


def test_splits_differ_and_an_unknown_one_is_named(drafts):
    other = clevr.ClevrWorld(split="heldout").drafts([0])[0]
    assert other.before != drafts[0].before
    with pytest.raises(ValueError, match="'dev'.*train, heldout"):
        clevr.ClevrWorld(split="dev")


def test_every_object_shows_enough_pixels_in_all_three_views(drafts):
    for draft in drafts[:2]:
        slots = object_map(clevr.views_of_drafts([(draft, w) for w in range(3)], "cpu")).numpy()
        for which, seen in enumerate(slots):
            things = draft.after if which == clevr.CHANGED else draft.before
            assert min((seen == k).sum() for k in range(len(things))) >= 200
            assert seen.max() == len(things) - 1


@pytest.mark.parametrize("change", rules.CHANGES)
def test_boxes_and_masks_are_where_the_changed_object_is_seen(change):
    draft = drafts_of(change, 2)[1]
    before, after = object_map(clevr.views_of_drafts([(draft, clevr.DEFAULT), (draft, clevr.CHANGED)], "cpu")).numpy()
    blank = np.zeros((320, 480, 3), np.uint8)
    pair = clevr.changed_pair(0, draft, blank, before, blank, after, np.random.default_rng(0))
    assert pair.kind == {"add": "appear", "drop": "disappear", "move": "move"}.get(change, "replace")
    assert pair.mask_before.any() == (change != "add") and pair.mask_after.any() == (change != "drop")
    assert len(pair.boxes_before) == (change != "add") and len(pair.boxes_after) == (change != "drop")
    for boxes, mask, seen, index in (
        (pair.boxes_before, pair.mask_before, before, draft.changed_before),
        (pair.boxes_after, pair.mask_after, after, draft.changed_after),
    ):
        if boxes:
            x, y, w, h = map(int, boxes[0])
            assert (seen[y : y + h, x : x + w] == index).sum() == (seen == index).sum() == round(mask.sum() * 64)
    assert {thing["change"] for thing in pair.objects} == {change}
    if change == "color":
        old, new = pair.objects
        assert old["box_before"] and new["box_after"] and old["colour"] != new["colour"]


def test_brightness_and_colours_are_those_of_the_original(drafts):
    pictures, slots = look(drafts, 8)
    for name, level in corner_levels(pictures).items():
        assert level == pytest.approx(CORNERS[name], abs=BRIGHTNESS_TOLERANCE), name
    found = mean_colours(drafts, pictures, slots)
    errors = {
        m: np.mean([mean - MEAN_COLOUR[m][c] for (material, c), mean in found.items() if material == m])
        for m in MEAN_COLOUR
    }
    assert all(abs(error) < BRIGHTNESS_TOLERANCE for error in errors.values()), errors

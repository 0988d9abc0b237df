"""Scene rules and caption grammar of the CLEVR world."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from research.clevr import grammar, rules
from research.clevr.rules import SceneObject


def scenes_with(change: str, count: int) -> list[rules.ChangedScene]:
    return [rules.draw_changed_scene(change, 3 + i % 8, np.random.default_rng([i, 7])) for i in range(count)]


def claims_of_scene(changed: rules.ChangedScene):
    """The scene that captions describe, the index of their subject, and all claims."""
    added = changed.change == "add"
    scene, index = (changed.after, changed.index_after) if added else (changed.before, changed.index_before)
    new = None if changed.index_after is None else changed.after[changed.index_after]
    new_value = {"color": new and new.colour, "material": new and new.material}.get(changed.change)
    return scene, index, grammar.claims_of(scene, index, changed.change, new_value)


@pytest.mark.parametrize("change", rules.CHANGES)
def test_objects_keep_the_minimum_distances_before_and_after(change):
    behind = -rules.EYE[:2] / np.hypot(*rules.EYE[:2])  # away from the camera before its jitter
    right = np.array([-behind[1], behind[0]]) * -1
    for changed in scenes_with(change, 16):
        for scene in (changed.before, changed.after):
            assert all(abs(t.x) <= 3 and abs(t.y) <= 3 for t in scene)
            for i, a in enumerate(scene):
                for b in scene[:i]:
                    step = np.array([a.x - b.x, a.y - b.y])
                    assert np.hypot(*step) - a.radius - b.radius >= 0.25
                    assert abs(step @ behind) >= 0.4 - 1e-3 and abs(step @ right) >= 0.4 - 1e-3


def test_a_change_alters_only_its_property_of_one_object():
    for change, fields in (("color", {"colour"}), ("material", {"material"}), ("move", {"x", "y"})):
        for changed in scenes_with(change, 10):
            for i, (old, new) in enumerate(zip(changed.before, changed.after, strict=True)):
                differ = {
                    f.name for f in dataclasses.fields(SceneObject) if getattr(old, f.name) != getattr(new, f.name)
                }
                assert differ == (fields if i == changed.index_before else set())
            if change == "move":
                old, new = changed.before[changed.index_before], changed.after[changed.index_after]
                assert np.hypot(old.x - new.x, old.y - new.y) >= 0.4
    for changed in scenes_with("add", 10):
        assert changed.after[:-1] == changed.before and changed.index_after == len(changed.before)
    for changed in scenes_with("drop", 10):
        assert changed.before[: changed.index_before] + changed.before[changed.index_before + 1 :] == changed.after


def test_an_unknown_change_is_named():
    with pytest.raises(ValueError, match="'paint'.*color, material, add, drop, move"):
        rules.apply_change("paint", scenes_with("drop", 1)[0].before, np.random.default_rng(0))


def test_the_tables_contain_exactly_the_72_words_of_the_data_set():
    phrases = [w for table in grammar.SYNONYMS.values() for words in table.values() for w in words]
    phrases += [*grammar.ANY_SHAPE, *grammar.BECOMES, *grammar.NO_CHANGE, "that is", "the"]
    phrases += [p for table in (grammar.RELATIONS, grammar.PREDICATES) for ps in table.values() for p in ps]
    assert {word for phrase in phrases for word in phrase.split()} == grammar.WORDS
    assert len(grammar.WORDS) == 72


@pytest.mark.parametrize("change", rules.CHANGES)
def test_every_claim_is_parsed_back_and_refers_to_the_changed_object_only(change):
    rng = np.random.default_rng(5)
    for changed in scenes_with(change, 6):
        scene, index, (plain, relational) = claims_of_scene(changed)
        for claim in [*plain, *relational]:
            text = grammar.write(claim, rng)
            assert grammar.parse(text) == claim, text
            assert set(text.split()) <= grammar.WORDS and len(text.split()) <= grammar.MAX_WORDS
        for claim in plain:
            assert [i for i, t in enumerate(scene) if t.has(dict(claim.target))] == [index]
        for claim in relational:
            (anchor,) = [t for t in scene if t.has(dict(claim.anchor))]
            step = np.array([scene[index].x - anchor.x, scene[index].y - anchor.y])
            away = -rules.EYE[:2] / np.hypot(*rules.EYE[:2])
            rightwards = np.array([away[1], -away[0]])
            towards = {"behind": away, "front": -away, "right": rightwards, "left": -rightwards}[claim.relation]
            assert step @ towards > 0.2 - 1e-3


def test_two_equal_objects_can_only_be_distinguished_by_a_relation():
    attributes = dict(size="small", colour="red", material="metal", shape="cube", turn=0.0)
    anchor = SceneObject("large", "blue", "rubber", "sphere", 0.0, 0.0, 0.0)
    right = rules.DIRECTIONS["right"] * 2
    scene = [
        SceneObject(x=right[0], y=right[1], **attributes),
        SceneObject(x=-right[0], y=-right[1], **attributes),
        anchor,
    ]
    plain, relational = grammar.claims_of(scene, 0, "drop", None)
    assert plain == []
    assert {claim.relation for claim in relational} == {"right"}
    same_side = [scene[0], SceneObject(x=right[0] * 1.4, y=right[1] * 1.4, **attributes), anchor]
    assert grammar.claims_of(same_side, 0, "drop", None) == ([], [])


@pytest.mark.parametrize(
    "text", ["a red car has appeared", "the red ball changed to", "the thing left of moved", "nothing", ""]
)
def test_a_caption_outside_the_grammar_is_refused(text):
    with pytest.raises(ValueError, match="no caption of this grammar"):
        grammar.parse(text)


def test_every_wording_of_no_change_is_parsed_as_no_change():
    assert {grammar.parse(text).change for text in grammar.NO_CHANGE} == {None}

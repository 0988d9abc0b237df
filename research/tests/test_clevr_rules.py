"""Scene rules and caption grammar of the CLEVR world."""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

import numpy as np
import pytest

from research.clevr import grammar, rules
from research.clevr.rules import SceneObject


class Changed(NamedTuple):
    before: rules.Scene
    after: rules.Scene
    index_before: int | None
    index_after: int | None


def scenes_with(change: str, count: int) -> list[Changed]:
    found = []
    for seed in range(1000):
        rng = np.random.default_rng([seed, 7])
        before = rules.draw_scene(3 + seed % 8, rng)
        try:
            found.append(Changed(before, *rules.apply_change(change, before, rng)))
        except rules.NoFreePlace:
            continue
        if len(found) == count:
            return found
    raise AssertionError(f"too few scenes have room for {change}")


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
    assert len({word for phrase in phrases for word in phrase.split()}) == 72


@pytest.mark.parametrize("change", rules.CHANGES)
def test_the_consensus_wording_is_parsed_back(change):
    for changed in scenes_with(change, 6):
        index = changed.index_after if change == "add" else changed.index_before
        scene = changed.after if change == "add" else changed.before
        thing = {name: getattr(scene[index], name) for name in grammar.ATTRIBUTES}
        attribute = grammar.CHANGED_ATTRIBUTE.get(change)
        new = attribute and getattr(changed.after[changed.index_after], attribute)
        text = grammar.consensus(change, thing, new)
        assert grammar.parse(text) == grammar.Claim(change, tuple(thing.items()), new), text


def test_a_relation_to_an_anchor_is_parsed():
    claim = grammar.parse("the tiny ball that is on the left side of the shiny block is missing")
    assert claim == grammar.Claim(
        "drop",
        (("size", "small"), ("shape", "sphere")),
        None,
        "left",
        (("material", "metal"), ("shape", "cube")),
    )


@pytest.mark.parametrize(
    "text", ["a red car has appeared", "the red ball changed to", "the thing left of moved", "nothing", ""]
)
def test_a_caption_outside_the_grammar_is_refused(text):
    with pytest.raises(ValueError, match="no caption of this grammar"):
        grammar.parse(text)


def test_every_wording_of_no_change_is_parsed_as_no_change():
    assert {grammar.parse(text).change for text in grammar.NO_CHANGE} == {None}

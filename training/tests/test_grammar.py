"""The surveillance grammar: written captions are parsed back, and every caption is true of its objects."""

from __future__ import annotations

import numpy as np
import pytest

from training.text import captions, grammar
from training.text.lexicon import ALSO_CALLED, ALSO_COLOURED, COLOURS, DIRECTIONS, GREYS, HUES, NOUNS, PLACES, hypernym

# Horizontal sign of a direction phrase.
SIDE = {"to the left": -1, "slightly to the left": -1, "to the right": 1, "slightly to the right": 1}


def draw_object(rng: np.random.Generator, action: str, **given) -> dict:
    noun = str(rng.choice([n for n in NOUNS if n not in ("object", "vehicle", "pedestrian", "bike", "bin", "cone")]))
    phrases = DIRECTIONS if action == "moved" else PLACES
    chosen = [str(p) for p in rng.choice(phrases, size=3, replace=False)]
    if action == "moved":  # an object moves in one direction
        chosen = [chosen[0]]
    return {
        "noun": noun,
        "hypernym": hypernym(noun),
        "colour": rng.choice([*COLOURS, None]),
        "action": action,
        "where": chosen[0],
        "places": chosen,
        "count": int(rng.choice([1, 1, 1, 2, 3, 4, 5])),
        "small": bool(rng.random() < 0.5),
        "grey": False,
        **given,
    }


def draw_objects(rng: np.random.Generator) -> list[dict]:
    if rng.random() < 0.15:
        return [draw_object(rng, "replaced"), draw_object(rng, "replaced")]
    actions = ("appeared", "disappeared", "moved")
    return [draw_object(rng, str(rng.choice(actions))) for _ in range(int(rng.integers(1, 6)))]


def test_every_written_statement_is_parsed_back_to_its_clauses():
    for seed in range(2000):
        rng = np.random.default_rng(seed)
        clauses = captions.choose_clauses(draw_objects(rng), rng)
        text = captions.write(clauses, rng)
        read = grammar.parse_clauses(text)
        assert read == clauses[: len(read)], text
        assert read, text


def test_captions_are_different_short_lower_case_and_true():
    for seed in range(120):
        rng = np.random.default_rng(seed)
        objects = draw_objects(rng)
        texts = captions.write_captions(objects, [], rng)
        assert 3 <= len(texts) <= 5 and len(set(texts)) == len(texts)
        for text in texts:
            assert text == text.lower() and text.replace(" ", "").isalpha(), text
            assert len(text.split()) <= captions.MAX_WORDS, text
            for slot in grammar.parse(text):
                assert any(grammar.consistent(slot, o) for o in objects), (text, slot, objects)


@pytest.mark.parametrize("nuisances", [[], ["lighting"], ["ir_switch", "camera_moved"], ["weather", "shadow"]])
def test_captions_of_unchanged_pairs_are_parsed_to_no_facts(nuisances):
    for seed in range(50):
        texts = captions.write_captions([], nuisances, np.random.default_rng(seed))
        assert 3 <= len(texts) <= 5
        assert all(grammar.parse(text) == [] for text in texts)
        assert texts[0] in grammar.NO_CHANGE


def test_only_a_present_nuisance_is_named():
    allowed = {*grammar.NO_CHANGE, *grammar.ONLY_NUISANCE["weather"]}
    for seed in range(50):
        assert set(captions.write_captions([], ["weather", "noise"], np.random.default_rng(seed))) <= allowed


def test_directions_of_a_move_never_contradict_it():
    for seed in range(200):
        rng = np.random.default_rng(seed)
        direction = str(rng.choice(list(SIDE)))
        moved = draw_object(rng, "moved", where=direction, places=[direction])
        for text in captions.write_captions([moved], [], rng):
            sides = [SIDE[slot["where"]] for slot in grammar.parse(text) if slot["where"] in SIDE]
            assert sides in ([], [SIDE[direction]]), text


def test_the_floor_is_named_for_a_bag_but_not_for_a_person():
    for seed in range(60):
        rng = np.random.default_rng(seed)
        where = {"where": "on the floor", "places": ["on the left", "on the floor"]}
        assert not any(
            "floor" in text
            for text in captions.write_captions(
                [draw_object(rng, "appeared", **where, noun="man", hypernym="person")], [], rng
            )
        )
        alone = {"where": "on the floor", "places": ["on the floor"]}
        assert not any(
            "floor" in text
            for text in captions.write_captions(
                [draw_object(rng, "disappeared", **alone, noun="man", hypernym="person")], [], rng
            )
        )
    of_bags = [
        captions.write_captions([draw_object(rng, "appeared", **where, noun="bag", hypernym="object")], [], rng)
        for _ in range(20)
    ]
    assert any("on the floor" in text for texts in of_bags for text in texts)


def test_captions_of_grey_frames_name_no_hue():
    for seed in range(120):
        rng = np.random.default_rng(seed)
        colour = str(rng.choice(GREYS))
        for text in captions.write_captions([draw_object(rng, "appeared", colour=colour, grey=True)], [], rng):
            assert not any(f" {hue} " in f" {text} " for hue in HUES), text


@pytest.mark.parametrize(
    "text, slots",
    [
        ("a man in black has appeared on the left", [("appeared", "man", "black", "on the left", 1)]),
        ("the two white cars have left", [("disappeared", "car", "white", None, 2)]),
        ("several people have arrived in the square", [("appeared", "person", None, "in the square", 4)]),
        ("the dark blue car has driven further away", [("moved", "car", "dark blue", "further away", 1)]),
        (
            "the woman on the road is gone and a van is now by the fence",
            [("disappeared", "woman", None, "on the road", 1), ("appeared", "van", None, "by the fence", 1)],
        ),
        (
            "a red car and a man in a grey jacket have appeared",
            [("appeared", "car", "red", None, 1), ("appeared", "man", "grey", None, 1)],
        ),
        (
            "the car on the road has been replaced by a white truck",
            [("replaced", "car", None, "on the road", 1), ("replaced", "truck", "white", None, 1)],
        ),
    ],
)
def test_examples_are_parsed_to_their_facts(text, slots):
    found = [(s["action"], s["noun"], s["colour"], s["where"], s["count"]) for s in grammar.parse(text)]
    assert found == slots


@pytest.mark.parametrize("text", ["", "hello", "the car has", "a man have appeared on moon", "the car is gone and"])
def test_captions_outside_the_grammar_are_refused(text):
    with pytest.raises(ValueError, match="no caption of this grammar"):
        grammar.parse(text)


def test_the_vocabulary_is_small_and_covers_all_captions():
    words = grammar.vocabulary()
    assert len(words) <= 280
    for seed in range(120):
        rng = np.random.default_rng(seed)
        for text in captions.write_captions(draw_objects(rng), [], rng):
            assert set(text.split()) <= set(words), text


def test_every_statement_has_one_word_that_reports_its_event():
    for action, rows in grammar.TEMPLATES.items():
        for template, _, _ in rows:
            words = template.split()
            reported = [
                event
                for event, reporting in grammar.EVENT_WORDS.items()
                for word, before in zip(words, ["", *words])
                if word in reporting and (word not in grammar.EVENT_NEEDS or before == "{has}")
            ]
            assert reported == [action], template
    others = {word for phrase in (*PLACES, *DIRECTIONS, *NOUNS, *COLOURS) for word in phrase.split()}
    assert others & {word for reporting in grammar.EVENT_WORDS.values() for word in reporting} == {"left"}


def test_dark_blue_is_rare_for_cars_and_common_for_clothes():
    rng = np.random.default_rng(0)
    cars = [captions.choose_colour({"colour": "dark blue", "hypernym": "vehicle"}, rng) for _ in range(2000)]
    assert cars.count("dark blue") / 2000 == pytest.approx(0.15, abs=0.03)
    assert set(cars) == {None, "dark blue", *ALSO_COLOURED["dark blue"]}
    clothes = [captions.choose_colour({"colour": "dark blue", "hypernym": "person"}, rng) for _ in range(2000)]
    assert clothes.count("dark blue") / 2000 == pytest.approx(0.75, abs=0.04)


def test_synonyms_are_words_of_the_grammar():
    assert {word for words in ALSO_CALLED.values() for word in words} <= set(NOUNS)
    assert {word for words in ALSO_COLOURED.values() for word in words} <= set(COLOURS)

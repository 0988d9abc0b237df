"""The surveillance grammar: what it writes it reads back, and it never says what is not so."""

from __future__ import annotations

import numpy as np
import pytest

from training.text import captions, grammar
from training.text.lexicon import ALSO_CALLED, ALSO_COLOURED, COLOURS, DIRECTIONS, GREYS, HUES, NOUNS, PLACES, hypernym

SIDE = {"to the left": -1, "slightly to the left": -1, "to the right": 1, "slightly to the right": 1}


def thing(rng: np.random.Generator, action: str, **given) -> dict:
    noun = str(rng.choice([n for n in NOUNS if n not in ("object", "vehicle", "pedestrian", "bike", "bin", "cone")]))
    phrases = DIRECTIONS if action == "moved" else PLACES
    chosen = [str(p) for p in rng.choice(phrases, size=3, replace=False)]
    if action == "moved":  # a thing moves one way
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


def facts(rng: np.random.Generator) -> list[dict]:
    if rng.random() < 0.15:
        return [thing(rng, "replaced"), thing(rng, "replaced")]
    actions = ("appeared", "disappeared", "moved")
    return [thing(rng, str(rng.choice(actions))) for _ in range(int(rng.integers(1, 6)))]


def test_every_written_statement_is_read_back_as_it_was_meant():
    for seed in range(2000):
        rng = np.random.default_rng(seed)
        clauses = captions.choose_clauses(facts(rng), rng)
        text = captions.write(clauses, rng)
        read = grammar.parse_clauses(text)
        assert read == clauses[: len(read)], text
        assert read, text


def test_captions_are_different_short_plain_and_true():
    for seed in range(120):
        rng = np.random.default_rng(seed)
        objects = facts(rng)
        texts = captions.write_captions(objects, [], rng)
        assert 3 <= len(texts) <= 5 and len(set(texts)) == len(texts)
        for text in texts:
            assert text == text.lower() and text.replace(" ", "").isalpha(), text
            assert len(text.split()) <= captions.MAX_WORDS, text
            for slot in grammar.parse(text):
                assert any(grammar.consistent(slot, o) for o in objects), (text, slot, objects)


@pytest.mark.parametrize("nuisances", [[], ["lighting"], ["ir_switch", "camera_moved"], ["weather", "shadow"]])
def test_unchanged_pairs_are_read_as_no_facts(nuisances):
    for seed in range(50):
        texts = captions.write_captions([], nuisances, np.random.default_rng(seed))
        assert 3 <= len(texts) <= 5
        assert all(grammar.parse(text) == [] for text in texts)
        assert texts[0] in grammar.NO_CHANGE


def test_only_a_nuisance_that_is_there_is_blamed():
    allowed = {*grammar.NO_CHANGE, *grammar.ONLY_NUISANCE["weather"]}
    for seed in range(50):
        assert set(captions.write_captions([], ["weather", "noise"], np.random.default_rng(seed))) <= allowed


def test_directions_of_a_move_never_contradict_it():
    for seed in range(200):
        rng = np.random.default_rng(seed)
        way = str(rng.choice(list(SIDE)))
        moved = thing(rng, "moved", where=way, places=[way])
        for text in captions.write_captions([moved], [], rng):
            said = [SIDE[slot["where"]] for slot in grammar.parse(text) if slot["where"] in SIDE]
            assert said in ([], [SIDE[way]]), text


def test_nobody_is_told_to_be_on_the_floor_but_a_bag_is():
    for seed in range(60):
        rng = np.random.default_rng(seed)
        where = {"where": "on the floor", "places": ["on the left", "on the floor"]}
        assert not any(
            "floor" in text
            for text in captions.write_captions(
                [thing(rng, "appeared", **where, noun="man", hypernym="person")], [], rng
            )
        )
        alone = {"where": "on the floor", "places": ["on the floor"]}
        assert not any(
            "floor" in text
            for text in captions.write_captions(
                [thing(rng, "disappeared", **alone, noun="man", hypernym="person")], [], rng
            )
        )
    said = [
        captions.write_captions([thing(rng, "appeared", **where, noun="bag", hypernym="object")], [], rng)
        for _ in range(20)
    ]
    assert any("on the floor" in text for texts in said for text in texts)


def test_no_hue_is_said_of_a_thing_seen_in_grey():
    for seed in range(120):
        rng = np.random.default_rng(seed)
        colour = str(rng.choice(GREYS))
        for text in captions.write_captions([thing(rng, "appeared", colour=colour, grey=True)], [], rng):
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
def test_reading_examples(text, slots):
    found = [(s["action"], s["noun"], s["colour"], s["where"], s["count"]) for s in grammar.parse(text)]
    assert found == slots


@pytest.mark.parametrize("text", ["", "hello", "the car has", "a man have appeared on moon", "the car is gone and"])
def test_what_the_grammar_cannot_write_is_refused(text):
    with pytest.raises(ValueError, match="no caption of this grammar"):
        grammar.parse(text)


def test_the_vocabulary_is_small_and_covers_what_is_written():
    words = grammar.vocabulary()
    assert len(words) <= 260
    for seed in range(120):
        rng = np.random.default_rng(seed)
        for text in captions.write_captions(facts(rng), [], rng):
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


def test_hardly_anybody_says_dark_blue_of_a_car_and_it_stays_true():
    rng = np.random.default_rng(0)
    said = [captions.choose_colour({"colour": "dark blue", "hypernym": "vehicle"}, rng) for _ in range(2000)]
    assert said.count("dark blue") / 2000 == pytest.approx(0.15, abs=0.03)
    assert set(said) == {None, "dark blue", *ALSO_COLOURED["dark blue"]}
    worn = [captions.choose_colour({"colour": "dark blue", "hypernym": "person"}, rng) for _ in range(2000)]
    assert worn.count("dark blue") / 2000 == pytest.approx(0.75, abs=0.04)


def test_synonyms_are_words_of_the_grammar():
    assert {word for words in ALSO_CALLED.values() for word in words} <= set(NOUNS)
    assert {word for words in ALSO_COLOURED.values() for word in words} <= set(COLOURS)

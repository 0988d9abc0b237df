"""Texts about CLEVR pairs, their truth, and the pairs as the shipped bundle sees them."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from research.clevr import grammar
from research.clevr.cache import write_shard
from research.clevr.family_cache import pairs_of
from research.clevr.grammar import Claim
from research.clevr.plugin import WORLD
from research.clevr.search_pairs import SearchPairs, relation_true
from research.clevr.search_texts import ANY, fits, inverse, kinds_of_words, vocabulary, write_text
from training.contract import KINDS
from training.data.cache import Features
from training.data.search_figures import figures
from training.net.search import FramePairVector, SearchVectors
from training.search import batch_losses
from training.world import search_of

torch.set_num_threads(1)
BUNDLE = Path("models/scorer-clevr")
BALL = {"change": "color", "size": "small", "colour": "red", "material": "metal", "shape": "sphere", "became": "blue"}
GONE = BALL | {"change": "drop", "became": None}


@pytest.fixture(scope="module")
def pairs(tmp_path_factory) -> SearchPairs:
    cache = tmp_path_factory.mktemp("families")
    write_shard(Features(BUNDLE / "features.onnx"), range(2), "heldout", cache)
    return SearchPairs([cache], BUNDLE, 1)


def test_the_words_of_the_plug_in_are_known():
    known = set(vocabulary())
    assert {word for words in WORLD.search.event_words.values() for word in words} <= known
    assert WORLD.search.synonyms == {"ball": "sphere", "block": "cube"}
    table = kinds_of_words(vocabulary(), KINDS)
    assert table[vocabulary().index("gone"), KINDS.index("disappear")] == 1
    assert table[vocabulary().index("the")].sum() == 0


def test_a_text_states_its_claim_and_no_more():
    claim = Claim("color", (("colour", "red"), ("shape", "sphere")), "blue", "left", (("shape", "cube"),))
    rng, kinds_seen = np.random.default_rng(0), set()
    for _ in range(200):
        text, stated = write_text(claim, rng)
        kinds_seen.add(stated.change)
        assert "{" not in text and set(text.split()) <= set(vocabulary())
        assert re.search(r"\bred\b.*\b(ball|sphere)\b", text)
        assert ("blue" in text) == (stated.new == "blue")
        if stated == claim:
            assert grammar.parse(text) == claim
        else:
            assert stated.relation is None and not re.search("left|cube|block", text)
    assert kinds_seen == {"color", ANY}


@pytest.mark.parametrize(
    ("claim", "thing", "true"),
    [
        (Claim("color", (("colour", "red"),), "blue"), BALL, True),
        (Claim("color", (("colour", "blue"),), "blue"), BALL, False),
        (Claim("color", (("shape", "sphere"),), "green"), BALL, False),
        (Claim("material", (("shape", "sphere"),), "rubber"), BALL, False),
        (Claim(ANY, (("colour", "blue"), ("shape", "sphere"))), BALL, True),
        (Claim(ANY, (("colour", "red"), ("shape", "cube"))), BALL, False),
        (Claim("drop", (("size", "small"),)), GONE, True),
        (Claim("add", (("size", "small"),)), GONE, False),
        (Claim(ANY, (("size", "small"),)), GONE, True),
        (Claim(None), GONE, False),
        (Claim(None), None, True),
        (Claim(ANY, (("size", "small"),)), None, False),
        (Claim("drop", ()), None, False),
    ],
)
def test_a_claim_fits_a_pair_or_not(claim, thing, true):
    others = [Claim(None), Claim("move", (("shape", "cube"),))]
    assert fits([*others, claim], [GONE | {"shape": "cube"}, None, thing])[2, 2] == true


def test_the_inverse_of_a_claim_is_what_swapped_frames_show():
    assert inverse(Claim("add", (("shape", "cube"),)), GONE) == Claim("drop", (("shape", "cube"),))
    stated = Claim("color", (("colour", "red"), ("shape", "sphere")), "blue")
    assert inverse(stated, BALL) == Claim("color", (("colour", "blue"), ("shape", "sphere")), "red")
    assert inverse(Claim("move", (("shape", "cube"),)), BALL) is None
    assert inverse(Claim(None), BALL) is None


def test_every_claim_is_true_of_its_pair_and_its_inverse_is_not(pairs):
    rng = np.random.default_rng(0)
    for index in range(len(pairs)):
        claim = pairs.claim(index, rng)
        assert pairs.truth([claim], [index])[0, 0], (claim, pairs.data.meta[index])
        objects = pairs.data.meta[index]["objects"]
        if objects and inverse(claim, objects[0]):
            assert not pairs.truth([inverse(claim, objects[0])], [index])[0, 0]
            assert pairs.truth([replace(inverse(claim, objects[0]), relation=None)], [pairs.data.reverse[index]])[0, 0]


def test_a_relation_is_to_another_thing_of_the_scene(pairs):
    index = int(pairs.changed[0])
    scene, index_in_scene = pairs.scene(index)
    other = next(i for i in range(len(scene)) if i != index_in_scene)
    anchor = tuple((name, getattr(scene[other], name)) for name in grammar.ATTRIBUTES)
    held = [r for r in grammar.RELATIONS if relation_true(Claim("move", (), None, r, anchor), scene, index_in_scene)]
    assert 1 <= len(held) <= 2, "left or right, and behind or in front"


def test_texts_that_are_true_of_a_pair_are_no_negatives_of_it(pairs):
    rng = np.random.default_rng(3)
    indices = pairs.draw(rng, 32)
    b = pairs.batch(indices, rng)
    unchanged = [row for row, index in enumerate(indices) if not pairs.data.meta[index]["objects"]]
    assert len(unchanged) == 4 and len(indices) == 32
    of_unchanged = b["left_out"][unchanged][:, unchanged]
    assert torch.equal(of_unchanged, 1 - torch.eye(4)), "all of them say that nothing changed"
    assert b["left_out"].diagonal().sum() == 0
    assert any(b["inverted"]) and all(b["inverted"][row] is None for row in unchanged)


def test_the_evidence_is_that_of_the_shipped_graph(pairs):
    memory, kind_logits, maps = pairs.evidence([0, 20])
    assert memory.shape == (2, 96, 128) and kind_logits.shape == (2, 6) and maps.shape == (2, 2, 32, 48)
    assert pairs.sizes.grid == (8, 12) and pairs.sizes.memory_width == 128
    swapped = pairs.evidence([pairs.data.reverse[20]])
    assert torch.allclose(swapped[2][0], maps[1].flip(0), atol=2e-3), "swapped frames swap the maps"


def test_the_network_without_crops_learns_from_a_batch(pairs):
    torch.manual_seed(0)
    plugin = search_of("research.clevr")
    network = SearchVectors(pairs.sizes, len(pairs.words.vocabulary), pairs.concepts, plugin.text_width)
    assert isinstance(network.pair, FramePairVector)
    optimiser = torch.optim.AdamW(network.parameters(), lr=2e-3)
    rng = np.random.default_rng(0)
    b = pairs.batch(pairs.draw(rng, 24), rng)
    losses = []
    for _ in range(12):
        loss = sum(batch_losses(network, pairs.words, b).values())
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(float(loss))
    assert min(losses) < 0.7 * losses[0]  # at this rate single steps lead astray
    found = figures(network.text.eval(), network.pair.eval(), pairs, plugin.development_pairs)
    assert found["gallery"] == 2 * sum(0 in views for views in pairs_of(forward=False))
    assert found["queries"] == 2 * 10 and 0 <= found["own above its inverse"] <= 1


def test_a_world_without_texts_is_refused(monkeypatch):
    monkeypatch.setattr("training.world.load_world", lambda name: replace(WORLD, search=None))
    with pytest.raises(SystemExit, match="'research.clevr' states no texts for search vectors"):
        search_of("research.clevr")

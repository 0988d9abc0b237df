"""The captioner, on a small random network."""

from dataclasses import replace

import pytest

torch = pytest.importorskip("torch")
F = torch.nn.functional

from training.contract import END, PAD, SPECIALS, START
from training.net.captioner import Captioner, expand_crop_attention
from training.net.config import ModelConfig
from training.net.crop_relations import count_events
from training.tests.networks import random_crops, small_config
from training.text.grammar import EVENT_NEEDS, EVENT_WORDS


@pytest.fixture(scope="module")
def config() -> ModelConfig:
    return small_config()


def test_a_padded_memory_slot_changes_nothing(config):
    captioner = Captioner(config).eval()
    memory = torch.randn(1, 5, config.width)
    one, other = (random_crops(config, 1, [1.0, 0.0], seed) for seed in (1, 2))
    other = tuple(torch.cat([a[:, :1], b[:, 1:]], 1) for a, b in zip(one[:-1], other[:-1])) + (
        one[-1],
    )  # only the empty slot differs
    a, b = captioner.greedy(memory, one), captioner.greedy(memory, other)
    assert a["ids"].tolist() == b["ids"].tolist()
    assert torch.allclose(a["log_prob"], b["log_prob"], atol=1e-6)


@pytest.mark.parametrize("coverage", [False, True])
def test_greedy_steps_with_caches_equal_the_whole_decoder(config, coverage):
    torch.manual_seed(3)
    if coverage:  # words that report events, so that the counts change on the way
        words = ["has", "left", "appeared", "moved", "gone", "the", "and", "on", "now", "have", "a", "is"]
        config = replace(
            config,
            crop_relations=True,
            vocabulary=[*SPECIALS, *words],
            event_words=EVENT_WORDS,
            event_needs=EVENT_NEEDS,
        )
    captioner = Captioner(config).eval()
    if coverage:
        torch.nn.init.normal_(captioner.coverage.weight, std=3.0)
        torch.nn.init.normal_(captioner.crops.relations.to_conditioning.weight)
    memory = torch.randn(3, 5, config.width)
    seen = random_crops(config, 3, [1.0, 1.0])
    written = captioner.greedy(memory, seen)
    ids = torch.cat([torch.full((3, 1), START), written["ids"]], 1)[:, :-1]
    logits, _, _ = captioner(memory, seen, ids)
    logits[:, :, : START + 1] = -1e9
    best = logits.argmax(-1)
    for row in range(3):
        n = int(written["length"][row]) + 1
        assert best[row, :n].tolist() == written["ids"][row, :n].tolist()
    attention = written["attention"].sum(-1)
    assert torch.allclose(attention[0, : int(written["length"][0])], torch.ones(int(written["length"][0])), atol=1e-5)


def test_attention_to_the_summary_of_a_crop_is_spread_over_its_cells(config):
    attention = torch.rand(2, 3, 4 + 2 * (9 + 1))
    spread = expand_crop_attention(attention, 2, 3, 4, 2, 9)
    assert torch.equal(spread[:, :, :4], attention[:, :, :4])
    assert torch.allclose(spread[:, :, 4:13], attention[:, :, 4:13] + attention[:, :, 13:14] / 9)
    assert torch.allclose(spread.sum(2), attention.sum(2))
    written = Captioner(config).eval().greedy(torch.randn(1, 5, config.width), random_crops(config, 1, [1.0, 1.0]))
    assert written["attention"].shape[2] == 5 + config.regions * config.crop_grid**2


def test_after_the_end_everything_is_padding(config):
    captioner = Captioner(config).eval()
    with torch.no_grad():
        captioner.logits.bias[END] = 50.0
    written = captioner.greedy(torch.randn(2, 4, config.width), None)
    assert written["ids"].tolist() == [[END] + [PAD] * (config.max_length - 1)] * 2
    assert written["length"].tolist() == [0, 0]


def test_coverage_counts_one_event_per_object_and_per_reporting_word(config):
    role = torch.zeros(1, 3, 2, 4)
    role[0, 0, 1, 1] = role[0, 1, 0, 2] = role[0, 2, 1, 2] = (
        1.0  # one object appeared, one moved from the second crop to the third
    )
    assert count_events(role).tolist() == [[1.0, 0.0, 1.0, 0.0]]
    words = ["the", "man", "on", "left", "has", "moved", "and", "a", "appeared", "gone", "is"]
    captioner = Captioner(
        replace(config, vocabulary=[*SPECIALS, *words], event_words=EVENT_WORDS, event_needs=EVENT_NEEDS)
    )
    ids_of = lambda text: torch.tensor([captioner.c.vocabulary.index(w) for w in text.split()])
    reported = lambda text: captioner.event_of_word(ids_of(text), F.pad(ids_of(text), (1, 0))[:-1]).sum(0).tolist()
    assert reported("the man on the left has moved and a man has appeared") == [1.0, 0.0, 1.0, 0.0]
    assert reported("the man on the left has left and the man is gone") == [0.0, 2.0, 0.0, 0.0]


def test_an_uncertain_noun_is_replaced_by_the_wider_noun():
    c = ModelConfig(
        vocabulary=["<pad>", "<unk>", "<start>", "<end>", "man", "woman", "person", "car"],
        nouns=["man"],
        colours=["red"],
        region_crops=False,
    )
    captioner = Captioner(c)
    captioner.hedge({"man": "person", "woman": "person", "bus": "vehicle"}, 0.7)
    torn = torch.tensor(
        [[0.0, 0, 0, 0, 0.5, 0.3, 0.1, 0.1], [0, 0, 0, 0, 0.8, 0.05, 0.05, 0.1], [0, 0, 0, 0, 0.2, 0.1, 0.1, 0.6]]
    ).log()
    score, written = captioner.choose(torn)
    assert [c.vocabulary[i] for i in written] == ["person", "man", "car"]
    assert score.exp().tolist() == pytest.approx([0.9, 0.8, 0.6])  # of a person: man, woman and person together
    captioner.hedge({"man": "person"}, 0.0)
    assert captioner.choose(torn)[1].tolist() == [4, 4, 7]

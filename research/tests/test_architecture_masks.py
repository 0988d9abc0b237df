"""Visibility of tokens in the architectures, and the negatives that their contrastive losses leave out."""

import math

import pytest

torch = pytest.importorskip("torch")

from research.captioners.clip4idc import contrast
from research.tests.architecture_pairs import tiny_batch, tiny_config, tiny_pair
from training.contract import END, PAD, SPECIALS
from training.data.batches import Labels
from training.learn.run import Run

CLIP = {"vision_width": 24, "vision_heads": 2, "vision_ffn": 24, "intra": 1, "inter": 1, "layers": 2}


def network_and_batch(name: str, **options):
    difference, _ = tiny_pair(tiny_config(name, **options))
    return difference.network, tiny_batch(difference)


@torch.no_grad()
def test_masked_words_of_pre_training_see_later_words_and_images_see_words():
    pcl, b = network_and_batch("idc_pcl", ffn=24)
    images, other = pcl.images(b["before"], b["after"]), b["ids"].clone()
    other[:, 4] = (other[:, 4] + 1) % 12 + 4
    (a_images, a_summary, a_words), (b_images, b_summary, b_words) = (pcl.joint(images, x) for x in (b["ids"], other))
    for one, changed in ((a_images, b_images), (a_summary, b_summary), (a_words[:, :2], b_words[:, :2])):
        assert not torch.allclose(one, changed, atol=1e-4)


@torch.no_grad()
def test_masks_fall_on_words_and_the_end_and_at_least_one_per_sentence():
    torch.manual_seed(0)
    pcl, b = network_and_batch("idc_pcl", ffn=24)
    rates = []
    for _ in range(100):
        masked, asked = pcl.mask_words(b["ids"])
        assert asked.any(1).all()
        assert not asked[(b["ids"] == PAD)].any()
        assert not asked[:, 0].any()
        assert torch.equal(masked[~asked], b["ids"][~asked])
        rates.append((masked == pcl.mask)[asked].float().mean())
    assert torch.stack(rates).mean() == pytest.approx(0.8, abs=0.05)


def test_cells_that_look_alike_are_no_negatives():
    pcl, b = network_and_batch("idc_pcl", ffn=24)
    equal = torch.ones_like(b["before"])
    assert pcl.masked_cells(equal, equal, b["ids"]).item() == pytest.approx(0.0, abs=1e-5)
    assert pcl.masked_cells(b["before"], b["after"], b["ids"]).item() > 1


def test_alignment_starts_at_chance():
    pcl, b = network_and_batch("idc_pcl", ffn=24)
    assert pcl.alignment(b)["fda"].item() == pytest.approx(math.log(7), abs=0.1)


@torch.no_grad()
def test_a_sentences_vector_ends_at_its_end():
    clip, b = network_and_batch("clip4idc", **CLIP)
    ids = b["ids"].clone()
    after_end = (ids == END).cumsum(1).bool() & (ids != END)
    word = ids.clone()
    word[:, 1] = (word[:, 1] + 1) % 12 + 4
    vector = clip.text(ids)
    assert torch.allclose(vector, clip.text(ids.masked_fill(after_end, 9)), atol=1e-6)
    assert not torch.allclose(vector, clip.text(word), atol=1e-3)
    assert torch.allclose(vector.norm(dim=1), torch.ones(len(ids)), atol=1e-5)


def test_equal_sentences_are_no_negatives_of_each_other():
    similarity = torch.full((2, 2), 3.0)
    apart = torch.eye(2, dtype=torch.bool)
    assert contrast(similarity, apart).item() == pytest.approx(math.log(2), abs=1e-5)
    assert contrast(similarity, torch.ones(2, 2, dtype=torch.bool)).item() == pytest.approx(0.0, abs=1e-5)


@torch.no_grad()
def test_the_prefix_of_the_language_model_is_before_after_delta():
    sizes = {"delta": 4, "delta_width": 24, "delta_heads": 2, "delta_ffn": 24, "layers": 2}
    one_diff, b = network_and_batch("onediff", **sizes)
    memory = one_diff.encode(b["before"], b["after"]).memory  # rows: 4 delta tokens, 6 cells of before, 6 of after
    keys = one_diff.start(memory).keys[:, 2:]  # of the second layer
    for rows, changed in ((slice(10, 16), {0, 10}), (slice(4, 10), {0, 4, 10}), (slice(0, 4), {0})):
        other = memory.clone()
        other[:, rows] += torch.randn(other[:, rows].shape)
        same = torch.isclose(one_diff.start(other).keys[:, 2:], keys, atol=1e-5).all(-1).all(1).all(0)  # [S]
        assert [first for first, end in ((0, 4), (4, 10), (10, 16)) if not same[first:end].all()] == sorted(changed)


DELTA = {
    "onediff": {"delta": 4, "delta_width": 24, "delta_heads": 2, "delta_ffn": 24, "layers": 1},
    "scorer": {"delta_tokens": 4, "tokens": "levels"},
}


@torch.no_grad()
@pytest.mark.parametrize("name", DELTA)
def test_delta_tokens_see_both_frames_and_all_levels(name: str):
    network, b = network_and_batch(name, **DELTA[name])
    delta_of = lambda frames: network.encode(frames["before"], frames["after"]).memory[:, : network.layout.extra]
    delta = delta_of(b)
    for at in network.tokens.levels.values():
        for side in ("before", "after"):
            other = {name: b[name].clone() for name in ("before", "after")}
            other[side][..., at] += 1
            assert not torch.allclose(delta_of(other), delta, atol=1e-5)


@torch.no_grad()
def test_the_cells_of_scorer_do_not_see_the_levels_of_its_delta_tokens():
    network, b = network_and_batch("scorer", **DELTA["scorer"])
    cells_of = lambda before: network.encode(before, b["after"]).memory[:, network.layout.extra :]
    other = b["before"].clone()
    other[..., : network.read.start] += 1
    assert torch.allclose(cells_of(other), cells_of(b["before"]))


def test_the_usual_training_refuses_an_architecture_of_the_table():
    config = {"world": "research.captioners", "model": {"architecture": "duda"}, "train": {}}
    with pytest.raises(SystemExit, match="'research.captioners' makes and trains networks"):
        Run(config, Labels(vocabulary=[*SPECIALS, "w"], nouns=[], colours=[]), 1, "cpu")

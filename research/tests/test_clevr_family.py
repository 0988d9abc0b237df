"""Scene families of CLEVR: the cache and its pairs, the losses and the moving-camera model."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("numba")

from research.clevr import grammar
from research.clevr.cache import write_shard
from research.clevr.family import DISTRACTORS, UNCHANGED_VIEWS, VIEWS, draw_family
from research.clevr.family_cache import FamilyCache, pairs_of, partners
from research.clevr.losses import match_loss, token_slots
from research.clevr.model import MovingDifference
from research.clevr.plugin import WORLD
from research.clevr.rules import CHANGES
from training.data.batches import Batches, Labels
from training.net.captioner import Captioner
from training.net.config import ModelConfig
from training.net.cross_view import BackwardReasoning
from training.net.losses import all_losses
from training.world import Judgement

torch.set_num_threads(1)
SCENES = range(3)


class FakeFeatures:
    """Features graph whose channels all repeat the mean brightness of a cell."""

    coarse_dim, fine_dim = 4, 4

    def __call__(self, images: np.ndarray):
        grey = torch.from_numpy(np.ascontiguousarray(images)).mean(1, keepdim=True)
        cells = lambda stride: torch.nn.functional.avg_pool2d(grey, stride).repeat(1, 4, 1, 1).numpy()
        return cells(16), cells(8)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("families")
    assert write_shard(FakeFeatures(), SCENES, "train", out)
    return out


@pytest.fixture(scope="module")
def cache(folder) -> FamilyCache:
    return FamilyCache([folder])


def small(cache: FamilyCache) -> ModelConfig:
    labels = Labels.from_meta(cache.meta, WORLD)
    return ModelConfig(
        vocabulary=labels.vocabulary,
        coarse_channels=4,
        fine_channels=4,
        width=32,
        heads=4,
        token_pool=1,
        map_width=8,
        max_length=16,
        contrast_group=4,
        contrast_pool=4,
        region_crops=False,
        moving_camera=True,
        tokens_kept=24,
        dropout=0.0,
    )


def test_a_family_has_every_change_once_and_is_reproducible():
    family = draw_family(0, "train")
    assert [v.change for v in family.views] == [None] * (1 + DISTRACTORS) + list(CHANGES)
    assert (
        family.views[0].objects
        == draw_family(0, "train").views[0].objects
        != draw_family(0, "heldout").views[0].objects
    )
    assert len({tuple(v.eye) for v in family.views}) == VIEWS


def test_a_reversed_pair_has_the_opposite_kind_and_captions(cache):
    assert len(cache) == len(SCENES) * len(pairs_of(False)) == len(SCENES) * (6 + 30)
    opposite = {"appear": "disappear", "disappear": "appear"}
    for i, meta in enumerate(cache.meta):
        other = cache.meta[cache.reverse[i]]
        assert other["views"] == meta["views"][::-1] and other["scene"] == meta["scene"]
        assert other["kind"] == opposite.get(meta["kind"], meta["kind"])
        for caption in meta["captions"]:
            assert WORLD.judge(caption, meta) == Judgement(meta["kind"] == "none", *(meta["kind"] != "none",) * 3)
            if meta["kind"] != "none":  # the reverse of a move has the same caption
                assert WORLD.judge(caption, other).action == (meta["kind"] in ("move", "replace"))


def test_the_changed_object_has_a_mask_and_all_other_objects_a_partner(cache):
    for i, meta in enumerate(cache.meta):
        b = cache.arrays([i])
        obj = meta["objects"][0] if meta["objects"] else {"index_before": None, "index_after": None}
        for side, name in enumerate(("index_before", "index_after")):
            assert bool(b["masks"][0, side].any()) == (obj[name] is not None)
        frames = [cache.scenes[0][meta["scene"]]["views"][v]["things"] for v in meta["views"]]
        for k, partner in enumerate(b["partner"][0, 0].tolist()):
            if partner >= 0 and k != obj["index_before"]:
                assert frames[0][k] == frames[1][partner]
        if obj["index_after"] is None and meta["objects"]:
            assert b["partner"][0, 0, obj["index_before"]] == -1
    assert partners(3, 2, 1, None) == [(0, 0), (2, 1)] and partners(2, 3, None, 2) == [(0, 0), (1, 1)]


def test_forward_pairs_start_from_the_default_view(folder):
    forward = FamilyCache([folder], forward=True)
    assert {m["views"][0] for m in forward.meta} == {0} and len(forward) == len(SCENES) * (VIEWS - 1)
    assert sum(m["kind"] == "none" for m in forward.meta) == len(SCENES) * (UNCHANGED_VIEWS - 1)


def test_a_wrong_attribute_or_a_caption_outside_the_grammar_is_judged_false():
    truth = {"change": "color", "noun": "cube", "size": "large", "colour": "red", "material": "metal", "became": "blue"}
    assert grammar.judge("the big red shiny block became blue", truth) == (False, (True, True, True))
    assert grammar.judge("the big green shiny block became blue", truth) == (False, (True, True, False))
    assert grammar.judge("the red cube became green", truth) == (False, (True, True, False))
    assert grammar.judge("the red cube is gone", truth) == (False, (False, False, False))
    assert grammar.judge("there is no change", truth) == (True, (False, False, False))
    assert grammar.judge("red red red", None) == (False, (False, False, False))
    assert grammar.judge("nothing was modified", None)[0]


def test_the_match_loss_is_low_only_for_attention_on_the_partner():
    slots = torch.tensor([[0, 1, -1]])
    partner = torch.tensor([[1, 0, -1]])
    on = torch.tensor([[[-20.0, 20, -20], [20, -20, -20], [0, 0, 0]]])
    assert match_loss(on, slots, slots, partner) < 1e-3 < 20 < match_loss(-on, slots, slots, partner)
    slot, share = token_slots(torch.tensor([[[2] * 4 + [-1] * 4] * 4]), (1, 2), 4)
    assert slot.tolist() == [[2, -1]] and share.tolist() == [[1.0, 0.0]]


def test_outputs_of_a_training_batch_with_reverses_equal_those_of_single_pairs(cache):
    config = small(cache)
    difference = WORLD.make_difference(config)
    assert isinstance(difference, MovingDifference)
    batches = Batches(cache, Labels(config.vocabulary, [], []), config)
    indices = cache.with_reverses([0, 7, 12])
    b = batches.batch(indices, np.random.default_rng(0))
    assert b["coarse"].shape[0] == 3 and b["ids"].shape[0] == 6
    batched = difference.train()(b["coarse"][:, 0], b["fine"][:, 0], b["coarse"][:, 1], b["fine"][:, 1])
    alone = [batches.batch([i], np.random.default_rng(0)) for i in indices]
    difference.eval()
    for row, one in enumerate(alone):
        d = difference(one["coarse"][:, 0], one["fine"][:, 0], one["coarse"][:, 1], one["fine"][:, 1])
        for name in ("memory", "change_logit", "map_before", "map_after"):
            assert torch.allclose(batched[name][row], d[name][0], atol=1e-5), name
    terms = all_losses(difference.train(), Captioner(config), BackwardReasoning(config), b, 0.0, WORLD.extra_losses)
    assert {"read", "match"} <= set(terms) and all(torch.isfinite(v) for v in terms.values())
    sum(terms.values()).backward()
    assert all(p.grad is not None for n, p in difference.named_parameters() if "log_scale" not in n)


def test_tokens_of_two_cells_are_refused(cache):
    with pytest.raises(ValueError, match="token_pool 1, not 2"):
        MovingDifference(replace(small(cache), token_pool=2))

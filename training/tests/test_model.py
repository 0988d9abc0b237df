"""Laws of the captioner, on a small random model."""

from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")
F = torch.nn.functional

from training.data.batches import SPECIALS, Labels
from training.data.preprocess import crop_square
from training.data.regions import described_objects, objects_in_crops
from training.net.captioner import Captioner, expand_crop_attention
from training.net.config import END, KINDS, PAD, START, ModelConfig
from training.net.crop_evidence import displacement_features, displacements, inside_box, same_object_evidence
from training.net.crop_relations import count_events
from training.net.cross_view import CrossViewLayer, info_nce
from training.net.difference import Difference
from training.net.losses import map_loss
from training.net.matching import matching_distance, shifted
from training.run import Run
from training.text.grammar import EVENT_NEEDS, EVENT_WORDS
from training.worlds.surveillance.judge import judge


@pytest.fixture(scope="module")
def config() -> ModelConfig:
    return ModelConfig(
        vocabulary=[*SPECIALS, *(f"w{i}" for i in range(12))],
        nouns=["car", "man"],
        colours=["red"],
        coarse_channels=8,
        fine_channels=7,
        width=16,
        heads=2,
        map_width=8,
        max_length=6,
        regions=2,
        contrast_group=2,
    )


def looks(c: ModelConfig, batch: int, seed: int = 0) -> list[torch.Tensor]:
    g = torch.Generator().manual_seed(seed)
    h, w = c.grid
    one = lambda channels, k: torch.randn(batch, channels, h * k, w * k, generator=g)
    return [one(c.coarse_channels, 1), one(c.fine_channels, 2), one(c.coarse_channels, 1), one(c.fine_channels, 2)]


def region_crops(c: ModelConfig, batch: int, mask: list[float], seed: int = 1) -> tuple[torch.Tensor, ...]:
    g = torch.Generator().manual_seed(seed)
    q, R = c.crop_grid, c.regions
    box = torch.tensor([0.2, 0.2, 0.4, 0.4]).expand(batch, R, 4)
    return (
        torch.randn(batch, R, 2, c.coarse_channels, q, q, generator=g),
        torch.randn(batch, R, 2, c.fine_channels, 2 * q, 2 * q, generator=g),
        box,
        torch.tensor([0.3, 0.3, 0.2, 0.2]).expand(batch, R, 4),
        torch.tensor([mask] * batch),
    )


def test_shifted_reads_the_neighbour_and_zero_outside():
    x = torch.arange(6.0).reshape(1, 1, 2, 3)
    assert shifted(x, 1, 0).squeeze().tolist() == [[3, 4, 5], [0, 0, 0]]
    assert shifted(x, 0, -1).squeeze().tolist() == [[0, 0, 1], [0, 3, 4]]


def test_matching_distance_of_a_frame_with_itself_is_zero_and_of_a_shifted_one_zero_within_the_radius():
    x = torch.randn(1, 6, 8, 9)
    for side in matching_distance(x, x, (0, 1)):
        assert side.abs().max() < 1e-5
    before, after = matching_distance(x, shifted(x, 0, 1), (0, 1))
    assert before[0, 0].max() > 0.1 and after[0, 0].max() > 0.1
    assert before[0, 1, :, 1:].abs().max() < 1e-5  # the column that left the frame has no match
    assert after[0, 1, :, :-1].abs().max() < 1e-5


def test_matching_distance_seen_from_the_other_frame_is_that_of_the_swapped_frames():
    x, y = torch.randn(2, 5, 7, 6), torch.randn(2, 5, 7, 6)
    there, back = matching_distance(x, y, (0, 2)), matching_distance(y, x, (0, 2))
    assert torch.allclose(there[0], back[1], atol=1e-6) and torch.allclose(there[1], back[0], atol=1e-6)


def test_swapping_the_frames_swaps_the_maps(config):
    difference = Difference(config).eval()
    cb, fb, ca, fa = looks(config, 2)
    forward, backward = difference(cb, fb, ca, fa), difference(ca, fa, cb, fb)
    assert torch.allclose(forward["logits_before"], backward["logits_after"], atol=1e-5)
    assert torch.allclose(forward["logits_after"], backward["logits_before"], atol=1e-5)


def test_served_maps_are_the_maps_times_the_probability_of_a_change(config):
    d = Difference(config).eval()(*looks(config, 2))
    gate = torch.sigmoid(d["change_logit"])[:, None, None]
    assert torch.allclose(d["map_before"], torch.sigmoid(d["logits_before"]) * gate, atol=1e-6)
    assert torch.allclose(d["map_after"], torch.sigmoid(d["logits_after"]) * gate, atol=1e-6)


def test_scorer_layer_matches_every_token_with_itself_best():
    layer = CrossViewLayer(16, 2, 0.0)
    with torch.no_grad():
        layer.key.weight.copy_(layer.query.weight)
        layer.key.bias.copy_(layer.query.bias)
    x = torch.randn(4, 9, 16)
    for per_head in (True, False):
        s = layer.match(x, x, per_head=per_head, cosine=True)
        assert (s.argmax(1) == torch.arange(4)).all()
        assert info_nce(s) < np.log(4)


def test_a_padded_memory_slot_changes_nothing(config):
    captioner = Captioner(config).eval()
    memory = torch.randn(1, 5, config.width)
    one, other = (region_crops(config, 1, [1.0, 0.0], seed) for seed in (1, 2))
    other = tuple(torch.cat([a[:, :1], b[:, 1:]], 1) for a, b in zip(one[:-1], other[:-1])) + (
        one[-1],
    )  # only the empty slot differs
    a, b = captioner.greedy(memory, one), captioner.greedy(memory, other)
    assert a["ids"].tolist() == b["ids"].tolist()
    assert torch.allclose(a["log_prob"], b["log_prob"], atol=1e-6)


@pytest.mark.parametrize("owes", [False, True])
def test_greedy_with_caches_says_what_the_whole_decoder_says(config, owes):
    torch.manual_seed(3)
    if owes:  # words that tell, so that what is owed changes on the way
        words = ["has", "left", "appeared", "moved", "gone", "the", "and", "on", "now", "have", "a", "is"]
        config = replace(config, crop_relations=True, vocabulary=[*SPECIALS, *words])
    captioner = Captioner(config).eval()
    if owes:
        torch.nn.init.normal_(captioner.coverage.weight, std=3.0)
        torch.nn.init.normal_(captioner.crops.relations.to_conditioning.weight)
    memory = torch.randn(3, 5, config.width)
    seen = region_crops(config, 3, [1.0, 1.0])
    said = captioner.greedy(memory, seen)
    ids = torch.cat([torch.full((3, 1), START), said["ids"]], 1)[:, :-1]
    logits, _, _ = captioner(memory, seen, ids)
    logits[:, :, : START + 1] = -1e9
    best = logits.argmax(-1)
    for row in range(3):
        n = int(said["length"][row]) + 1
        assert best[row, :n].tolist() == said["ids"][row, :n].tolist()
    attention = said["attention"].sum(-1)
    assert torch.allclose(attention[0, : int(said["length"][0])], torch.ones(int(said["length"][0])), atol=1e-5)


def test_attention_on_a_glances_summary_is_spread_over_its_cells(config):
    attention = torch.rand(2, 3, 4 + 2 * (9 + 1))
    spread = expand_crop_attention(attention, 2, 3, 4, 2, 9)
    assert torch.equal(spread[:, :, :4], attention[:, :, :4])
    assert torch.allclose(spread[:, :, 4:13], attention[:, :, 4:13] + attention[:, :, 13:14] / 9)
    assert torch.allclose(spread.sum(2), attention.sum(2))
    said = Captioner(config).eval().greedy(torch.randn(1, 5, config.width), region_crops(config, 1, [1.0, 1.0]))
    assert said["attention"].shape[2] == 5 + config.regions * config.crop_grid**2


def test_after_the_end_everything_is_padding(config):
    captioner = Captioner(config).eval()
    with torch.no_grad():
        captioner.logits.bias[END] = 50.0
    said = captioner.greedy(torch.randn(2, 4, config.width), None)
    assert said["ids"].tolist() == [[END] + [PAD] * (config.max_length - 1)] * 2
    assert said["length"].tolist() == [0, 0]


def test_inside_box_marks_the_cells_whose_centres_lie_in_the_region(config):
    inside = inside_box(torch.tensor([[0.0, 0.0, 0.7, 0.7]]), torch.tensor([[0.1, 0.0, 0.1, 0.7]]), 7).reshape(7, 7)
    assert inside[:, 1].eq(1).all() and inside.sum() == 7


def stage(
    c: ModelConfig, background: torch.Tensor, things: dict[tuple[int, int], torch.Tensor]
) -> tuple[torch.Tensor, ...]:
    """Glances of one pair: crops of `background` [C], and in the middle of crop r of frame s what `things[r, s]` [C]
    looks like."""
    q, R = c.crop_grid, c.regions
    maps = []
    for channels, grid in ((c.coarse_channels, q), (c.fine_channels, 2 * q)):
        x = background[:channels].reshape(1, 1, 1, -1, 1, 1).repeat(1, R, 2, 1, grid, grid)
        a, b = grid // 3, grid - grid // 3
        for (r, s), look in things.items():
            x[0, r, s, :, a:b, a:b] = look[:channels, None, None]
        maps.append(x)
    crop, obj = torch.tensor([0.2, 0.2, 0.3, 0.3]).expand(1, R, 4), torch.tensor([0.3, 0.3, 0.1, 0.1]).expand(1, R, 4)
    return *maps, crop, obj


def test_a_thing_is_more_like_itself_elsewhere_than_like_another_thing(config):
    c = replace(config, regions=3)
    one, other, ground = torch.randn(3, 8, generator=torch.Generator().manual_seed(0))
    evidence = same_object_evidence(*stage(c, ground, {(0, 0): one, (1, 1): one, (2, 1): other}))
    assert evidence.shape == (1, 3, 3, 13) and evidence.isfinite().all()
    moved, left = evidence[0, 0, 1], evidence[0, 0, 2]
    assert (moved[:6] > left[:6] + 1).all()  # every cosine, by more than a standard deviation
    assert (moved[6:9] <= left[6:9]).all()  # and the colours are nearer
    assert evidence[0, 1, 1, -1] > evidence[0, 0, 1, -1]  # the last channel: one place


def test_empty_glances_give_finite_evidence(config):
    q, R, B = config.crop_grid, config.regions, 2
    nothing = (
        torch.zeros(B, R, 2, config.coarse_channels, q, q),
        torch.zeros(B, R, 2, config.fine_channels, 2 * q, 2 * q),
    )
    boxes = torch.zeros(B, R, 4), torch.zeros(B, R, 4)
    assert same_object_evidence(*nothing, *boxes).isfinite().all()
    assert displacement_features(displacements(*nothing, *boxes), boxes[1][:, :, None]).isfinite().all()


@pytest.mark.parametrize("dx,dy", [(1, 0), (-2, 0), (0, 1), (-1, -2)])
def test_within_a_glance_the_features_tell_which_way_a_thing_has_gone(config, dx, dy):
    q, g = config.crop_grid, torch.Generator().manual_seed(3)
    coarse, fine = (
        torch.randn(channels, k * q, k * q, generator=g)[None].repeat(2, 1, 1, 1) for channels, k in ((32, 1), (35, 2))
    )
    for x, k in ((coarse, 1), (fine, 2)):
        thing = torch.randn(x.shape[1], k, 2 * k, generator=g)
        for frame, (left, top) in ((0, (2, 3)), (1, (2 + dx, 3 + dy))):
            x[frame, :, top * k : (top + 1) * k, left * k : (left + 2) * k] = thing
    crop = torch.tensor([[[0.2, 0.3, 0.35, 0.35]]])
    way = displacements(coarse[None, None], fine[None, None], crop, crop)[0, 0, 0]
    for found, steps in zip(
        way.tolist(), (dx, dy)
    ):  # what was hidden finds no match and dilutes it, so a half is enough
        assert abs(steps) * 0.05 / 2 - 0.01 <= found * (1 if steps >= 0 else -1) <= abs(steps) * 0.05 + 0.02, (
            way,
            dx,
            dy,
        )


def test_between_glances_the_boxes_tell_which_way_a_thing_has_gone(config):
    q = config.crop_grid
    seen = torch.randn(1, 2, 2, 8, q, q), torch.randn(1, 2, 2, 7, 2 * q, 2 * q)
    boxes = torch.tensor([[[0.1, 0.2, 0.1, 0.2], [0.6, 0.5, 0.2, 0.4]]])
    found = displacements(*seen, boxes, boxes)
    torch.testing.assert_close(found[0, 0, 1], torch.tensor([0.55, 0.5, 0.6931]), atol=1e-4, rtol=0)
    torch.testing.assert_close(found[0, 1, 0], -found[0, 0, 1])
    told = displacement_features(found, boxes[:, :, None])
    assert (told.abs() <= 1).all() and told[0, 0, 1, 0] > 0.9 and told[0, 1, 0, 4] < -0.8


def test_a_sentence_owes_a_word_for_each_told_thing_and_a_word_pays_once(config):
    role = torch.zeros(1, 3, 2, 4)
    role[0, 0, 1, 1] = role[0, 1, 0, 2] = role[0, 2, 1, 2] = (
        1.0  # one has come, one has moved from the second glance to the third
    )
    assert count_events(role).tolist() == [[1.0, 0.0, 1.0, 0.0]]
    words = ["the", "man", "on", "left", "has", "moved", "and", "a", "appeared", "gone", "is"]
    captioner = Captioner(
        replace(config, vocabulary=[*SPECIALS, *words], event_words=EVENT_WORDS, event_needs=EVENT_NEEDS)
    )
    say = lambda text: torch.tensor([captioner.c.vocabulary.index(w) for w in text.split()])
    told = lambda text: captioner.event_of_word(say(text), F.pad(say(text), (1, 0))[:-1]).sum(0).tolist()
    assert told("the man on the left has moved and a man has appeared") == [1.0, 0.0, 1.0, 0.0]
    assert told("the man on the left has left and the man is gone") == [0.0, 2.0, 0.0, 0.0]


def test_only_what_has_moved_is_told_with_a_way(config):
    c = replace(config, regions=2, crop_relations=True)
    relations = Captioner(c).crops.relations
    way, link = torch.rand(1, 2, 2, 5), torch.tensor([[[0.0, 0.9], [0.0, 0.0]]])
    role = torch.zeros(1, 2, 2, 4)
    role[0, 0, 0, 2] = role[0, 1, 1, 2] = 1.0  # "moved": before at the first glance, after at the second
    told = relations.moved_features(way, link, role).reshape(2, 2, 5)
    torch.testing.assert_close(told[0, 0], way[0, 0, 1], atol=2e-3, rtol=0)
    torch.testing.assert_close(told[1, 1], way[0, 0, 1], atol=2e-3, rtol=0)
    assert (told[0, 1] == 0).all() and (told[1, 0] == 0).all()


def test_told_what_it_believes_the_glances_remember_what_they_would_have_remembered_anyway(config):
    torch.manual_seed(1)
    c = replace(config, regions=3, crop_relations=True, same_object_bias=0.0)
    captioner, memory, seen = Captioner(c).eval(), torch.randn(2, 4, c.width), region_crops(c, 2, [1.0, 1.0, 0.0])
    for last in captioner.crops.relations.outputs():
        torch.nn.init.normal_(last.weight)
    several = F.one_hot(torch.tensor([KINDS.index("multi")] * 2), len(KINDS)) * 100.0  # which allows every role
    believed, _, conditioning, _, logits = captioner.encode_memory(memory, seen, several)
    truth = {"role": logits["role_logits"].argmax(-1), "kind": logits["kind_logits"].argmax(-1)}
    for known in (truth, {**truth, "role": torch.full_like(truth["role"], -100)}):
        told = captioner.encode_memory(memory, seen, None, known)
        torch.testing.assert_close(told[0], believed)
        torch.testing.assert_close(told[2], conditioning)
    captioner.crops.relations.same_object_bias = 1.4
    shifted_odds = captioner.encode_memory(memory, seen, several)[4]["same_logits"] - logits["same_logits"]
    torch.testing.assert_close(shifted_odds, torch.full_like(shifted_odds, 1.4))
    other = captioner.encode_memory(memory, seen, None, {**truth, "kind": truth["kind"] % 5 + 1})
    assert not torch.allclose(other[0], believed) and not torch.allclose(other[2], conditioning)


@pytest.mark.parametrize(
    "kind,before,after",
    [
        ("appear", {0}, {0, 1}),
        ("disappear", {0, 1}, {0}),
        ("move", {0, 2}, {0, 2}),
        ("multi", {0, 1, 2, 3}, {0, 1, 2, 3}),
    ],
)
def test_the_kind_that_is_believed_together_with_the_whole_look_says_which_roles_are_told(config, kind, before, after):
    torch.manual_seed(2)
    c = replace(config, regions=3, crop_relations=True)
    captioner, memory, seen = Captioner(c).eval(), torch.randn(8, 4, c.width), region_crops(c, 8, [1.0, 1.0, 1.0])
    relations, told = captioner.crops.relations, []
    torch.nn.init.normal_(relations.role[-1].weight, std=3.0)
    relations.roles_to_summary.register_forward_hook(
        lambda module, given, made: told.append(given[0].reshape(8, 3, 2, -1))
    )
    frame_kind = F.one_hot(torch.tensor([KINDS.index(kind)] * 8), len(KINDS)) * 100.0
    assert (captioner.encode_memory(memory, seen, frame_kind)[4]["kind_logits"].argmax(1) == KINDS.index(kind)).all()
    for frame, allowed in enumerate((before, after)):
        assert set(told[0][:, :, frame].argmax(-1).unique().tolist()) <= allowed
        assert (told[0][:, :, frame].sum(-1) == 1).all()


def test_map_loss_prefers_the_true_map():
    coverage = torch.zeros(1, 8, 8)
    coverage[0, 2:4, 2:4] = 1.0
    right = torch.where(coverage > 0, 6.0, -6.0)
    assert map_loss(right, coverage) < 0.2 < map_loss(-right, coverage)
    assert map_loss(torch.full_like(right, -6.0), torch.zeros_like(coverage)) < 0.05


def test_a_noun_that_is_not_sure_enough_gives_way_to_the_wider_one():
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
    score, said = captioner.choose(torn)
    assert [c.vocabulary[i] for i in said] == ["person", "man", "car"]
    assert score.exp().tolist() == pytest.approx([0.9, 0.8, 0.6])  # of a person: man, woman and person together
    captioner.hedge({"man": "person"}, 0.0)
    assert captioner.choose(torn)[1].tolist() == [4, 4, 7]


def test_the_glances_say_of_which_kind_the_change_is_and_empty_ones_have_no_say():
    torch.manual_seed(3)
    c = ModelConfig(
        vocabulary=["<pad>", "<unk>", "<start>", "<end>", "a"],
        nouns=["man"],
        colours=["red"],
        width=32,
        heads=4,
        regions=2,
        coarse_channels=8,
        fine_channels=7,
        crop_relations=True,
        colour_head=True,
    )
    captioner = Captioner(c).eval()
    memory = torch.randn(1, 96, 32)
    one, other = (region_crops(c, 1, [1.0, 0.0], seed) for seed in (1, 2))
    mixed = tuple(torch.cat([a[:, :1], b[:, 1:]], 1) for a, b in zip(one[:4], other[:4])) + one[4:]
    first, second = (captioner.encode_memory(memory, g)[4]["kind_logits"] for g in (one, mixed))
    assert first.shape == (1, 6)
    assert torch.allclose(first, second)
    assert not torch.allclose(first, captioner.encode_memory(memory, other)[4]["kind_logits"])


def test_the_words_tell_of_the_strongest_glances_and_the_kind_of_all(config):
    torch.manual_seed(0)
    c = replace(config, regions=3, crop_relations=True)
    captioner, memory = Captioner(c).eval(), torch.randn(1, 4, c.width)
    three, one = region_crops(c, 1, [1.0, 1.0, 1.0]), region_crops(c, 1, [1.0, 0.0, 0.0])
    empty = lambda g: [
        round(v) for v in captioner.encode_memory(memory, g)[1].flatten()[4 :: c.crop_grid**2 + 1].tolist()
    ]
    assert empty(three) == [0, 0, -10_000] and empty(one) == [0, -10_000, -10_000]
    assert not torch.allclose(
        *(captioner.greedy(memory, g)["kind_logits"] for g in (three, region_crops(c, 1, [1.0, 1.0, 0.0])))
    )
    captioner.train()
    assert empty(three) == [0, 0, 0]


def test_calibration_finds_the_same_line_for_overlapping_and_for_nearly_separate_classes():
    from training.bundle.calibrate import platt

    rng = np.random.default_rng(0)
    x = rng.normal(0, 2, 4000)
    changed = (rng.random(4000) < 1 / (1 + np.exp(-(1.5 * x - 0.5)))).astype(float)
    scale, offset = platt(x, changed)
    assert (scale, offset) == (pytest.approx(1.5, abs=0.15), pytest.approx(-0.5, abs=0.15))
    far = np.concatenate([rng.normal(-12, 6, 270), rng.normal(14, 6, 330)])
    scale, offset = platt(far, (np.arange(600) >= 270).astype(float))
    assert 0.1 < scale < 5
    assert abs(offset) < 5


@pytest.mark.parametrize("probability", [0.1234564, 0.1234566, 0.123456, 0.5, 0.0, 0.9999985])
def test_a_threshold_leaves_out_the_unchanged_pair_that_it_is_to_leave_out(probability):
    from training.bundle.calibrate import operating_point

    point = operating_point(np.array([probability, 0.0, probability, 1.0]), np.array([0, 0, 1, 1]), 0.1)
    assert probability < point["threshold"] <= probability + 1.1e-6
    assert point["threshold"] == round(point["threshold"], 6)
    assert point["recall"] == 0.5  # of the pair as sure as that one: not found, as served


def test_what_is_kept_is_the_moving_average_of_the_weights():
    config = {
        "world": "surveillance",
        "model": {"width": 16, "heads": 2, "map_width": 8, "max_length": 6},
        "train": {"learning_rate": 1e-3, "weight_decay": 0.0, "average": 0.75},
    }
    run = Run(config, Labels(vocabulary=[*SPECIALS, "w"], nouns=["car"], colours=["red"]), 1, "cpu")
    weight = lambda parts: parts[0].change[0].weight.detach().clone()
    first = weight(run.parts)
    run.average.update_parameters(run.parts)
    with torch.no_grad():
        run.difference.change[0].weight += 1
    run.average.update_parameters(run.parts)
    torch.testing.assert_close(weight(run.parts), first + 1)
    torch.testing.assert_close(weight(run.kept()), first + 0.25)


def test_a_run_that_goes_on_has_its_average_again(tmp_path):
    config = {
        "world": "surveillance",
        "model": {"width": 16, "heads": 2, "map_width": 8, "max_length": 6},
        "train": {"learning_rate": 1e-3, "weight_decay": 0.0, "average": 0.5},
    }
    labels = Labels(vocabulary=[*SPECIALS, "w"], nouns=["car"], colours=["red"])
    run, again = Run(config, labels, 1, "cpu"), Run(config, labels, 1, "cpu")
    torch.nn.init.ones_(again.difference.change[0].weight)
    run.average.update_parameters(run.parts)
    run.save(tmp_path / "checkpoint.pt")
    again.restore(tmp_path / "checkpoint.pt")
    for ours, theirs in ((run.parts, again.parts), (run.kept(), again.kept())):
        for a, b in zip(ours.parameters(), theirs.parameters()):
            torch.testing.assert_close(a, b)


def test_rates_that_fit_nothing_and_a_checkpoint_of_other_rates_are_refused(tmp_path):
    model = {"width": 16, "heads": 2, "map_width": 8, "max_length": 6}
    labels = Labels(vocabulary=[*SPECIALS, "w"], nouns=["car"], colours=["red"])
    run = lambda **rates: Run(
        {
            "world": "surveillance",
            "model": model,
            "train": {"learning_rate": 1e-3, "weight_decay": 0.0, "rates": rates},
        },
        labels,
        1,
        "cpu",
    )
    with pytest.raises(SystemExit, match="no parameter's name starts with captioner.glanses"):
        run(**{"captioner.glanses": 2.0})
    run(**{"cbr": 3.0}).save(tmp_path / "checkpoint.pt")
    with pytest.raises(
        SystemExit, match=r"checkpoint.pt: was trained with train.rates \{'cbr': 3.0\}, expected \{'cbr': 2.0\}"
    ):
        run(**{"cbr": 2.0}).restore(tmp_path / "checkpoint.pt")


def test_the_place_of_the_first_clause_counts_only_where_it_is_true_of_what_did_that():
    meta = {
        "objects": [
            {
                "action": "appeared",
                "noun": "car",
                "colour": "red",
                "where": "on the left",
                "places": ["on the left", "on the road"],
            }
        ]
    }
    assert judge("a red car has appeared on the road", meta).place
    assert not judge("a red car has appeared on the right", meta).place
    assert not judge("a red car has appeared", meta).place
    assert not judge("the red car on the left has left", meta).place
    assert not judge("nothing has changed", {"objects": []}).place


def test_a_caption_tells_only_of_what_a_glance_is_at():
    came, gone = (
        {"action": a, "box_before": b, "box_after": f}
        for a, b, f in (("appeared", None, [100, 100, 40, 40]), ("disappeared", [300, 100, 40, 40], None))
    )
    old, new = (
        {"action": "replaced", "box_before": b, "box_after": f}
        for b, f in (([500, 100, 40, 40], None), (None, [500, 300, 40, 40]))
    )
    at = lambda objects, *boxes: described_objects(
        {"frame": [640, 480], "objects": objects, "glances": [{}] * len(boxes)},
        [tuple(v / s for v, s in zip(box, (640, 480, 640, 480))) for box in boxes],
        [tuple(v / s for v, s in zip(crop_square(box, 640, 480), (640, 480, 640, 480))) for box in boxes],
    )
    assert at([came, gone], [102, 98, 40, 40]) == [came]
    assert at([came, gone], [300, 100, 40, 40], [100, 100, 40, 40]) == [came, gone]
    assert at([came, old, new], [500, 300, 40, 40]) == [old, new]
    assert at([came, gone], [10, 400, 40, 40]) == [came, gone]  # nothing of it is seen: then the whole look has to tell


class TestGlanceObjects:
    moved = {"action": "moved", "box_before": [100, 100, 40, 40], "box_after": [400, 100, 40, 40]}
    gone = {"action": "disappeared", "box_before": [150, 100, 40, 40], "box_after": None}

    def at(self, *boxes):
        """What the glances at `boxes` (pixels of 640x480) show."""
        shares = [tuple(v / s for v, s in zip(box, (640, 480, 640, 480))) for box in boxes]
        crops = [tuple(v / s for v, s in zip(crop_square(box, 640, 480), (640, 480, 640, 480))) for box in boxes]
        seen = [{"side": "both", "before": {}, "after": {}} for _ in boxes]
        return objects_in_crops(
            {"frame": [640, 480], "objects": [self.moved, self.gone], "glances": seen}, shares, crops
        )

    def test_the_same_object_is_found_where_it_was_and_where_it_is(self):
        (was, nothing), (none, now) = self.at((98, 102, 40, 40), (402, 98, 40, 40))
        assert was is self.moved and now is self.moved
        assert nothing is None and none is None

    def test_what_only_stands_beside_the_box_is_not_what_the_glance_is_at(self):
        ((before, after),) = self.at((196, 100, 40, 40))
        assert before is None and after is None

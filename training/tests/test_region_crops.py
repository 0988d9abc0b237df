"""Region crops: evidence without parameters, relations between crops, and what reaches the decoder."""

from dataclasses import replace

import pytest

torch = pytest.importorskip("torch")
F = torch.nn.functional

from training.contract import KINDS
from training.net.captioner import Captioner
from training.net.config import ModelConfig
from training.net.crop_evidence import displacement_features, displacements, inside_box, same_object_evidence
from training.tests.networks import random_crops, small_config


@pytest.fixture(scope="module")
def config() -> ModelConfig:
    return small_config()


def test_inside_box_marks_the_cells_whose_centres_lie_in_the_box(config):
    inside = inside_box(torch.tensor([[0.0, 0.0, 0.7, 0.7]]), torch.tensor([[0.1, 0.0, 0.1, 0.7]]), 7).reshape(7, 7)
    assert inside[:, 1].eq(1).all() and inside.sum() == 7


def stage(
    c: ModelConfig, background: torch.Tensor, things: dict[tuple[int, int], torch.Tensor]
) -> tuple[torch.Tensor, ...]:
    """The arguments of `same_object_evidence` for one pair: every cell has the features `background` [C], but the
    middle of crop r in frame s has `things[r, s]` [C]."""
    q, R = c.crop_grid, c.regions
    maps = []
    for channels, grid in ((c.coarse_channels, q), (c.fine_channels, 2 * q)):
        x = background[:channels].reshape(1, 1, 1, -1, 1, 1).repeat(1, R, 2, 1, grid, grid)
        a, b = grid // 3, grid - grid // 3
        for (r, s), appearance in things.items():
            x[0, r, s, :, a:b, a:b] = appearance[:channels, None, None]
        maps.append(x)
    crop, obj = torch.tensor([0.2, 0.2, 0.3, 0.3]).expand(1, R, 4), torch.tensor([0.3, 0.3, 0.1, 0.1]).expand(1, R, 4)
    return *maps, crop, obj


def test_an_object_is_more_like_itself_elsewhere_than_like_another_object(config):
    c = replace(config, regions=3)
    one, other, ground = torch.randn(3, 8, generator=torch.Generator().manual_seed(0))
    evidence = same_object_evidence(*stage(c, ground, {(0, 0): one, (1, 1): one, (2, 1): other}))
    assert evidence.shape == (1, 3, 3, 13) and evidence.isfinite().all()
    moved, left = evidence[0, 0, 1], evidence[0, 0, 2]
    assert (moved[:6] > left[:6] + 1).all()  # every cosine, by more than a standard deviation
    assert (moved[6:9] <= left[6:9]).all()  # and the colours are nearer
    assert evidence[0, 1, 1, -1] > evidence[0, 0, 1, -1]  # the last channel: one place


def test_empty_crops_give_finite_evidence(config):
    q, R, B = config.crop_grid, config.regions, 2
    nothing = (
        torch.zeros(B, R, 2, config.coarse_channels, q, q),
        torch.zeros(B, R, 2, config.fine_channels, 2 * q, 2 * q),
    )
    boxes = torch.zeros(B, R, 4), torch.zeros(B, R, 4)
    assert same_object_evidence(*nothing, *boxes).isfinite().all()
    assert displacement_features(displacements(*nothing, *boxes), boxes[1][:, :, None]).isfinite().all()


@pytest.mark.parametrize("dx,dy", [(1, 0), (-2, 0), (0, 1), (-1, -2)])
def test_displacement_within_a_crop_follows_from_the_features(config, dx, dy):
    q, g = config.crop_grid, torch.Generator().manual_seed(3)
    coarse, fine = (
        torch.randn(channels, k * q, k * q, generator=g)[None].repeat(2, 1, 1, 1) for channels, k in ((32, 1), (35, 2))
    )
    for x, k in ((coarse, 1), (fine, 2)):
        thing = torch.randn(x.shape[1], k, 2 * k, generator=g)
        for frame, (left, top) in ((0, (2, 3)), (1, (2 + dx, 3 + dy))):
            x[frame, :, top * k : (top + 1) * k, left * k : (left + 2) * k] = thing
    crop = torch.tensor([[[0.2, 0.3, 0.35, 0.35]]])
    displacement = displacements(coarse[None, None], fine[None, None], crop, crop)[0, 0, 0]
    for found, steps in zip(
        displacement.tolist(), (dx, dy)
    ):  # the hidden background finds no match and dilutes it, so a half is enough
        assert abs(steps) * 0.05 / 2 - 0.01 <= found * (1 if steps >= 0 else -1) <= abs(steps) * 0.05 + 0.02, (
            displacement,
            dx,
            dy,
        )


def test_displacement_between_crops_follows_from_the_boxes(config):
    q = config.crop_grid
    seen = torch.randn(1, 2, 2, 8, q, q), torch.randn(1, 2, 2, 7, 2 * q, 2 * q)
    boxes = torch.tensor([[[0.1, 0.2, 0.1, 0.2], [0.6, 0.5, 0.2, 0.4]]])
    found = displacements(*seen, boxes, boxes)
    torch.testing.assert_close(found[0, 0, 1], torch.tensor([0.55, 0.5, 0.6931]), atol=1e-4, rtol=0)
    torch.testing.assert_close(found[0, 1, 0], -found[0, 0, 1])
    features = displacement_features(found, boxes[:, :, None])
    assert (features.abs() <= 1).all() and features[0, 0, 1, 0] > 0.9 and features[0, 1, 0, 4] < -0.8


def test_only_moved_objects_have_displacement_features(config):
    c = replace(config, regions=2, crop_relations=True)
    relations = Captioner(c).crops.relations
    displacement, link = torch.rand(1, 2, 2, 5), torch.tensor([[[0.0, 0.9], [0.0, 0.0]]])
    role = torch.zeros(1, 2, 2, 4)
    role[0, 0, 0, 2] = role[0, 1, 1, 2] = 1.0  # "moved": before at the first crop, after at the second
    features = relations.moved_features(displacement, link, role).reshape(2, 2, 5)
    torch.testing.assert_close(features[0, 0], displacement[0, 0, 1], atol=2e-3, rtol=0)
    torch.testing.assert_close(features[1, 1], displacement[0, 0, 1], atol=2e-3, rtol=0)
    assert (features[0, 1] == 0).all() and (features[1, 0] == 0).all()


def test_true_roles_equal_to_the_predicted_ones_give_the_same_memory(config):
    torch.manual_seed(1)
    c = replace(config, regions=3, crop_relations=True, same_object_bias=0.0)
    captioner, memory, seen = Captioner(c).eval(), torch.randn(2, 4, c.width), random_crops(c, 2, [1.0, 1.0, 0.0])
    for last in captioner.crops.relations.outputs():
        torch.nn.init.normal_(last.weight)
    several = F.one_hot(torch.tensor([KINDS.index("multi")] * 2), len(KINDS)) * 100.0  # which allows every role
    tokens, _, conditioning, _, logits = captioner.encode_memory(memory, seen, several)
    truth = {"role": logits["role_logits"].argmax(-1), "kind": logits["kind_logits"].argmax(-1)}
    for known in (truth, {**truth, "role": torch.full_like(truth["role"], -100)}):
        again = captioner.encode_memory(memory, seen, None, known)
        torch.testing.assert_close(again[0], tokens)
        torch.testing.assert_close(again[2], conditioning)
    captioner.crops.relations.same_object_bias = 1.4
    shifted_odds = captioner.encode_memory(memory, seen, several)[4]["same_logits"] - logits["same_logits"]
    torch.testing.assert_close(shifted_odds, torch.full_like(shifted_odds, 1.4))
    other = captioner.encode_memory(memory, seen, None, {**truth, "kind": truth["kind"] % 5 + 1})
    assert not torch.allclose(other[0], tokens) and not torch.allclose(other[2], conditioning)


@pytest.mark.parametrize(
    "kind,before,after",
    [
        ("appear", {0}, {0, 1}),
        ("disappear", {0, 1}, {0}),
        ("move", {0, 2}, {0, 2}),
        ("multi", {0, 1, 2, 3}, {0, 1, 2, 3}),
    ],
)
def test_the_kind_limits_the_roles(config, kind, before, after):
    torch.manual_seed(2)
    c = replace(config, regions=3, crop_relations=True)
    captioner, memory, seen = Captioner(c).eval(), torch.randn(8, 4, c.width), random_crops(c, 8, [1.0, 1.0, 1.0])
    relations, roles = captioner.crops.relations, []
    torch.nn.init.normal_(relations.role[-1].weight, std=3.0)
    relations.roles_to_summary.register_forward_hook(
        lambda module, given, made: roles.append(given[0].reshape(8, 3, 2, -1))
    )
    frame_kind = F.one_hot(torch.tensor([KINDS.index(kind)] * 8), len(KINDS)) * 100.0
    assert (captioner.encode_memory(memory, seen, frame_kind)[4]["kind_logits"].argmax(1) == KINDS.index(kind)).all()
    for frame, allowed in enumerate((before, after)):
        assert set(roles[0][:, :, frame].argmax(-1).unique().tolist()) <= allowed
        assert (roles[0][:, :, frame].sum(-1) == 1).all()


def test_the_kind_depends_on_used_crops_only():
    torch.manual_seed(3)
    c = small_config(crop_relations=True, colour_head=True)
    captioner = Captioner(c).eval()
    memory = torch.randn(1, 96, c.width)
    one, other = (random_crops(c, 1, [1.0, 0.0], seed) for seed in (1, 2))
    mixed = tuple(torch.cat([a[:, :1], b[:, 1:]], 1) for a, b in zip(one[:4], other[:4])) + one[4:]
    first, second = (captioner.encode_memory(memory, g)[4]["kind_logits"] for g in (one, mixed))
    assert first.shape == (1, 6)
    assert torch.allclose(first, second)
    assert not torch.allclose(first, captioner.encode_memory(memory, other)[4]["kind_logits"])


def test_words_describe_the_strongest_crops_and_the_kind_depends_on_all(config):
    torch.manual_seed(0)
    c = replace(config, regions=3, crop_relations=True)
    captioner, memory = Captioner(c).eval(), torch.randn(1, 4, c.width)
    three, one = random_crops(c, 1, [1.0, 1.0, 1.0]), random_crops(c, 1, [1.0, 0.0, 0.0])
    empty = lambda g: [
        round(v) for v in captioner.encode_memory(memory, g)[1].flatten()[4 :: c.crop_grid**2 + 1].tolist()
    ]
    assert empty(three) == [0, 0, -10_000] and empty(one) == [0, -10_000, -10_000]
    assert not torch.allclose(
        *(captioner.greedy(memory, g)["kind_logits"] for g in (three, random_crops(c, 1, [1.0, 1.0, 0.0])))
    )
    captioner.train()
    assert empty(three) == [0, 0, 0]

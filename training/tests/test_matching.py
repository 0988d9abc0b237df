"""The local feature matching and the cross-view layer, on random features."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")
F = torch.nn.functional

from training.net.cross_view import CrossViewLayer, info_nce
from training.net.matching import matching_distance


def matches_one_by_one(x, y, radius):
    """The best cosine of every cell of x among those of y within the radius, by its definition: [h,w]."""
    x, y = F.normalize(x, dim=0), F.normalize(y, dim=0)
    h, w = x.shape[1:]
    near = range(-radius, radius + 1)

    def cosine(r, c, row, column):
        inside = 0 <= row < h and 0 <= column < w
        return float(x[:, r, c] @ y[:, row, column]) if inside else 0.0

    best = lambda r, c: max(cosine(r, c, r + dy, c + dx) for dy in near for dx in near)
    return torch.tensor([[best(r, c) for c in range(w)] for r in range(h)])


@pytest.mark.parametrize("radii", [(0, 1, 2), (2,), (0,)])
def test_matching_distance_is_that_of_the_best_cell_within_the_radius(radii):
    x, y = torch.randn(2, 3, 6, 5), torch.randn(2, 3, 6, 5)
    of_x, of_y = matching_distance(x, y, radii)
    for i, radius in enumerate(radii):
        for pair in range(2):
            there = 1 - matches_one_by_one(x[pair], y[pair], radius)
            back = 1 - matches_one_by_one(y[pair], x[pair], radius)
            assert torch.allclose(of_x[pair, i], there, atol=1e-6) and torch.allclose(of_y[pair, i], back, atol=1e-6)


def test_matching_distance_of_a_frame_with_itself_is_zero_and_of_a_shifted_one_zero_within_the_radius():
    x = torch.randn(1, 6, 8, 9)
    for side in matching_distance(x, x, (0, 1)):
        assert side.abs().max() < 1e-5
    shifted = F.pad(x[..., 1:], (0, 1))
    before, after = matching_distance(x, shifted, (0, 1))
    assert before[0, 0].max() > 0.1 and after[0, 0].max() > 0.1
    assert before[0, 1, :, 1:].abs().max() < 1e-5  # the column that left the frame has no match
    assert after[0, 1, :, :-1].abs().max() < 1e-5


def test_matching_distance_seen_from_the_other_frame_is_that_of_the_swapped_frames():
    x, y = torch.randn(2, 5, 7, 6), torch.randn(2, 5, 7, 6)
    there, back = matching_distance(x, y, (0, 2)), matching_distance(y, x, (0, 2))
    assert torch.allclose(there[0], back[1], atol=1e-6) and torch.allclose(there[1], back[0], atol=1e-6)


def test_cross_view_layer_matches_every_token_with_itself_best():
    layer = CrossViewLayer(16, 2, 0.0)
    with torch.no_grad():
        layer.key.weight.copy_(layer.query.weight)
        layer.key.bias.copy_(layer.query.bias)
    x = torch.randn(4, 9, 16)
    for per_head in (True, False):
        s = layer.match(x, x, per_head=per_head, cosine=True)
        assert (s.argmax(1) == torch.arange(4)).all()
        assert info_nce(s) < np.log(4)

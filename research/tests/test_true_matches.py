"""True matches of two views of a CLEVR scene."""

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("numba")

from research.clevr.pair_source import CHANGED, DISTRACTOR, ClevrPairSource  # noqa: E402
from research.clevr.rules import ChangedScene  # noqa: E402
from research.clevr.true_matches import true_matches  # noqa: E402

GRID = (16, 24)


def scene_with(change: str) -> ChangedScene:
    source = ClevrPairSource(split="train")
    return next(scene for n in range(60) for scene in source.draw_scenes([n]) if scene.change == change)


def same_camera(scene: ChangedScene) -> ChangedScene:
    return replace(scene, eyes=np.repeat(scene.eyes[:1], 3, axis=0))


def test_one_camera_matches_each_cell_with_itself():
    found = true_matches(same_camera(scene_with("move")), DISTRACTOR, GRID)
    on_object = found.slot >= 0
    row, column = np.divmod(np.arange(GRID[0] * GRID[1]), GRID[1])
    itself = np.stack([column, row], 1) + 0.5
    assert on_object.sum() > 20
    assert found.position[on_object] == pytest.approx(itself[on_object], abs=0.02)
    assert np.isnan(found.position[~on_object]).all()
    assert (found.other_slot == found.slot).all()
    assert not found.changed.any()


def test_only_the_moved_object_matches_elsewhere():
    scene = same_camera(scene_with("move"))
    still, moved = (true_matches(scene, view, GRID) for view in (DISTRACTOR, CHANGED))
    apart = np.linalg.norm(moved.position - still.position, axis=1)
    seen = ~np.isnan(apart)
    assert (still.slot[moved.changed] == scene.index_before).all()
    assert (apart[seen & moved.changed] > 0.2).all()
    assert apart[seen & ~moved.changed] == pytest.approx(0, abs=0.02)


def test_a_dropped_object_has_no_match_and_later_ones_keep_theirs():
    scene = scene_with("drop")
    found = true_matches(scene, CHANGED, GRID)
    assert found.changed.any()
    assert np.isnan(found.position[found.changed]).all()
    for slot in range(len(scene.before)):
        seen = (found.slot == slot) & ~np.isnan(found.position[:, 0])
        if slot != scene.index_before and seen.any():
            assert scene.after[found.partner[seen][0]] == scene.before[slot]

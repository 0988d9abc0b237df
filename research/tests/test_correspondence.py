"""Correspondence of two frames: attention of a finished bundle as an output, its partners, and its drawing."""

import sys
from pathlib import Path

import cv2
import numpy as np
import pytest

from research.correspondence import draw
from research.correspondence.draw import CELL, GAP, WRONG
from research.correspondence.graph import Correspondence, CorrespondenceGraph

MODELS = Path(__file__).parents[2] / "models"


@pytest.fixture(scope="module")
def graph() -> CorrespondenceGraph:
    return CorrespondenceGraph(MODELS / "scorer-clevr")


def frame() -> np.ndarray:
    """Two discs on grey ground, uint8 [320,480,3]."""
    pixels = np.full((320, 480, 3), 110, np.uint8)
    cv2.circle(pixels, (130, 200), 45, (30, 60, 210), -1)
    cv2.circle(pixels, (340, 140), 35, (200, 40, 30), -1)
    return pixels


def made() -> Correspondence:
    """Four tokens, of which 0 and 3 are kept; head 1 keeps them in place, head 2 exchanges them with less weight."""
    stays, exchanges = np.array([[1, 0], [0, 1]]), np.array([[0.4, 0.6], [0.6, 0.4]])
    return Correspondence(
        grid=(2, 2),
        attention=np.stack([stays, exchanges])[None].astype(np.float32),
        kept_before=np.array([0, 3]),
        kept_after=np.array([0, 3]),
        shows_object=np.array([True, False]),
        features=(np.eye(4, dtype=np.float32), np.eye(4, dtype=np.float32)[[1, 0, 3, 2]]),
    )


def test_attention_of_the_shipped_bundle(graph):
    found = graph(frame(), frame())
    kept = len(found.kept_before)
    assert found.attention.shape == (2, 4, kept, kept)
    assert found.attention.sum(-1) == pytest.approx(1, abs=1e-4)
    assert len(set(found.kept_before.tolist())) == kept
    assert found.kept_before.tolist() == found.kept_after.tolist()
    assert found.nearest_features().tolist() == found.kept_before.tolist()
    assert 0 < found.shows_object.sum() < kept


def test_a_swapped_pair_swaps_the_kept_tokens(graph):
    empty = np.full_like(frame(), 110)
    there, back = graph(frame(), empty), graph(empty, frame())
    assert there.kept_before.tolist() == back.kept_after.tolist()
    assert there.kept_before.tolist() != there.kept_after.tolist()


def test_a_bundle_of_fixed_cameras_is_refused():
    with pytest.raises(SystemExit, match="expected one of a moving camera"):
        CorrespondenceGraph(MODELS / "scorer-surveillance")


def test_partners_of_heads_and_of_their_mean():
    found = made()
    assert found.partners(0, 0).tolist() == [0, 3]
    assert found.partners(0, 1).tolist() == [3, 0]
    assert found.partners(0).tolist() == [0, 3]
    assert found.nearest_features().tolist() == [1, 2]
    mean = np.array([0.7, 0.3])
    assert found.entropy(0) == pytest.approx(-(mean * np.log(mean)).sum(), abs=1e-5)


def test_a_cell_and_its_partner_have_one_colour():
    grey = np.full((2 * CELL, 2 * CELL, 3), 110, np.uint8)
    found = made()
    shown = draw.draw(grey, grey, found, found.partners(0, 1), wrong=np.array([True, True]))
    assert shown.shape == (2 * CELL, 4 * CELL + GAP, 3)
    left, right = shown[:, : 2 * CELL], shown[:, 2 * CELL + GAP :]
    inner = 4  # inside of the outline, outside of the line
    assert left[inner, inner].tolist() == right[CELL + inner, CELL + inner].tolist() != [110] * 3
    assert right[inner, CELL + inner].tolist() == [110] * 3
    assert left[1, 1].tolist() == list(WRONG)
    assert left[CELL + inner, CELL + inner].tolist() == [110] * 3, "a token that shows no object is not drawn"


def run(monkeypatch, *arguments: object) -> None:
    monkeypatch.setattr(sys, "argv", ["draw", "--bundle", str(MODELS / "scorer-clevr"), *map(str, arguments)])
    draw.main()


def test_the_command_draws_a_pair_and_names_wrong_layers(tmp_path, monkeypatch):
    cv2.imwrite(str(tmp_path / "a.png"), frame())
    (tmp_path / "b.png").write_text("no picture")
    pair = tmp_path / "a.png", tmp_path / "a.png"
    run(monkeypatch, *pair, "--out", tmp_path / "out.png")
    assert cv2.imread(str(tmp_path / "out.png")).shape == (16 * CELL, 48 * CELL + GAP, 3)
    with pytest.raises(SystemExit, match="layer 3, head 1: expected 1 to 2, and 0 to 4"):
        run(monkeypatch, *pair, "--layer", 3, "--out", tmp_path / "out.png")
    with pytest.raises(SystemExit, match="b.png: is not a picture"):
        run(monkeypatch, tmp_path / "a.png", tmp_path / "b.png", "--out", tmp_path / "out.png")

"""SPICE by the original scorer: its inputs and tables, and known values if SPICE is the folder of the scorer."""

import json
import os
from pathlib import Path

import numpy as np
import pytest

from research.spice import ARCHIVES, Scorer, align, table


def test_a_folder_without_the_parser_is_refused(tmp_path):
    with pytest.raises(SystemExit, match="spice-1.0.jar: no such file"):
        Scorer(tmp_path)
    (tmp_path / "spice-1.0.jar").touch()
    (tmp_path / "lib").mkdir()
    for archive in ARCHIVES[:-1]:
        (tmp_path / "lib" / f"{archive}.jar").touch()
    with pytest.raises(SystemExit, match="lib: lacks asm-;"):
        Scorer(tmp_path)


def test_captions_follow_the_order_of_the_pairs():
    pairs = [{"id": "b"}, {"id": "a"}]
    predictions = [{"id": "a", "caption": "first"}, {"id": "b", "caption": "second"}]
    assert align(pairs, predictions, Path("p.ndjson")) == ["second", "first"]
    with pytest.raises(SystemExit, match="p.ndjson: has no prediction of pair 'b'"):
        align(pairs, predictions[:1], Path("p.ndjson"))


def test_rows_are_means_over_pairs_with_references():
    """A made scorer: the share of references that are equal to the caption; NaN for an empty caption."""

    def score(captions, references):
        equal = [np.mean([people == caption for people in others]) for caption, others in zip(captions, references)]
        return np.array([value if caption else np.nan for value, caption in zip(equal, captions)])

    pairs = [{"verdict": verdict} for verdict in ("change", "change", "none", "none")]
    rows = {
        "one": (["a", "b", "c", ""], [["a"], ["a", "b"], ["x"], ["x"]]),
        "two": (["a", "b", "c", "d"], [["a"], [], ["c"], ["d", "x"]]),
    }
    assert table(pairs, rows, score)[2:] == ["| one | 50.0 | 75.0 | 0.0 |", "| two | 83.3 | 100.0 | 75.0 |"]


@pytest.mark.skipif("SPICE" not in os.environ, reason="SPICE=folder of spice-1.0.jar is not set")
def test_known_values_of_the_scorer():
    captions = ["a red car has left", "a dog has appeared", "a black car has appeared on the road"]
    references = [
        ["a red car has left", "the red car is gone"],
        ["the white van has driven to the left"],
        ["a red car has appeared on the road"],
    ]
    assert Scorer(Path(os.environ["SPICE"]))(captions, references) == pytest.approx([1, 0, 0.75])


def test_the_command_needs_a_prediction_of_every_pair(tmp_path, monkeypatch):
    from research import spice

    (tmp_path / "pairs.ndjson").write_text(
        json.dumps({"id": "a", "verdict": "none", "references": ["no change"]}) + "\n"
    )
    (tmp_path / "predictions.ndjson").write_text("\n")
    arguments = ["spice", "--scorer", tmp_path, "--pairs", tmp_path / "pairs.ndjson"]
    monkeypatch.setattr("sys.argv", [*map(str, arguments), "--predictions", str(tmp_path / "predictions.ndjson")])
    with pytest.raises(SystemExit, match="has no prediction of pair 'a'"):
        spice.main()

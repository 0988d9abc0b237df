"""The fits of facts and of counted places, on evidence as `scenedelta evaluate --evidence` writes it."""

import json
import sys

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="the fit needs scikit-learn")
from training.fits import counted, facts  # noqa: E402
from training.fits.statements import things_of  # noqa: E402
from training.learn.logistic import sigmoid  # noqa: E402

CAR = {
    "action": "appeared",
    "places": ["on the left"],
    "count": 1,
    "boxes_before": [],
    "boxes_after": [[10, 20, 20, 20]],
}
LABEL = {
    "id": "a",
    "width": 100,
    "height": 100,
    "objects": [CAR],
    "boxes_before": [],
    "boxes_after": [[10, 20, 20, 20]],
}
AT_CAR = {"side": "after", "box": {"x": 0.1, "y": 0.2, "width": 0.2, "height": 0.2}, "score": 0.9}
BOX = {"x": 0.5, "y": 0.2, "width": 0.2, "height": 0.2}
ELSEWHERE = AT_CAR | {"box": {"x": 0.7, "y": 0.7, "width": 0.2, "height": 0.2}, "score": 0.8}


def statement(**changes) -> dict:
    made = {
        "kind": "appear",
        "regions": [AT_CAR],
        "probability": 0.95,
        "clause": dict.fromkeys(facts.CLAUSE, 1.0),
        "stated": {"phrase": "on the left", "logit": 2.0, "agreement": 0},
        "third": "on the right",
        "side": None,
        "depth": None,
        "counted": False,
    }
    return made | changes


def test_a_statement_is_judged_by_the_things_at_its_regions():
    things = things_of(LABEL, False)
    named = lambda one: {name: right for name, _, right in facts.facts_of(one, things)}
    assert named(statement()) == {"clause": True, "place": True, "third": False, "one": True}
    assert named(statement(kind="disappear"))["clause"] is False
    assert named(statement(counted=True))["several"] is False
    assert named(statement(regions=[ELSEWHERE])) == {"clause": False}
    assert named(statement(kind="replace"))["clause"] is True


def test_exchanged_frames_exchange_actions_boxes_and_ways():
    moved = CAR | {"action": "moved", "places": ["to the left"], "boxes_before": [[50, 20, 20, 20]]}
    (thing,) = things_of(LABEL | {"objects": [moved]}, True)
    assert (thing["action"], thing["places"]) == ("moved", ["to the right"])
    assert thing["boxes"]["after"] == [(0.5, 0.2, 0.2, 0.2)]
    seen = statement(kind="move", side="to the right", depth="closer", stated=None, regions=[AT_CAR | {"box": BOX}])
    judged = {name: right for name, _, right in facts.facts_of(seen, [thing])}
    assert (judged["sideways"], judged["depth"]) == (True, False)
    (gone,) = things_of(LABEL, True)
    assert gone["action"] == "disappeared" and gone["boxes"]["after"] == []


def test_the_fit_finds_the_weights_that_drew_the_facts():
    rng, drawn = np.random.default_rng(0), []
    for _ in range(20_000):
        row = rng.normal(size=6).tolist()
        drawn.append(("clause", row, rng.uniform() < sigmoid(0.5 + row[0] - 0.6 * row[2])))
        drawn.append(("place", row[:1], rng.uniform() < sigmoid(0.4 * row[0] + 1)))
        drawn.append(("way", row[:2], rng.uniform() < sigmoid(0.8 * row[0] + 1.5 * row[1] - 0.2)))
    drawn += [("third", [], True)] * 2 + [("one", [], False)] * 3
    fitted = facts.fit(drawn)
    assert fitted["clause"] == pytest.approx(
        {"kind": 1, "move": 0, "twin": -0.6, "nothing": 0, "score": 0, "area": 0, "offset": 0.5}, abs=0.06
    )
    assert fitted["place"] == pytest.approx({"scale": 0.4, "offset": 1}, abs=0.06)
    assert fitted["way"] == pytest.approx({"scale": 0.8, "agreement": 1.5, "offset": -0.2}, abs=0.08)
    assert (fitted["third"], fitted["one"]) == (0.75, 0.2)  # (right + 1) / (all + 2)


def test_facts_that_are_all_right_are_refused():
    with pytest.raises(SystemExit, match="of 2 places all are right"):
        facts.fit([("place", [1.0], True), ("place", [2.0], True)])


def test_the_table_of_counted_places_rises_and_ends_at_one():
    assert counted.table_of([(0.6, False), (0.8, True), (0.92, True), (0.72, False)]) == [
        [0.5, 0],
        [0.667, 0.7],
        [1.0, 0.75],
    ]
    assert counted.table_of([(0.6, True), (0.96, False)]) == [[0.5, 0], [1, 1]]


def test_the_command_writes_the_table_into_the_manifest(tmp_path, monkeypatch):
    line = {"id": "a", "swapped": False, "statements": [statement(), statement(regions=[ELSEWHERE], probability=0.4)]}
    (tmp_path / "pairs.ndjson").write_text(json.dumps(LABEL) + "\n")
    (tmp_path / "evidence.ndjson").write_text(json.dumps(line) + "\n" + json.dumps(line | {"swapped": True}) + "\n")
    (tmp_path / "manifest.json").write_text(json.dumps({"calibration": {"facts": {"third": 0.5}}}))
    files = ["--pairs", tmp_path / "pairs.ndjson", "--evidence", tmp_path / "evidence.ndjson"]
    monkeypatch.setattr(sys, "argv", list(map(str, ["counted", *files, "--truth", 0.9, "--write", tmp_path])))
    counted.main()
    written = json.loads((tmp_path / "manifest.json").read_text())
    assert written == {"calibration": {"facts": {"third": 0.5, "counted": [[0.0, 0], [1, 1]]}}}

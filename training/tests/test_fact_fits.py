"""The fit of facts, on evidence as `scenedelta evaluate --evidence` writes it."""

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="the fit needs scikit-learn")
from training.fits import facts  # noqa: E402
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


def event(**changes) -> dict:
    made = {
        "kind": "appear",
        "things": [AT_CAR],
        "stated": {"phrase": "on the left", "logit": 2.0},
        "third": "on the right",
        "side": None,
        "depth": None,
    }
    return made | changes


def test_an_event_is_judged_by_the_things_at_its_boxes():
    things = things_of(LABEL, False)
    named = lambda one: {name: right for name, _, right in facts.facts_of(one, things)}
    assert named(event()) == {"place": True, "third": False}
    assert named(event(things=[ELSEWHERE])) == {}


def test_exchanged_frames_exchange_actions_boxes_and_ways():
    moved = CAR | {"action": "moved", "places": ["to the left"], "boxes_before": [[50, 20, 20, 20]]}
    (thing,) = things_of(LABEL | {"objects": [moved]}, True)
    assert (thing["action"], thing["places"]) == ("moved", ["to the right"])
    assert thing["boxes"]["after"] == [(0.5, 0.2, 0.2, 0.2)]
    seen = event(kind="move", side="to the right", depth="closer", stated=None, things=[AT_CAR | {"box": BOX}])
    judged = {name: right for name, _, right in facts.facts_of(seen, [thing])}
    assert (judged["sideways"], judged["depth"]) == (True, False)
    (gone,) = things_of(LABEL, True)
    assert gone["action"] == "disappeared" and gone["boxes"]["after"] == []


def test_the_fit_finds_the_weights_that_drew_the_places():
    rng, drawn = np.random.default_rng(0), []
    for _ in range(20_000):
        row = [float(rng.normal())]
        drawn.append(("place", row, rng.uniform() < sigmoid(0.4 * row[0] + 1)))
    fitted = facts.fit(drawn + [("third", [], True)] * 2)
    assert fitted["place"] == pytest.approx({"scale": 0.4, "offset": 1}, abs=0.06)
    assert fitted["third"] == 0.75  # (right + 1) / (all + 2)


def test_places_that_are_all_right_are_refused():
    with pytest.raises(SystemExit, match="of 2 places all are right"):
        facts.fit([("place", [1.0], True), ("place", [2.0], True)])

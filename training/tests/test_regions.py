"""Which object each region crop shows, and which objects a caption describes."""

from training.data.preprocess import crop_square
from training.data.regions import described_objects, objects_in_crops


def test_captions_describe_only_objects_that_a_crop_is_at():
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
    assert at([came, gone], [10, 400, 40, 40]) == [came, gone]  # no crop is at any object: all are described


class TestGlanceObjects:
    moved = {"action": "moved", "box_before": [100, 100, 40, 40], "box_after": [400, 100, 40, 40]}
    gone = {"action": "disappeared", "box_before": [150, 100, 40, 40], "box_after": None}

    def at(self, *boxes):
        """The objects of the crops at `boxes` (pixels of 640x480)."""
        shares = [tuple(v / s for v, s in zip(box, (640, 480, 640, 480))) for box in boxes]
        crops = [tuple(v / s for v, s in zip(crop_square(box, 640, 480), (640, 480, 640, 480))) for box in boxes]
        seen = [{"side": "both", "before": {}, "after": {}} for _ in boxes]
        return objects_in_crops(
            {"frame": [640, 480], "objects": [self.moved, self.gone], "glances": seen}, shares, crops
        )

    def test_a_moved_object_is_found_at_both_of_its_places(self):
        (was, nothing), (none, now) = self.at((98, 102, 40, 40), (402, 98, 40, 40))
        assert was is self.moved and now is self.moved
        assert nothing is None and none is None

    def test_an_object_beside_the_box_is_not_the_object_of_the_crop(self):
        ((before, after),) = self.at((196, 100, 40, 40))
        assert before is None and after is None

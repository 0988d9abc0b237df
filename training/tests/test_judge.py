"""The judge of surveillance captions."""

from training.worlds.surveillance.judge import judge


def test_a_place_is_right_only_if_true_of_the_object_of_the_action():
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

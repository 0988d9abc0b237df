"""Contact sheets of wrong answers."""

import json
import sys

import cv2
import numpy as np
import pytest

from training.worlds import mistake_sheet
from training.worlds.mistake_sheet import GROUPS, choose, spread


@pytest.fixture
def mistakes_file(tmp_path):
    """Mistakes about six pairs: three missed, three with a wrong noun, of which one scene may not be shown."""
    (tmp_path / "images").mkdir()
    pairs, mistakes = [], []
    for number in range(6):
        label = {"id": f"p{number}", "scene": "x_yard" if number == 5 else "h_yard", "references": ["a dog has left"]}
        for side in ("before", "after"):
            label[side] = f"images/{number}_{side}.png"
            cv2.imwrite(str(tmp_path / label[side]), np.full((60, 90, 3), 200, np.uint8))
        label["boxes_before"] = [[9, 6, 45, 30]]
        pairs.append(label)
        region = {"side": "after", "box": {"x": 0.5, "y": 0.5, "width": 0.25, "height": 0.25}}
        mistakes.append(
            {
                "id": label["id"],
                "pairs": str(tmp_path / "pairs.ndjson"),
                "mistakes": ["missed"] if number < 3 else ["wrong-noun", "left-out"],
                "caption": "the cat is gone",
                "regions": [region],
            }
        )
    for name, lines in (("pairs", pairs), ("mistakes", mistakes)):
        (tmp_path / f"{name}.ndjson").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return tmp_path / "mistakes.ndjson"


def run(monkeypatch, *arguments):
    monkeypatch.setattr(sys, "argv", ["mistake_sheet", *map(str, arguments)])
    mistake_sheet.main()


def test_allowed_scenes_are_drawn_with_regions_and_true_boxes(mistakes_file, tmp_path, monkeypatch, capsys):
    run(monkeypatch, mistakes_file, "--scenes", "^h_", "--out", tmp_path / "out")
    assert "missed 3, false alarm 0, wrong kind 0, wrong noun 2" in capsys.readouterr().out
    assert [path.name for path in sorted((tmp_path / "out").iterdir())] == ["mistakes-1.webp", "mistakes-2.webp"]
    picture = cv2.imread(str(tmp_path / "out" / "mistakes-1.webp"))[..., ::-1].astype(int)
    red, green, blue = picture[..., 0], picture[..., 1], picture[..., 2]
    assert (red - green > 80).any() and (green - red > 40).any() and (blue < 120).any()


def test_a_pair_of_another_file_is_refused(mistakes_file, tmp_path, monkeypatch):
    text = mistakes_file.read_text().replace('"id": "p1"', '"id": "p9"')
    mistakes_file.write_text(text)
    with pytest.raises(SystemExit, match="'p9' is not in the file"):
        run(monkeypatch, mistakes_file, "--out", tmp_path / "out")


def test_a_pair_with_two_mistakes_is_shown_once_in_the_rarer_group():
    mistakes = [{"id": str(n), "mistakes": ["wrong-noun"]} for n in range(4)]
    mistakes.append({"id": "both", "mistakes": ["missed", "wrong-noun"]})
    chosen = choose(mistakes, 5)
    assert [m["id"] for m in chosen["missed"]] == ["both"]
    assert [m["id"] for m in chosen["wrong noun"]] == ["0", "1", "2", "3"]
    assert list(chosen) == list(GROUPS)


def test_items_are_spread_from_the_first_to_the_last():
    assert spread(list(range(9)), 3) == [0, 4, 8]
    assert spread([1, 2], 3) == [1, 2]

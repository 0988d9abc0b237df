"""Sprites: which are used, by which noun and colour, and for which cameras."""

import json
from pathlib import Path

import numpy as np
import pytest

from training.worlds.surveillance.sprite_sampler import SpriteSampler
from training.worlds.surveillance.sprites import Sprite, load_sprites

USUAL = {
    **{"noun": "man", "hypernym": "person", "colors": ["red", "blue"], "size_m": [0.5, 0.5, 1.7], "elevation": 10},
    **{"azimuth": 0, "lighting": "overcast", "px_per_m": 60, "anchor": [10, 90], "footprint": [[0, 0]] * 4},
}


def write_pack(folder: Path, **models: dict) -> None:
    folder.mkdir()
    records = [USUAL | {"file": f"{model}.webp", "model": model} | fields for model, fields in models.items()]
    (folder / "sprites.json").write_text(json.dumps(records))


@pytest.fixture
def sprites(tmp_path) -> dict[str, Sprite]:
    write_pack(tmp_path / "sprites", standing={}, on_a_bed={"pose": "lying"}, other={"heldout": True})
    write_pack(
        tmp_path / "sprites3",
        lying={"pose": "lying", "posture": "on the back"},
        umbrella={"elevation": 88, "carried_color": "green", "clothes_hidden": True},
        above={"elevation": 70},
        taxi={"noun": "taxi", "hypernym": "vehicle", "colors": ["yellow"]},
        scooter={"noun": "motorcyclist", "hypernym": "person", "subtype": "two on a scooter", "carried_color": "white"},
        kept={"heldout": True},
    )
    return {sprite.model: sprite for sprite in load_sprites(tmp_path, "train")}


def test_lying_persons_are_used_if_they_lie_on_a_floor(sprites):
    assert set(sprites) == {"standing", "lying", "umbrella", "above", "taxi", "scooter"}


@pytest.mark.parametrize(
    ("model", "noun", "colours"),
    [
        ("lying", "man", ("red", "blue")),
        ("above", "man", ("red", "blue")),
        ("umbrella", "person", ("green",)),  # from straight above a man and a woman look alike
        ("taxi", "car", ("yellow",)),
        ("scooter", "scooter", ("white",)),
    ],
)
def test_a_sprite_is_called_by_what_it_shows(sprites, model, noun, colours):
    assert (sprites[model].noun, sprites[model].colours) == (noun, colours)


@pytest.mark.parametrize(("elevation", "expected"), [(10, {"standing", "lying"}), (75, {"above"})])
def test_a_camera_shows_models_that_were_rendered_from_about_its_elevation(sprites, elevation, expected):
    men = {name: [sprites[name]] for name in ("standing", "lying", "above")}
    rng = np.random.default_rng(1)
    drawn = {SpriteSampler._sample_sprite(men, elevation, 0, False, rng).model for _ in range(40)}
    assert drawn == expected

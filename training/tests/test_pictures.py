"""Rebuilding of plates and sprites, with a generated model, panorama and package."""

import json
import sys
from dataclasses import replace
from zipfile import ZipFile

import cv2
import numpy as np
import pytest

from training.pictures import render, sprites, verify
from training.pictures.packages import Package, fetch
from training.pictures.paint import PAINTS, name_colour, painted
from training.pictures.panoramas import crop
from training.pictures.plates import read_table
from training.pictures.rasteriser import rasterise
from training.pictures.render import ModelRenderer, View, place_model
from training.pictures.wavefront import read_model
from training.worlds.surveillance.sprite_nouns import CAPTION_NOUN, SCENERY_INDOORS, SCENERY_OUTDOORS
from training.worlds.surveillance.sprites import load_sprites

# A box of 2 (x), 1 (y, up) and 4 (z): the front (+z) is red, the left side (+x) green, the rest has a texture.
BOX = """mtllib box.mtl
v -1 0 -2
v 1 0 -2
v 1 1 -2
v -1 1 -2
v -1 0 2
v 1 0 2
v 1 1 2
v -1 1 2
vt 0 0
vt 1 0
vt 1 1
usemtl front
f -4 -3 -2 -1
usemtl side
f 2 3 7 6
usemtl rest
f 1/1 4/2 3/3 2/1
f 1/1 5/2 8/3 4/1
f 4/1 8/2 7/3 3/1
f 1/1 2/2 6/3 5/1
"""
MATERIALS = """newmtl front
Kd 1 0 0
newmtl side
Kd 0 1 0
d 1
newmtl rest
Kd 0 0 0
map_Kd grey.png
"""
MODEL = {
    "model": "box",
    "library": "Boxes",
    "member": "boxes/box.obj",
    "noun": "suitcase",
    "hypernym": "object",
    "size_m": [0.8, 0.4, 0.2],
    "turn": 0,
    "views": 12,
    "paint": ["side"],
    "licence": "CC0 1.0",
    "author": "this test",
}


@pytest.fixture
def library(tmp_path, monkeypatch):
    """A folder with Boxes.sh3f. The light is coarse, so that the test needs no compiler."""
    monkeypatch.setattr(render, "SHADOW_MAP_PX", 24)
    monkeypatch.setattr(render, "SKY_DIRECTIONS", 5)
    monkeypatch.setattr(render, "SUPERSAMPLING", 1)
    for size in ("MAX_WIDTH_PX", "MAX_HEIGHT_PX"):
        monkeypatch.setattr(sprites, size, 24)
    with ZipFile(tmp_path / "Boxes.sh3f", "w") as archive:
        archive.writestr("boxes/box.obj", BOX)
        archive.writestr("boxes/box.mtl", MATERIALS)
        archive.writestr("boxes/grey.png", cv2.imencode(".png", np.full((2, 2, 3), 128, np.uint8))[1].tobytes())
    return tmp_path


@pytest.fixture
def box(library):
    with ZipFile(library / "Boxes.sh3f") as archive:
        return read_model(archive, "boxes/box.obj")


def test_a_model_is_read_with_its_materials(box):
    assert box.corners.shape == (12, 3, 3) and [m.name for m in box.materials] == ["front", "rest", "side"]
    front = box.corners[box.material == 0]
    assert front[..., 2].min() == 2 and np.allclose(box.normals[box.material == 0], [0, 0, 1])
    assert box.materials[1].texture.shape == (2, 2, 4) and box.materials[0].texture is None


def test_a_missing_or_empty_model_is_refused(library):
    with ZipFile(library / "Boxes.sh3f", "a") as archive:
        archive.writestr("boxes/empty.obj", "v 0 0 0\n")
        with pytest.raises(ValueError, match="has no file boxes/cone.obj"):
            read_model(archive, "boxes/cone.obj")
        with pytest.raises(ValueError, match="empty.obj has no faces"):
            read_model(archive, "boxes/empty.obj")


def test_the_nearest_triangle_is_drawn_and_then_the_next():
    square = np.array([[0.0, 0], [8, 0], [0, 8]])
    corners = np.stack([np.column_stack([square, [depth] * 3]) for depth in (-0.5, -1.0)])
    index, weights, depth = rasterise(corners, 4, 4, np.full((4, 4), -np.inf))
    assert (index == 1).all() and (depth == -1).all()
    assert np.allclose(weights[0, 0], [0.5 / 8, 0.5 / 8])
    assert (rasterise(corners, 4, 4, depth)[0] == 0).all()
    assert (rasterise(corners, 4, 4, np.full((4, 4), 0.0))[0] == -1).all()


@pytest.mark.parametrize(("turn", "azimuth", "channel"), [(0, 0, 0), (0, 90, 1), (90, 90, 0), (270, 0, 1)])
def test_the_side_that_faces_the_camera_is_shown(box, turn, azimuth, channel):
    picture = ModelRenderer(place_model(box, (0.8, 0.4, 0.2), turn)).draw(View(10, azimuth, 11, None), 24, 24)
    height, width = picture.pixels.shape[:2]
    middle = picture.pixels[int(height * 0.7), width // 2].astype(int)
    assert middle[3] == 255 and middle[channel] > 80 and middle[:3].sum() == middle[channel]
    assert max(width, height) == 24 + 2 * render.PADDING_PX


def test_anchor_footprint_and_scale_agree_with_the_size(box):
    picture = ModelRenderer(place_model(box, (0.8, 0.4, 0.2), 0)).draw(View(30, 90, 400, None), 24, 24)
    left, right = picture.footprint[:, 0].min(), picture.footprint[:, 0].max()
    assert right - left == pytest.approx(0.8 * picture.px_per_m, rel=0.01)
    assert np.allclose(picture.footprint.mean(axis=0), picture.anchor, atol=0.1)
    shown = np.argwhere(picture.pixels[..., 3] > 0)
    assert shown[:, 0].max() == pytest.approx(picture.footprint[:, 1].max(), abs=1.5)


def test_the_sun_lightens_the_side_that_it_reaches(box):
    renderer = ModelRenderer(place_model(box, (0.8, 0.4, 0.2), 0))
    lit, shaded = (renderer.draw(View(10, 0, 11, (turn, 30)), 24, 24).pixels for turn in (0, 180))
    assert lit[..., 0].max() > shaded[..., 0].max() + 40


def test_paint_replaces_named_materials_only(box):
    blue = painted(box, ["side"], "blue")
    assert np.allclose(blue.materials[2].colour, PAINTS["blue"]) and blue.materials[0] is box.materials[0]
    with pytest.raises(ValueError, match="no material 'roof'; the model has front, rest, side"):
        painted(box, ["roof"], "blue")


def test_a_picture_is_named_by_its_most_frequent_colour():
    pixels = np.full((4, 4, 4), 255, np.uint8)
    pixels[:3, :, :3] = (160, 20, 20)
    assert name_colour(pixels) == "red"
    pixels[..., 3] = 0
    assert name_colour(pixels) == "gray"


def build(library, out):
    return sprites._render_from(library, out, MODEL)


def test_sprites_are_equal_in_every_run_and_read_by_the_world(library, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(verify, "HASHES", tmp_path / "hashes.json")
    for name in ("one", "two"):
        records = build(library, tmp_path / name / "sprites")
        (tmp_path / name / "sprites" / "sprites.json").write_text(json.dumps(records))
    found = load_sprites(tmp_path / "one", "train")
    assert len(found) == len(records) == 24 and len({r["file"] for r in records}) == 24
    assert {s.noun for s in found} == {"suitcase"} and {s.sunlit for s in found} == {True, False}
    assert {s.colours[0] for s in found} == {name.replace("gray", "grey") for name in PAINTS}

    run_verify(monkeypatch, tmp_path / "one", "--write")
    with pytest.raises(SystemExit) as end:
        run_verify(monkeypatch, tmp_path / "two", "--complete")
    assert end.value.code == 0
    path = tmp_path / "two" / "sprites" / records[0]["file"]
    pixels = cv2.imread(str(path), cv2.IMREAD_UNCHANGED)
    pixels[0, 0] ^= 255
    cv2.imwrite(str(path), pixels, [cv2.IMWRITE_WEBP_QUALITY, 101])
    with pytest.raises(SystemExit) as end:
        run_verify(monkeypatch, tmp_path / "two")
    assert end.value.code == 1 and "0 equal, 1 different" in capsys.readouterr().out


def run_verify(monkeypatch, root, *arguments):
    monkeypatch.setattr(sys, "argv", ["verify", "--data", str(root), *arguments])
    verify.main()


def test_a_folder_without_pictures_is_refused(monkeypatch, tmp_path):
    with pytest.raises(SystemExit, match="has neither sprites/sprites.json nor plates/plates.json"):
        run_verify(monkeypatch, tmp_path)


def test_the_table_of_models_names_licences_and_known_nouns():
    models = sprites.read_models()
    nouns = set(CAPTION_NOUN) | SCENERY_INDOORS | SCENERY_OUTDOORS
    assert len({m["model"] for m in models}) == len(models) > 150
    for model in models:
        assert model["noun"] in nouns and model["licence"].startswith("CC") and model["author"]
        assert model["views"] in (12, 24, 36) and model["turn"] in (0, 90, 180, 270)
        assert len(sprites.shots_of(model)) == model["views"] * (2 if model.get("paint") else 1)


def test_the_table_of_plates_has_free_licences_only():
    for entry in read_table():
        assert entry["licence"].startswith(("CC0", "CC-BY-SA-3.0")) and entry["shippable"] and not entry["dev_scene"]
        assert set(entry["made_of"]) in ({"panorama", "yaw", "pitch", "fov"}, {"picture"})


def test_a_crop_shows_what_lies_in_its_direction():
    panorama = np.full((90, 180, 3), 0.2, np.float32)
    panorama[40:50, 130:140, 0] = 1.0  # longitude 90, on the horizon
    assert np.allclose(_centre_of_red(crop(panorama, 90, 0, 60, 60, 40)), (20, 30), atol=1)
    row, column = _centre_of_red(crop(panorama, 80, -12, 60, 60, 40))
    focal = 30 / np.tan(np.radians(30))
    assert row == pytest.approx(20 - focal * np.tan(np.radians(12)), abs=1) and column == pytest.approx(39, abs=1)


def _centre_of_red(pixels):
    """Mean row and column of the pixels that are clearly red."""
    return (np.argwhere(pixels[..., 0].astype(int) - pixels[..., 1] > 30) + 0.5).mean(axis=0)


def test_a_panorama_is_decoded(tmp_path):
    openexr = pytest.importorskip("OpenEXR", reason="OpenEXR is in training/pictures/requirements.txt")
    import base64

    from training.pictures.panoramas import MOST, read_panorama

    pixels = np.float32(np.full((4, 8, 3), 0.5))
    pixels[0, 0] = np.inf
    openexr.File({"compression": openexr.ZIP_COMPRESSION, "type": openexr.scanlineimage}, {"RGB": pixels}).write(
        str(tmp_path / "made.exr")
    )
    code = base64.b64encode((tmp_path / "made.exr").read_bytes()).decode()
    (tmp_path / "sky.exr.js").write_text(f"export default 'data:application/exr;base64,{code}';\n")
    read = read_panorama(tmp_path / "sky.exr.js")
    assert read.shape == (4, 8, 3) and read[0, 0, 0] == MOST and read[1, 1, 1] == 0.5
    (tmp_path / "none.exr.js").write_text("export default 1")
    with pytest.raises(ValueError, match="holds no base64 data"):
        read_panorama(tmp_path / "none.exr.js")


@pytest.fixture
def client(tmp_path, monkeypatch):
    """A stand-in for apt-get that leaves an archive of three bytes."""
    folder = tmp_path / "bin"
    folder.mkdir()
    program = folder / "apt-get"
    program.write_text(
        '#!/bin/sh\n[ "$2" = thing=1 ] || { echo "no such package" >&2; exit 100; }\nprintf abc > t.deb\n'
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))
    return Package(
        "thing", "1", "apt-get", "t.deb", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", ""
    )


def test_a_package_is_fetched_once_and_checked(client, tmp_path):
    archive = fetch(client, tmp_path / "packages")
    assert archive.read_bytes() == b"abc"
    archive.write_bytes(b"abd")
    with pytest.raises(SystemExit, match="has sha256 .*, expected ba7816bf"):
        fetch(client, tmp_path / "packages")


def test_a_client_that_fails_or_lacks_is_an_error(client, tmp_path):
    other = replace(client, name="other")
    with pytest.raises(SystemExit, match="other 1: apt-get download failed: no such package"):
        fetch(other, tmp_path / "packages")
    with pytest.raises(SystemExit, match="thing 1: needs the program npm"):
        fetch(replace(client, client="npm"), tmp_path / "packages")

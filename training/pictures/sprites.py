"""Renders the sprites of the models in models.json: ROOT/sprites/images and ROOT/sprites/sprites.json.

    python -m training.pictures sprites --packages DIR --out ROOT --jobs 2

Pictures of an earlier run are drawn again, so that the result never depends on it. The Debian package with the models
is fetched into DIR. --only takes patterns of model names, for a part of the models.
"""

from __future__ import annotations

import argparse
import json
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import partial
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import cv2
import numpy as np

from training.pictures.packages import FURNITURE, unpacked
from training.pictures.paint import PAINTS, name_colour, painted
from training.pictures.render import ModelRenderer, Picture, View, place_model
from training.pictures.wavefront import Mesh, read_model

MODELS = Path(__file__).with_name("models.json")
LIBRARIES = Path("usr/share/sweethome3d/furniture")
ELEVATIONS, AZIMUTHS = (10, 30, 55), tuple(range(0, 360, 30))
# Distance of the camera in metres per elevation; long things need DISTANCE_PER_LENGTH lengths.
DISTANCE_M = {
    "person": (13.0, 8.5, 6.5),
    "vehicle": (24.0, 14.0, 10.0),
    "animal": (12.0, 8.0, 6.0),
    "object": (11.0, 7.5, 6.0),
}
DISTANCE_PER_LENGTH = 2.7
MAX_WIDTH_PX, MAX_HEIGHT_PX, MAX_VEHICLE_HEIGHT_PX = 160, 128, 160
PAINTS_PER_VIEW = 2
FACINGS = ("toward", "toward-left", "left", "away-left", "away", "away-right", "right", "toward-right")
COPIED = ("noun", "hypernym", "subtype", "pose", "needs_seat", "clothes", "size_m", "licence", "author")


@dataclass(frozen=True)
class Shot:
    """One picture of a model."""

    elevation: int
    azimuth: int
    sun: tuple[float, float] | None
    paint: str | None  # name of PAINTS; None: the model's own colours

    @property
    def name(self) -> str:
        paint = (self.paint or "own").replace(" ", "")
        return f"{self.elevation}_{self.azimuth:03d}_{paint}-{'overcast' if self.sun is None else 'sun'}.webp"


def read_models(path: Path = MODELS) -> list[dict[str, Any]]:
    return json.loads(path.read_text(encoding="utf-8"))["models"]


def shots_of(model: dict[str, Any]) -> list[Shot]:
    """The pictures of a model: `views` (12, 24 or 36) directions, half of them in the sun, each in two paints."""
    rng = np.random.default_rng([ord(letter) for letter in model["model"]])
    order = [str(name) for name in rng.permutation(list(PAINTS))]
    shots = []
    for level in range(model["views"] // len(AZIMUTHS)):
        for i, azimuth in enumerate(AZIMUTHS):
            for _ in range(PAINTS_PER_VIEW if model.get("paint") else 1):
                sun = None
                if rng.random() < 0.5:
                    sun = (round(float(rng.uniform(-130, 130)), 1), round(float(rng.uniform(30, 60)), 1))
                paint = order[len(shots) % len(order)] if model.get("paint") else None
                shots.append(Shot(ELEVATIONS[(i + level) % len(ELEVATIONS)], azimuth, sun, paint))
    return shots


def distance_of(model: dict[str, Any], elevation: int) -> float:
    nearest = DISTANCE_M[model["hypernym"]][ELEVATIONS.index(elevation)]
    return max(nearest, DISTANCE_PER_LENGTH * max(model["size_m"][:2]))


def record_of(model: dict[str, Any], shot: Shot, picture: Picture) -> dict[str, Any]:
    """The entry of sprites.json (training/worlds/README.md)."""
    colours = [shot.paint] if shot.paint else model.get("colors") or [name_colour(picture.pixels)]
    record = {
        "file": f"images/{model['model']}/{shot.name}",
        "model": model["model"],
        **{key: model[key] for key in COPIED if key in model},
        "facing": FACINGS[round(shot.azimuth / 45) % len(FACINGS)],
        "colors": colours,
        "elevation": shot.elevation,
        "azimuth": shot.azimuth,
        "lighting": "overcast" if shot.sun is None else "sun",
        "px": [picture.pixels.shape[1], picture.pixels.shape[0]],
        "px_per_m": round(picture.px_per_m, 3),
        "anchor": [round(value, 1) for value in picture.anchor],
        "footprint": [[round(float(x), 1), round(float(y), 1)] for x, y in picture.footprint],
        "cam_dist_m": round(distance_of(model, shot.elevation), 2),
        "source": f"Debian {FURNITURE.name} {FURNITURE.version}: {model['library']}.sh3f {model['member']}",
    }
    if shot.sun is not None:
        record["sun_azimuth"], record["sun_elevation"] = shot.sun
    return record


def render_model(model: dict[str, Any], mesh: Mesh, out: Path) -> list[dict[str, Any]]:
    """Writes the pictures of a model below out/images and returns their entries of sprites.json."""
    (out / "images" / model["model"]).mkdir(parents=True, exist_ok=True)
    placed = place_model(mesh, tuple(model["size_m"]), model["turn"])
    renderer = ModelRenderer(placed)
    height = MAX_VEHICLE_HEIGHT_PX if model["hypernym"] == "vehicle" else MAX_HEIGHT_PX
    records = []
    for shot in shots_of(model):
        renderer.mesh = painted(placed, model["paint"], shot.paint) if shot.paint else placed
        view = View(shot.elevation, shot.azimuth, distance_of(model, shot.elevation), shot.sun)
        picture = renderer.draw(view, MAX_WIDTH_PX, height)
        record = record_of(model, shot, picture)
        # Lossless, so that the pixels do not depend on the encoder. Quality above 100 means lossless to OpenCV.
        pixels = cv2.cvtColor(picture.pixels, cv2.COLOR_RGBA2BGRA)
        cv2.imwrite(str(out / record["file"]), pixels, [cv2.IMWRITE_WEBP_QUALITY, 101])
        records.append(record)
    return records


def _render_from(libraries: Path, out: Path, model: dict[str, Any]) -> list[dict[str, Any]]:
    with ZipFile(libraries / f"{model['library']}.sh3f") as archive:
        return render_model(model, read_model(archive, model["member"]), out)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--packages", type=Path, required=True, help="folder of the fetched packages")
    parser.add_argument("--out", type=Path, required=True, help="ROOT of the data")
    parser.add_argument("--only", nargs="+", default=["*"], help="patterns of model names")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    args = parser.parse_args()
    models = [m for m in read_models() if any(fnmatch(m["model"], pattern) for pattern in args.only)]
    if not models:
        raise SystemExit(f"--only {' '.join(args.only)}: no model of {MODELS.name} has such a name")
    draw = partial(_render_from, unpacked(FURNITURE, args.packages) / LIBRARIES, args.out / "sprites")
    records: list[dict[str, Any]] = []
    with ProcessPoolExecutor(args.jobs) as pool:
        for number, (model, made) in enumerate(zip(models, pool.map(draw, models)), 1):
            records += made
            print(f"{number}/{len(models)} {model['model']}: {len(made)} pictures", flush=True)
    lines = ",\n".join(json.dumps(record, ensure_ascii=False) for record in records)
    (args.out / "sprites" / "sprites.json").write_text(f"[\n{lines}\n]\n", encoding="utf-8")
    print(f"{len(records)} pictures of {len(models)} models in {args.out / 'sprites'}")

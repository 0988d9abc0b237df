"""Makes the plates of plates.json: ROOT/plates/*.png and ROOT/plates/plates.json.

    python -m training.pictures plates --packages DIR --out ROOT

An entry of plates.json is that of training/worlds/README.md and `made_of`: a panorama of the npm package with the view
to crop, or a picture of the Debian package. Both packages are fetched into DIR.
"""

from __future__ import annotations

import argparse
import json
from functools import lru_cache
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from training.pictures.packages import PANORAMAS, SCRATCH, unpacked
from training.pictures.panoramas import crop, read_panorama

TABLE = Path(__file__).with_name("plates.json")
PANORAMA_FOLDER, PICTURE_FOLDER = Path("package/hdri"), Path("usr/share/scratch")


def read_table(path: Path = TABLE) -> list[dict[str, Any]]:
    return json.loads(path.read_text(encoding="utf-8"))["plates"]


def make_plate(entry: dict[str, Any], packages: Path) -> np.ndarray:
    """uint8 [height, width, 3], RGB. Raises ValueError if the package lacks the picture."""
    made, size = entry["made_of"], (entry["width"], entry["height"])
    if "panorama" in made:
        panorama = _panorama(unpacked(PANORAMAS, packages) / PANORAMA_FOLDER / f"{made['panorama']}.exr.js")
        return crop(panorama, made["yaw"], made["pitch"], made["fov"], *size)
    path = unpacked(SCRATCH, packages) / PICTURE_FOLDER / made["picture"]
    pixels = cv2.imread(str(path), cv2.IMREAD_COLOR)
    if pixels is None:
        raise ValueError(f"expected an image at {path}")
    return cv2.cvtColor(cv2.resize(pixels, size, interpolation=cv2.INTER_CUBIC), cv2.COLOR_BGR2RGB)


@lru_cache(maxsize=1)  # the plates of one panorama follow each other
def _panorama(module: Path) -> np.ndarray:
    return read_panorama(module)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--packages", type=Path, required=True, help="folder of the fetched packages")
    parser.add_argument("--out", type=Path, required=True, help="ROOT of the data")
    args = parser.parse_args()
    folder = args.out / "plates"
    folder.mkdir(parents=True, exist_ok=True)
    records = []
    for entry in read_table():
        pixels = make_plate(entry, args.packages)
        record = {key: value for key, value in entry.items() if key != "made_of"}
        cv2.imwrite(str(args.out / record["file"]), cv2.cvtColor(pixels, cv2.COLOR_RGB2BGR))
        records.append(record)
    (folder / "plates.json").write_text(json.dumps({"plates": records}, indent=1, ensure_ascii=False) + "\n")
    print(f"{len(records)} plates in {folder}")

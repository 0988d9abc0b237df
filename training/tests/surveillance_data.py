"""A small data folder of the surveillance world, in the format of the real one (training/worlds/README.md)."""

from __future__ import annotations

import json
from pathlib import Path

import cv2
import numpy as np

MODEL_COUNT = {"car": 4, "man": 4, "woman": 4, "dog": 2, "suitcase": 2}
SIZE_M = {
    "car": [4.2, 1.8, 1.5],
    "man": [0.5, 0.5, 1.8],
    "woman": [0.5, 0.5, 1.7],
    "dog": [0.8, 0.4, 0.6],
    "suitcase": [0.5, 0.4, 0.7],
}
HYPERNYM = {"car": "vehicle", "man": "person", "woman": "person", "dog": "animal", "suitcase": "object"}
COLOURS = {"red": (200, 30, 30), "gray": (120, 120, 120), "black": (20, 20, 20)}


def write_data_folder(root: Path) -> Path:
    """Writes plates/ and sprites/ into `root` and returns it."""
    _write_plates(root)
    _write_sprites(root)
    return root


def _write_plates(root: Path) -> None:
    rng = np.random.default_rng(0)
    folder = root / "plates"
    folder.mkdir(parents=True)
    records = []
    for index in range(12):
        noise = cv2.resize(rng.integers(90, 170, (50, 80, 3), dtype=np.uint8), (640, 400))
        cv2.imwrite(str(folder / f"p{index}.jpg"), noise)
        records.append(
            {
                "id": f"p{index}",
                "file": f"plates/p{index}.jpg",
                "place": f"place{index // 2}",
                "licence": "CC0",
                "shippable": index != 10,
                "dev_scene": index == 11,
                "setting": "indoor" if index in (4, 5, 6, 7) else "outdoor",
                "time": "day",
                "width": 640,
                "height": 400,
                "native_width": "~400",
                "horizon_y": 40,
                "person_px": [[100, 18.0], [380, 102.0]],
                "px_per_metre": [[100, 10.8], [380, 61.2]],
                "camera_elevation": 10,
                "camera_height_m": 5.5,
                "vehicle_y_max": 390,
                "person_y_max": 390,
                "ground": [
                    {
                        "name": "road",
                        "polygon": [[20, 390], [60, 120], [580, 120], [620, 390]],
                        "allowed": ["vehicle", "person", "object"],
                    }
                ],
                "landmarks": [{"phrase": "the fence", "box": [0, 60, 60, 80]}],
                "avoid": [[300, 60, 30, 20]],
            }
        )
    (folder / "plates.json").write_text(json.dumps({"plates": records}))


def _write_sprites(root: Path) -> None:
    records = []
    for noun, count in MODEL_COUNT.items():
        length, width, height = SIZE_M[noun]
        for model in range(count):
            for colour, rgb in COLOURS.items():
                for azimuth in (0, 90, 180, 270):
                    across = width if azimuth in (0, 180) else length
                    scale = 120 / max(across, height)
                    w, h = int(across * scale), int(height * scale)
                    image = np.zeros((h, w, 4), np.uint8)
                    cv2.ellipse(image, (w // 2, h // 2), (w // 2 - 1, h // 2 - 1), 0, 0, 360, (*rgb[::-1], 255), -1)
                    name = f"images/{noun}{model}/10_{azimuth:03d}_{colour}-overcast.webp"
                    path = root / "sprites" / name
                    path.parent.mkdir(parents=True, exist_ok=True)
                    cv2.imwrite(str(path), image)
                    records.append(
                        {
                            "file": name,
                            "model": f"{noun}{model}",
                            "noun": noun,
                            "hypernym": HYPERNYM[noun],
                            "colors": [colour],
                            "size_m": SIZE_M[noun],
                            "elevation": 10,
                            "azimuth": azimuth,
                            "lighting": "overcast",
                            "px": [w, h],
                            "px_per_m": scale,
                            "anchor": [w / 2, h - 4],
                            "footprint": [[0, h], [w, h], [w, h - 8], [0, h - 8]],
                            "licence": "CC0",
                        }
                    )
    (root / "sprites" / "sprites.json").write_text(json.dumps(records))

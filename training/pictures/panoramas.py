"""Plates out of panoramas: decodes the OpenEXR files of the npm package and crops a perspective view."""

from __future__ import annotations

import base64
import math
import os
from pathlib import Path

import cv2
import numpy as np

BRIGHT_SHARE, BRIGHT_LEVEL = 0.85, 0.62  # this share of a crop's lower half is at or below this displayed level
GAMMA = 2.2
MOST = 1e3  # linear level at which a panorama is cut


def read_panorama(module: Path) -> np.ndarray:
    """float32 [h, w, 3], linear RGB, of `NAME.exr.js`: a JavaScript module that exports one base64 data address.

    Raises ValueError if the file is none, SystemExit if the package OpenEXR of PyPI is missing.
    """
    try:
        import OpenEXR
    except ImportError:
        raise SystemExit("panoramas: needs the package OpenEXR (training/pictures/requirements.txt)") from None
    text = module.read_text(encoding="utf-8")
    _, marker, content = text.partition("base64,")
    if not marker:
        raise ValueError(f"{module}: holds no base64 data, expected one data address")
    raw = module.with_suffix("")  # NAME.exr, because the reader takes no bytes
    part = raw.with_name(f"{raw.name}.{os.getpid()}")
    part.write_bytes(base64.b64decode(content.strip().rstrip(";").rstrip("'\"")))
    part.replace(raw)
    with OpenEXR.File(str(raw)) as file:
        channels = file.channels()
        pixels = channels["RGB"].pixels if "RGB" in channels else np.stack([channels[c].pixels for c in "RGB"], -1)
    # Lamps are beyond the range of float16, and an interpolation with infinity is no number.
    return np.clip(np.nan_to_num(pixels.astype(np.float32), posinf=MOST), 0, MOST)


def crop(panorama: np.ndarray, yaw: float, pitch: float, fov: float, width: int, height: int) -> np.ndarray:
    """uint8 [height, width, 3], RGB: a pinhole camera in the panorama (equirectangular, float32 [h, w, 3], linear).

    Degrees: yaw 0 looks at the middle of the panorama and grows to the right, pitch is negative downwards, fov is the
    horizontal angle of view.
    """
    focal = width / 2 / math.tan(math.radians(fov) / 2)
    x, y = np.meshgrid(np.arange(width) + 0.5 - width / 2, np.arange(height) + 0.5 - height / 2)
    c, s = math.cos(math.radians(pitch)), math.sin(math.radians(pitch))
    ahead, up = focal * c + y * s, focal * s - y * c
    longitude = np.arctan2(x, ahead) + math.radians(yaw)
    latitude = np.arctan2(up, np.hypot(x, ahead))
    rows, columns = panorama.shape[:2]
    u = np.mod(longitude / (2 * math.pi) + 0.5, 1) * columns - 0.5
    v = (0.5 - latitude / math.pi) * rows - 0.5
    wrapped = np.concatenate([panorama, panorama[:, :2]], axis=1)
    linear = cv2.remap(
        wrapped, np.float32(np.mod(u, columns)), np.float32(v), cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE
    )
    # The exposure is that of the ground: the sky may be far brighter.
    level = float(np.quantile(linear[height // 2 :].max(axis=2), BRIGHT_SHARE))
    shown = linear / max(level, 1e-6) * BRIGHT_LEVEL**GAMMA
    shown = np.clip(shown, 0, None)
    shown = np.where(shown > 0.5, 1 - 0.25 / np.maximum(shown, 0.5), shown)  # bright parts approach white slowly
    return np.uint8(np.rint(255 * shown ** (1 / GAMMA)))

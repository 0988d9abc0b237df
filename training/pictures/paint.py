"""Paints of models, and the everyday name of a picture's colour."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np

from training.pictures.wavefront import Mesh

# Name in sprites.json -> RGB as displayed.
PAINTS = {
    "white": (0.93, 0.93, 0.91),
    "black": (0.07, 0.07, 0.08),
    "gray": (0.40, 0.41, 0.42),
    "silver": (0.66, 0.67, 0.69),
    "blue": (0.13, 0.30, 0.70),
    "dark blue": (0.07, 0.11, 0.30),
    "red": (0.75, 0.09, 0.09),
    "green": (0.14, 0.42, 0.20),
    "yellow": (0.93, 0.76, 0.12),
    "orange": (0.93, 0.46, 0.08),
    "brown": (0.36, 0.22, 0.13),
    "beige": (0.80, 0.72, 0.55),
}
# Further colours of things that are not painted.
NAMED = {**PAINTS, "pink": (0.90, 0.60, 0.68), "purple": (0.45, 0.22, 0.55), "light blue": (0.55, 0.75, 0.90)}
LIGHT = 0.85  # brightness of a sunlit or overcast surface, relative to its paint


def painted(mesh: Mesh, names: list[str], paint: str) -> Mesh:
    """The mesh with the materials of these names in a paint. Raises ValueError if the mesh lacks one of them."""
    found = {material.name for material in mesh.materials}
    if missing := sorted(set(names) - found):
        raise ValueError(f"no material {missing[0]!r}; the model has {', '.join(sorted(found))}")
    colour = np.float32(PAINTS[paint])
    return replace(
        mesh,
        materials=tuple(
            replace(material, colour=colour, texture=None) if material.name in names else material
            for material in mesh.materials
        ),
    )


def name_colour(pixels: np.ndarray) -> str:
    """The name whose colour most opaque pixels are nearest to (CIE Lab). pixels: uint8 [h, w, 4], RGBA."""
    opaque = pixels[pixels[..., 3] > 200][:, :3]
    if len(opaque) == 0:
        return "gray"
    table = np.float32(list(NAMED.values())) * LIGHT
    names = cv2.cvtColor(table[None], cv2.COLOR_RGB2LAB)[0]
    seen = cv2.cvtColor(np.float32(opaque[None]) / 255, cv2.COLOR_RGB2LAB)[0]
    nearest = np.linalg.norm(seen[:, None] - names[None], axis=2).argmin(axis=1)
    return list(NAMED)[int(np.bincount(nearest, minlength=len(NAMED)).argmax())]

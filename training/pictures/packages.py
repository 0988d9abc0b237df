"""The packages that the pictures come from: name, version and sha256, and how they are fetched and unpacked.

Fetching is left to the client of each registry (apt-get, npm), so that a mirror or a proxy of the machine is used.
"""

from __future__ import annotations

import shutil
import subprocess
import tarfile
from dataclasses import dataclass
from pathlib import Path

from training.inputs import sha256


@dataclass(frozen=True)
class Package:
    name: str
    version: str
    client: str  # apt-get or npm
    file: str  # name that the client gives the archive
    sha256: str
    licence: str


FURNITURE = Package(
    "sweethome3d-furniture",
    "1.8-1",
    "apt-get",
    "sweethome3d-furniture_1.8-1_all.deb",
    "3ccb90c63f9525e887a767b9cd5c8b6933b8b6b2973a615a5359ee68a2118668",
    "CC BY 3.0, CC BY 3.0 US and CC0 1.0, per model",
)
SCRATCH = Package(
    "scratch",
    "1.4.0.6~dfsg1-6.1",
    "apt-get",
    "scratch_1.4.0.6~dfsg1-6.1_all.deb",
    "36c582eb93110f64f06c4e685c41e933ccba2fa68db12f79b10bfe840b21fc10",
    "CC BY-SA 3.0 (media)",
)
PANORAMAS = Package(
    "@pmndrs/assets",
    "1.7.0",
    "npm",
    "pmndrs-assets-1.7.0.tgz",
    "152bd218a3390703f184f0c6ce16e73c8f0a87f32d38530d418a09d33d8208dc",
    "CC0 1.0",
)


def fetch(package: Package, folder: Path) -> Path:
    """The package's archive in `folder`, fetched if it is not there.

    Raises SystemExit if the client is missing or fails, or if the archive has another sha256 than the pinned one.
    """
    archive = folder / package.file
    if not archive.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        command = {
            "apt-get": ["apt-get", "download", f"{package.name}={package.version}"],
            "npm": ["npm", "pack", "--silent", f"{package.name}@{package.version}"],
        }[package.client]
        _run(command, folder, f"{package.name} {package.version}")
    if not archive.is_file():
        raise SystemExit(f"{archive}: {package.client} left no such file")
    if (found := sha256(archive)) != package.sha256:
        raise SystemExit(f"{archive}: has sha256 {found}, expected {package.sha256}; remove it to fetch it again")
    return archive


def unpacked(package: Package, folder: Path) -> Path:
    """Folder with the files of the package, fetched and unpacked if needed."""
    archive = fetch(package, folder)
    place = folder / archive.name.rsplit(".", 1)[0]
    if place.is_dir():
        return place
    part = place.with_suffix(".part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir()
    if package.client == "apt-get":
        _run(["dpkg-deb", "-x", str(archive), str(part)], folder, archive.name)
    else:
        with tarfile.open(archive) as packed:
            packed.extractall(part, filter="data")
    part.rename(place)  # so that an interrupted run leaves no half of a package
    return place


def _run(command: list[str], folder: Path, what: str) -> None:
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise SystemExit(f"{what}: needs the program {command[0]}, which is not installed") from None
    if done.returncode != 0:
        reason = (done.stderr or done.stdout).strip().splitlines()
        raise SystemExit(f"{what}: {' '.join(command[:2])} failed: {reason[-1] if reason else done.returncode}")

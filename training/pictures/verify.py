"""Hashes of the rebuilt pictures, and their comparison with those of this repository.

    python -m training.pictures verify --data ROOT

hashes.json has one hash per model and per plate: of the pixels and the labels, not of the files, whose bytes depend on
the encoder. The status is 1 if one differs or lacks pictures. --write makes hashes.json anew. Absent pictures are
counted; --complete makes them an error.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections import defaultdict
from pathlib import Path

import cv2

from training.inputs import existing_folder

HASHES = Path(__file__).with_name("hashes.json")
DIGITS = 16  # of a hash: enough against accidents


def hashes_of(root: Path) -> dict[str, dict[str, str]]:
    """`sprites`: model -> hash; `plates`: id -> hash. Raises SystemExit if ROOT has neither, ValueError for a picture
    that cannot be read."""
    found: dict[str, dict[str, str]] = {}
    for part, key in (("sprites", "model"), ("plates", "id")):
        table = root / part / f"{part}.json"
        if not table.is_file():
            continue
        records = json.loads(table.read_text(encoding="utf-8"))
        groups = defaultdict(list)
        for record in records["plates"] if part == "plates" else records:
            groups[record[key]].append(record)
        base = root if part == "plates" else root / part
        found[part] = {name: _hash(group, base) for name, group in sorted(groups.items())}
    if not found:
        raise SystemExit(f"{root}: has neither sprites/sprites.json nor plates/plates.json")
    return found


def _hash(records: list[dict], base: Path) -> str:
    total = hashlib.sha256()
    for record in sorted(records, key=lambda record: record["file"]):
        pixels = cv2.imread(str(base / record["file"]), cv2.IMREAD_UNCHANGED)
        if pixels is None:
            raise ValueError(f"expected an image at {base / record['file']}")
        total.update(json.dumps([record, pixels.shape], sort_keys=True).encode())
        total.update(pixels.tobytes())
    return total.hexdigest()[:DIGITS]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=existing_folder, required=True, help="ROOT with the rebuilt pictures")
    parser.add_argument("--write", action="store_true", help="make hashes.json anew from ROOT")
    parser.add_argument("--complete", action="store_true", help="refuse a ROOT that lacks models or plates")
    args = parser.parse_args()
    found = hashes_of(args.data)
    if args.write:
        HASHES.write_text(json.dumps(found, indent=1) + "\n")
        print(f"{HASHES.name}: {sum(map(len, found.values()))} hashes")
        return
    expected = json.loads(HASHES.read_text(encoding="utf-8"))
    failed = False
    for part, hashes in expected.items():
        made = found.get(part, {})
        common = [name for name in made if name in hashes]
        different = [name for name in common if hashes[name] != made[name]]
        missing = [name for name in hashes if name not in made]
        failed |= bool(different) or (args.complete and bool(missing))
        print(
            f"{part}: {len(common) - len(different)} equal, {len(different)} different, {len(missing)} not in ROOT, "
            f"{len(made) - len(common)} without a hash"
        )
        for name in different:
            print(f"  {name}: {made[name]}, expected {hashes[name]}")
    raise SystemExit(1 if failed else 0)

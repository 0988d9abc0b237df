"""Pictures of things on the lens with the answers of the service: a gallery for the documents.

    python -m training.worlds lens BEFORE AFTER --out DIR
    scenedelta evaluate DIR/pairs.ndjson --predictions DIR/predictions.ndjson
    python -m training.worlds lens BEFORE AFTER --out DIR --sheet lens.webp

Each painter of surveillance/lens.py gives two pairs: the first frame again with something on its lens, and the changed
pair with the same on its second frame. BEFORE and AFTER are frames that may be shown. --sheet draws the painted frame
of each pair with the regions and the sentence of DIR/predictions.ndjson.
"""

from __future__ import annotations

import argparse
import json
import textwrap
from pathlib import Path

import cv2
import numpy as np

from training.inputs import existing_file, read_ndjson
from training.worlds.surveillance.lens import PAINTERS

NOISE = 1.5  # standard deviation, levels of 8 bits
WIDTH, GAP, LINE, LINES, CHARACTERS = 340, 8, 15, 2, 56
FONT, SCALE = cv2.FONT_HERSHEY_SIMPLEX, 0.38
TONE = {"change": (30, 30, 220), "nuisance": (40, 120, 20), "none": (40, 120, 20)}  # BGR by verdict
QUALITY = 64


def pairs_of(before: np.ndarray, after: np.ndarray) -> list[tuple[str, bool, np.ndarray]]:
    """Id, whether the scene changed, and the second frame (uint8 BGR) of each pair."""
    made = []
    for name, paint in PAINTERS.items():
        for changed, frame in ((False, before), (True, after)):
            rng = np.random.default_rng(list(name.encode()))
            painted = paint(frame[..., ::-1].astype(np.float32), rng) + rng.normal(0, NOISE, frame.shape)
            pixels = np.uint8(np.clip(painted, 0, 255))[..., ::-1]
            made.append((f"{name}-{'changed' if changed else 'still'}", changed, pixels))
    return made


def write_pairs(before: np.ndarray, pairs: list[tuple[str, bool, np.ndarray]], out: Path) -> None:
    """The frames as PNG, and pairs.ndjson in the format of `scenedelta evaluate`."""
    out.mkdir(parents=True, exist_ok=True)
    cv2.imwrite(str(out / "before.png"), before)
    lines = []
    for name, changed, pixels in pairs:
        cv2.imwrite(str(out / f"{name}.png"), pixels)
        verdict = {"verdict": "change" if changed else "none", "kind": "appear" if changed else "none"}
        said = ["something has changed"] if changed else ["nothing has changed"]
        frames = {"before": "before.png", "after": f"{name}.png"}
        lines.append({"id": name, **frames, **verdict, "scene": "gallery", "references": said})
    (out / "pairs.ndjson").write_text("".join(json.dumps(line) + "\n" for line in lines))


def panel(name: str, pixels: np.ndarray, answer: dict) -> np.ndarray:
    """uint8 BGR [h, WIDTH, 3]: name of the painter and the sentence, then the frame with the regions of the answer."""
    height = round(WIDTH * pixels.shape[0] / pixels.shape[1])
    shown = cv2.resize(pixels, (WIDTH, height), interpolation=cv2.INTER_AREA)
    for region in answer["regions"]:
        if region["side"] == "after":
            x, y, w, h = (region["box"][key] for key in ("x", "y", "width", "height"))
            corners = np.rint(np.array([x, y, x + w, y + h]) * [WIDTH, height, WIDTH, height]).astype(int).tolist()
            cv2.rectangle(shown, corners[:2], corners[2:], (30, 30, 220), 1, cv2.LINE_AA)
    head = np.full((LINE * (1 + LINES) + 4, WIDTH, 3), 255, np.uint8)
    what = name.replace("_", " ").replace("-", ", ")
    said = textwrap.wrap(answer["caption"], CHARACTERS)[:LINES]
    for row, (text, tone) in enumerate([(f"{what}: {answer['verdict']}", (0, 0, 0)), *((s, None) for s in said)]):
        at = (2, LINE * (row + 1) - 3)
        cv2.putText(head, text, at, FONT, SCALE, tone or TONE[answer["verdict"]], 1, cv2.LINE_AA)
    return cv2.copyMakeBorder(np.concatenate([head, shown]), 0, GAP, 0, GAP, cv2.BORDER_CONSTANT, value=(255,) * 3)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("before", type=existing_file)
    parser.add_argument("after", type=existing_file)
    parser.add_argument("--out", type=Path, required=True, help="folder of the pairs")
    parser.add_argument("--sheet", type=Path, help="picture to draw of the pairs with their predictions")
    args = parser.parse_args()
    before, after = (cv2.imread(str(path), cv2.IMREAD_COLOR) for path in (args.before, args.after))
    pairs = pairs_of(before, after)
    if args.sheet is None:
        write_pairs(before, pairs, args.out)
        print(f"{args.out}: {len(pairs)} pairs")
        return
    answers = {answer["id"]: answer for answer in read_ndjson(existing_file(str(args.out / "predictions.ndjson")))}
    panels = [panel(name, pixels, answers[name]) for name, _, pixels in pairs]
    rows = [np.concatenate(panels[at : at + 4], axis=1) for at in range(0, len(panels), 4)]
    cv2.imwrite(str(args.sheet), np.concatenate(rows), [cv2.IMWRITE_WEBP_QUALITY, QUALITY])
    print(f"{args.sheet}: {len(panels)} pictures")


if __name__ == "__main__":
    main()

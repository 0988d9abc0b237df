"""A checkpoint on a manifest of pairs (NDJSON), through the whole serving path; writes predictions that `scenedelta evaluate
--from-predictions` turns into every figure. Prints a short table of its own so that a training run can be followed.

    python -m training.evaluate --checkpoint RUN/best.pt --features features.q.onnx --manifest pairs.ndjson \
        [--calibration calibration.json] [--predictions FILE]
"""

import argparse
import json
import os
from pathlib import Path
from pickle import UnpicklingError

import numpy as np
import torch

from training.bundle.calibrate import logit_of
from training.data.cache import Features
from training.heldout import auroc, clauses, judge, same_colour, same_noun
from training.inputs import existing_file, first_line, new_file, read_json, refuse_other
from training.serve import UNCHANGED, Server, load_run, read_frame
from training.text.lexicon import WIDER
from training.worlds.clevr.data import truth_of


def read_manifest(path: Path) -> list[dict]:
    """Its pairs, whose frames are there. Beside id, before and after all is optional, and what nobody knows is passed over, as in the service."""
    pairs, seen = [], {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip():
            continue
        try:
            pair = json.loads(line)
        except json.JSONDecodeError as reason:
            raise SystemExit(f"{path}:{number}: not JSON ({reason})") from None
        if not isinstance(pair, dict):
            raise SystemExit(f"{path}:{number}: is a {type(pair).__name__}, expected an object")
        missing = {"id", "before", "after"} - set(pair)
        if missing:
            raise SystemExit(f"{path}:{number}: lacks {', '.join(sorted(missing))}")
        for side in ("before", "after"):
            if not isinstance(pair[side], str) or not (path.parent / pair[side]).is_file():
                raise SystemExit(f"{path}:{number}: {side}: {pair[side]}: no such file")
        if pair["id"] in seen:
            raise SystemExit(f"{path}:{number}: id {json.dumps(pair['id'])} is that of line {seen[pair['id']]} already")
        seen[pair["id"]] = number
        pairs.append(pair)
    if not pairs:
        raise SystemExit(f"{path}: holds no pairs, expected one JSON object a line")
    return pairs


def peak(heat: np.ndarray) -> dict[str, float]:
    """x, y (centre of the strongest cell, shares of the frame) and its value."""
    row, column = np.unravel_index(heat.argmax(), heat.shape)
    return {"x": (column + 0.5) / heat.shape[1], "y": (row + 0.5) / heat.shape[0], "value": float(heat.max())}


def inside(point: dict[str, float], boxes: list[list[float]], size: tuple[int, int]) -> bool:
    x, y = point["x"] * size[0], point["y"] * size[1]
    return any(bx <= x <= bx + bw and by <= y <= by + bh for bx, by, bw, bh in boxes)


class LookCache:
    """Whole-look features of a manifest's frames; they depend on the features graph alone, not on the checkpoint."""

    def __init__(self, server: Server, file: Path | None):
        self.server, self.file = server, file
        self.made = {"features": server.features.sha256, "look": list(server.c.look)}
        self.looks = self._kept() if file and file.exists() else {}

    def _kept(self) -> dict:
        try:
            kept = np.load(self.file, allow_pickle=True)
            looks, made = kept["looks"].item(), kept["made"].item() if "made" in kept else {}  # older ones do not tell
        except (ValueError, KeyError, OSError, EOFError, UnpicklingError) as reason:
            raise SystemExit(f"{self.file}: is not what --looks keeps ({first_line(reason)})") from None
        refuse_other(made, self.made, self.file, "give another --looks")
        return looks

    def __call__(self, path: Path, frame: np.ndarray):
        key = str(path)
        if key not in self.looks:
            self.looks[key] = self.server.look(frame)
        return self.looks[key]

    def save(self) -> None:
        if self.file:
            partial = self.file.with_name(f".{self.file.name}.{os.getpid()}")
            with open(partial, "wb") as file:  # given a name, NumPy adds .npz to it
                np.savez(file, looks=np.array(self.looks, dtype=object), made=np.array(self.made, dtype=object))
            os.replace(partial, self.file)


def predict(server: Server, pairs: list[dict], root: Path, threshold: float, looks_file: Path | None) -> list[dict]:
    looks, out = LookCache(server, looks_file), []
    for pair in pairs:
        paths = [root / pair[side] for side in ("before", "after")]
        frames = [read_frame(p) for p in paths]
        r = server.compare(*frames, looks=tuple(looks(p, f) for p, f in zip(paths, frames)), threshold=threshold)
        out.append(
            {
                "id": pair["id"],
                "verdict": r["verdict"],
                "confidence": float(1 / (1 + np.exp(-r["logit"]))),
                "logit": r["logit"],
                "kind": r["kind"],
                "caption": r["caption"],
                "nuisances": r["nuisances"],
                "regions": [
                    {
                        "id": i,
                        "side": g.side,
                        "box": dict(zip(("x", "y", "width", "height"), g.box)),
                        "area": g.area,
                        "score": g.score,
                    }
                    for i, g in enumerate(r["regions"], 1)
                ],
                "peak_before": peak(r["maps"]["before"]),
                "peak_after": peak(r["maps"]["after"]),
                "size": [frames[0].shape[1], frames[0].shape[0]],
                "timings_ms": {},
            }
        )
    looks.save()
    return out


def quick_figures(pairs: list[dict], predictions: list[dict]) -> dict[str, float]:
    """Of the pairs whose verdict is known, each figure over those that say what it asks for; one that nobody asks for is left out."""
    known = [(p, q) for p, q in zip(pairs, predictions) if p.get("verdict")]
    pairs, predictions = [p for p, _ in known], [q for _, q in known]
    changed = np.array([p["verdict"] == "change" for p in pairs], bool)
    logits = np.array([q["logit"] for q in predictions])
    hits, empty, action, noun, colour, kind, inverted = [], [], [], [], [], [], []
    for p, q in zip(pairs, predictions):
        found = clauses(q["caption"])
        if p["verdict"] != "change":
            empty.append(q["peak_before"]["value"] < 0.5 and q["peak_after"]["value"] < 0.5)
            continue
        for side in ("before", "after"):
            if p.get(f"boxes_{side}"):
                hits.append(inside(q[f"peak_{side}"], p[f"boxes_{side}"], q["size"]))
        truth = truth_of(p)
        if truth:  # CLEVR: one object, told exactly
            _, (said_action, said_noun, all_true) = judge(q["caption"], {"world": "clevr", "objects": [truth]})
            kind.append(q["kind"] == truth["kind"])
            action.append(said_action), noun.append(said_noun), colour.append(all_true)
            continue
        if "kind" in p:
            kind.append(q["kind"] == p["kind"])
        objects = p.get("objects")
        if not objects:
            continue
        first = found[0] if found else None
        named = [
            o
            for o in objects
            if first
            and o.get("noun")
            and same_noun(first.noun, o["noun"].split()[-1] if o["noun"] not in ("pickup truck",) else "truck")
        ]
        action.append(
            bool(first) and any(first.action == o.get("action") or first.action == "replaced" for o in objects)
        )
        noun.append(bool(named))
        colour.append(any(same_colour(first.colour, o.get("colour")) for o in named))
        opposite = {"appeared": "disappeared", "disappeared": "appeared"}.get(first.action if first else "")
        actions = {o.get("action") for o in objects}
        inverted.append(opposite in actions and len(actions) == 1)
    mean = lambda x: round(float(np.mean(x)), 4) if x else float("nan")
    figures = {
        "auroc": round(auroc(logits, changed), 4),
        "verdict": mean([(q["verdict"] == "change") == bool(c) for q, c in zip(predictions, changed)]),
        "pointing": mean(hits),
        "empty": mean(empty),
        "kind": mean(kind),
        "action": mean(action),
        "inverted": mean(inverted),
        "noun": mean(noun),
        "colour": mean(colour),
    }
    return {
        "pairs": len(pairs),
        **{name: value for name, value in figures.items() if value == value},
    }  # a mean of none is not a number


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--checkpoint", type=existing_file, required=True)
    parser.add_argument("--features", type=existing_file, required=True)
    parser.add_argument("--manifest", type=existing_file, required=True)
    parser.add_argument("--predictions", type=new_file)
    parser.add_argument("--looks", type=new_file, help="file to keep whole-look features in between calls")
    parser.add_argument(
        "--calibration",
        type=existing_file,
        help="of training.bundle.calibrate: threshold and hedging as served (default: a logit of 0, none)",
    )
    parser.add_argument("--glances", type=int, help="at most so many (default: as many as the model was trained with)")
    args = parser.parse_args()
    torch.set_num_threads(1)
    pairs = read_manifest(args.manifest)
    difference, captioner, saved = load_run(args.checkpoint)
    threshold = 0.0
    if args.calibration:
        fitted = read_json(
            args.calibration,
            "hedge.share",
            "calibration.threshold",
            "calibration.change.scale",
            "calibration.change.offset",
        )
        threshold = logit_of(fitted["calibration"])
        captioner.hedge(WIDER, fitted["hedge"]["share"])
    server = Server(
        Features(args.features), difference, captioner, saved["config"].get("unchanged", UNCHANGED), args.glances
    )
    predictions = predict(server, pairs, args.manifest.parent, threshold, args.looks)
    if args.predictions:
        partial = args.predictions.with_suffix(".partial")
        partial.write_text("".join(json.dumps(q) + "\n" for q in predictions))
        partial.rename(args.predictions)
    print(json.dumps(quick_figures(pairs, predictions)))


if __name__ == "__main__":
    main()

"""Golden values of a bundle: outputs of ONNX Runtime in Python, which `npm test` compares with onnxruntime-node.

The exporter has compared them with PyTorch. Inputs are formulas, so both languages compute equal ones without an image.

    python -m training.bundle golden --bundle models/scorer-surveillance --out
    test/fixtures/golden/scorer-surveillance.json
"""

import argparse
import json
from pathlib import Path

import numpy as np
import onnxruntime

from training.bundle.heads import MAPS_IN
from training.contract import CROP_IN, DIFFERENCE_IN, DIFFERENCE_OUT, FRAME_KIND
from training.data.preprocess import resize
from training.inputs import existing_folder, open_graph, read_json

CHECK_IDS = (4, 5, 6, 7, 3)  # words and the end id of a sentence
SAMPLES = 64  # values kept of each tensor, evenly spread


def wave(shape: list[int], phase: float) -> np.ndarray:
    """3 sin(0.7 i + phase) over the flattened index i; unlike any picture, and unlike the export's random input."""
    return (3 * np.sin(0.7 * np.arange(np.prod(shape), dtype=np.float64) + phase)).astype(np.float32).reshape(shape)


def picture(width: int, height: int) -> np.ndarray:
    """uint8 [h,w,3]: ramps with a bright square."""
    y, x = np.mgrid[0:height, 0:width]
    image = np.stack([(x * 255) // width, (y * 255) // height, ((x + y) * 3) % 256], -1).astype(np.uint8)
    image[height // 3 : height // 2, width // 4 : width // 4 + width // 8] = (250, 240, 30)
    return image


def sampled(values: np.ndarray) -> list[float]:
    flat = values.astype(np.float64).ravel()
    return [round(float(v), 6) for v in flat[np.linspace(0, flat.size - 1, min(SAMPLES, flat.size)).astype(int)]]


def shape_of(manifest: dict, graph: str, name: str) -> list[int]:
    """The shape of an input, with B = 1."""
    spec = next(t for t in manifest["graphs"][graph]["inputs"] if t["name"] == name)
    return [s if isinstance(s, int) else 1 for s in spec["shape"]]


def outputs(graph: onnxruntime.InferenceSession, feed: dict[str, np.ndarray]) -> dict[str, list[float]]:
    names = [output.name for output in graph.get_outputs()]
    return {name: sampled(value) for name, value in zip(names, graph.run(names, feed))}


def golden(folder: Path) -> dict:
    manifest = read_json(folder / "manifest.json", "graphs", "input", "files")
    graphs = {name: open_graph(folder / graph["file"]) for name, graph in manifest["graphs"].items()}
    size = manifest["input"]["width"], manifest["input"]["height"]
    frame = resize(picture(700, 460), *size)
    # Not the frame: both resamplers differ in the last digits, and int8 rounding would make that difference large.
    image = (wave([1, *frame.shape], 0) + 3) / 6
    features = dict(zip(("coarse", "fine"), graphs["features"].run(("coarse", "fine"), {"image": image})))
    feed = {name: wave(shape_of(manifest, "difference", name), phase) for phase, name in enumerate(DIFFERENCE_IN)}
    difference = dict(zip(DIFFERENCE_OUT, graphs["difference"].run(DIFFERENCE_OUT, feed)))
    feed = {"memory": difference["memory"]}
    if manifest["glance"]:
        names = CROP_IN[:2]
        feed |= {name: wave(shape_of(manifest, "caption", name), phase) for phase, name in enumerate(names)}
        R = manifest["glance"]["regions"]
        feed["glance_box"] = np.array([[[0.1 * (r + 1), 0.2, 0.25, 0.3] for r in range(R)]], np.float32)
        feed["object_box"] = np.array([[[0.1 * (r + 1) + 0.05, 0.25, 0.15, 0.2] for r in range(R)]], np.float32)
        feed["glance_mask"] = np.array([[1.0] * (R - 1) + [0.0]], np.float32)
    if FRAME_KIND in (t["name"] for t in manifest["graphs"]["caption"]["inputs"]):
        feed[FRAME_KIND] = difference["kind_logits"]
    names = [output.name for output in graphs["caption"].get_outputs()]
    caption = dict(zip(names, graphs["caption"].run(names, feed)))
    evidence = feed | {name: difference[name] for name in MAPS_IN} | {FRAME_KIND: difference["kind_logits"]}
    side = manifest.get("people", {}).get("size", 0)
    further = {
        "people": lambda: {"image": (wave([1, 3, side, side], 0) + 3) / 6},
        "check": lambda: evidence | {"ids": np.array([[CHECK_IDS]], np.int64)},
        "pair": lambda: evidence,
        "text": lambda: {key: np.array([manifest["search"]["examples"][0][key]], np.int64) for key in ("ids", "grams")},
    }
    return {
        "made_with": f"ONNX Runtime in Python, bundle {manifest['name']} {manifest['version']}",
        "files": manifest["files"],
        "preprocess": {"source": [700, 460], "samples": sampled(frame)},
        "features": {name: sampled(value) for name, value in features.items()},
        "difference": {name: sampled(value) for name, value in difference.items()},
        "caption": {
            "ids": caption["ids"][0].tolist(),
            "length": int(caption["length"][0]),
            "log_prob": sampled(caption["log_prob"]),
            "attention": sampled(caption["attention"]),
            **({"kind_logits": sampled(caption["kind_logits"])} if "kind_logits" in caption else {}),
        },
        **{name: outputs(graphs[name], inputs()) for name, inputs in further.items() if name in graphs},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bundle", type=existing_folder, required=True)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    values = golden(args.bundle)
    args.out.parent.mkdir(parents=True, exist_ok=True)
    args.out.write_text(json.dumps(values, indent=1) + "\n")
    print(f"{args.out}: {len(values['caption']['ids'])} ids, {SAMPLES} samples per tensor")

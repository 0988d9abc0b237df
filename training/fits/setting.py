"""Fits whether a frame shows the indoors (`names.setting` of a bundle's manifest, src/model/setting.ts).

    python -m training.fits setting --bundle BUNDLE [--pairs REAL/pairs.ndjson ...] [--plates ROOT/plates/plates.json]
      [--write BUNDLE]

Frames of pairs, and plates, are labelled `indoor` or `outdoor`. Prints figures of whole cameras that were held out.
"""

import argparse
from collections import Counter
from pathlib import Path

import numpy as np
import onnxruntime
from PIL import Image
from sklearn.metrics import roc_auc_score

from training.bundle.manifest import replace_manifest
from training.data.preprocess import resize
from training.fits.judge import fold_of
from training.fits.labelled import ROOMS
from training.inputs import existing_file, existing_folder, read_json, read_ndjson
from training.learn.logistic import cross_fitted_scores, fit_logistic

MOST_FRAMES = 6  # of a camera
RIDGE = 30.0
INDOOR = "indoor"


def frames_of_pairs(path: Path) -> list[tuple[Path, str, bool]]:
    """File, camera, and whether it is indoors: the first frames of each camera."""
    seen: dict[Path, tuple[str, bool]] = {}
    counts: Counter[str] = Counter()
    for line in read_ndjson(path):
        camera = line["camera"]
        for side in ("before", "after"):
            file = path.parent / line[side]
            if file not in seen and counts[camera] < MOST_FRAMES:
                counts[camera] += 1
                seen[file] = ROOMS.get(camera, camera), line["setting"] == INDOOR
    return [(file, *labels) for file, labels in seen.items()]


def frames_of_plates(path: Path) -> list[tuple[Path, str, bool]]:
    """Plates that may teach a bundle that ships, and are of no development scene."""
    plates = read_json(path, "plates")["plates"]
    taught = [plate for plate in plates if plate["shippable"] and not plate["dev_scene"]]
    return [(path.parent.parent / plate["file"], plate["place"], plate["setting"] == INDOOR) for plate in taught]


def features_of(bundle: Path, files: list[Path]) -> np.ndarray:
    """[n, channels]: the mean of each channel of the coarse features."""
    size = read_json(bundle / "manifest.json", "input")["input"]
    graph = onnxruntime.InferenceSession(str(bundle / "features.onnx"), providers=["CPUExecutionProvider"])
    rows = []
    for file in files:
        image = resize(np.asarray(Image.open(file).convert("RGB")), size["width"], size["height"])
        (coarse,) = graph.run(["coarse"], {"image": image[None]})
        rows.append(coarse[0].mean((1, 2)))
    return np.array(rows)


def fit(rows: np.ndarray, truths: np.ndarray) -> tuple[float, np.ndarray]:
    return fit_logistic(rows, truths, RIDGE, soft=False)


def figures(rows: np.ndarray, truths: np.ndarray, groups: list[str]) -> list[str]:
    folds = np.array([fold_of(group) for group in groups])
    scores = cross_fitted_scores(rows, truths, folds, RIDGE, soft=False)
    sure = scores >= 0.9
    return [
        f"setting: {len(truths)} frames, {truths.sum()} indoors, AUROC {roc_auc_score(truths, scores):.3f}",
        f"  indoors from .9: {(sure & truths).sum()} of {truths.sum()}, wrong {(sure & ~truths).sum()}",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bundle", type=existing_folder, required=True)
    parser.add_argument("--pairs", type=existing_file, action="append", default=[])
    parser.add_argument("--plates", type=existing_file)
    parser.add_argument("--write", type=existing_folder)
    args = parser.parse_args()
    frames = [frame for path in args.pairs for frame in frames_of_pairs(path)]
    frames += frames_of_plates(args.plates) if args.plates else []
    truths = np.array([indoor for _, _, indoor in frames])
    if len(set(truths.tolist())) < 2:
        raise SystemExit("setting: expected frames of both settings in --pairs and --plates")
    rows = features_of(args.bundle, [file for file, _, _ in frames])
    print("\n".join(figures(rows, truths, [group for _, group, _ in frames])))
    if args.write:
        offset, weights = fit(rows, truths)
        manifest = read_json(args.write / "manifest.json", "names")
        fitted = {"weights": [round(float(weight), 4) for weight in weights], "offset": round(offset, 4)}
        replace_manifest(args.write, manifest | {"names": manifest["names"] | {"setting": fitted}})


if __name__ == "__main__":
    main()

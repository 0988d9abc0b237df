"""The service runs the bundle of every architecture, and writes the words that PyTorch writes."""

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

torch = pytest.importorskip("torch")
from onnx import parser, save

from research.captioners import ARCHITECTURES
from research.tests.architecture_pairs import tiny_config, tiny_pair
from training.bundle.export import write_bundle
from training.contract import NUISANCES
from training.data.cache import Features
from training.data.preprocess import resize
from training.inputs import read_json
from training.learn.heldout import words_of

CLI = Path(__file__).parents[2] / "dist/cli/main.js"
SMALL = {
    "clip4idc": {"vision_width": 16, "vision_heads": 2, "vision_ffn": 16, "layers": 2},
    "onediff": {"delta": 3, "delta_width": 16, "delta_heads": 2, "layers": 2},
}
FEATURES = """
<ir_version: 8, opset_import: ["": 17]>
features (float[B,3,H,W] image) => (float[B,3,h,w] coarse, float[B,3,i,j] fine) {
  coarse = AveragePool <kernel_shape = [16, 16], strides = [16, 16]> (image)
  fine = AveragePool <kernel_shape = [8, 8], strides = [8, 8]> (image)
}"""
CALIBRATION = {
    "change": {"scale": 1.0, "offset": 9.0},  # every pair is changed
    "threshold": 0.0,
    "operating_points": [],
    "nuisances": dict.fromkeys(NUISANCES, 0.9),
}
STATED = {"licence": "MIT", "metrics": {}, "training_data": [], "cost": {}}


@pytest.mark.skipif(not CLI.is_file(), reason="npm run build has not run")
@pytest.mark.parametrize("name", ARCHITECTURES)
def test_the_service_writes_the_words_of_pytorch(tmp_path: Path, name: str):
    c, labels = tiny_config(name, **SMALL.get(name, {})), {}
    c.coarse_channels = c.fine_channels = 3
    difference, writer = tiny_pair(c)
    for key in ("vocabulary", "nouns", "colours"):
        labels[key] = getattr(c, key)
    model = {key: value for key, value in vars(c).items() if key not in labels and not key.startswith("event_")}
    saved = {
        "config": {"name": name, "world": "research.captioners", "model": model, "train": {}},
        "labels": labels,
        "seed": 1,
        "command": "python -m research.captioners.table",
        "difference": difference.state_dict(),
        "captioner": writer.state_dict(),
    }
    torch.save(saved, tmp_path / "run.pt")
    save(parser.parse_model(FEATURES), tmp_path / "features.onnx")
    calibration = {"calibration": CALIBRATION, "hedge": {"share": 0.0}, "heldout": {}, "calibrated_on": {}}
    (tmp_path / "calibration.json").write_text(json.dumps(calibration))
    bundle, frames = tmp_path / "models" / name.replace("_", "-"), []
    write_bundle(
        tmp_path / "run.pt", tmp_path / "features.onnx", tmp_path / "calibration.json", STATED, bundle.name, "0.0.1",
        bundle, None,
    )  # fmt: skip
    manifest = read_json(bundle / "manifest.json")
    layout = difference.network.layout
    assert manifest["architecture"] == name
    assert manifest["attention"]["layout"] == {"sides": layout.sides, "extra": layout.extra}

    rng = np.random.default_rng(5)
    for side in ("before", "after"):
        frames.append(rng.integers(0, 255, (64, 96, 3), np.uint8))
        Image.fromarray(frames[-1]).save(tmp_path / f"{side}.png")
    command = ["node", str(CLI), "compare", "before.png", "after.png", "--json", "--model", bundle.name]
    command += ["--device", "cpu", "--heatmap", "where.png"]
    environment = {**os.environ, "MODELS_DIR": str(tmp_path / "models")}
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    finding = json.loads(done.stdout)

    features = Features(tmp_path / "features.onnx")
    grids = [torch.from_numpy(x) for frame in frames for x in features(resize(frame, 96, 64)[None])]
    with torch.no_grad():  # the export rounds weights to float16, so the words may differ where two are as likely
        d = difference(*grids)
        ids = writer.greedy(d["memory"])["ids"][0].tolist()
    assert finding["caption"] == words_of(ids, c.vocabulary)
    assert (tmp_path / "where.png").stat().st_size > 1000

"""Judges a checkpoint on labelled pairs exactly as it would be served.

    python -m training.evaluate --checkpoint RUN/best.pt --features features.q.onnx --calibration calibration.json \
        --manifest pairs.ndjson [--json FILE] [any other option of `scenedelta evaluate`]

Exports the checkpoint to a temporary bundle and runs `scenedelta evaluate` on it, so that alignment, tamper checks and
limits are the service's own. Needs the compiled service (`npm run build`). Held-out synthetic pairs are judged by
`training.learn.heldout` instead, without a bundle.
"""

import argparse
import os
import subprocess
import tempfile
from pathlib import Path
from typing import IO

from training.bundle.export import write_bundle
from training.inputs import existing_file

CLI = Path(__file__).parents[1] / "dist/cli/main.js"
NAME = "checkpoint"
FACTS = {"licence": "not for release", "metrics": {}, "training_data": [], "cost": {}}


def evaluate_bundle(models: Path, name: str, manifest: Path, options: list[str], log: IO[str] | None = None) -> None:
    """Runs `scenedelta evaluate` on a bundle of the folder `models`; log: where its output goes, default stdout.

    @raises SystemExit if the service is not compiled, or with the command's exit status if it fails.
    """
    if not CLI.is_file():
        raise SystemExit(f"{CLI}: no such file; run npm run build")
    command = ["node", str(CLI), "evaluate", str(manifest), "--bundle", name, *options]
    environment = {**os.environ, "MODELS_DIR": str(models)}
    done = subprocess.run(command, env=environment, stdout=log, stderr=log and subprocess.STDOUT)
    if done.returncode:
        raise SystemExit(done.returncode)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], allow_abbrev=False)
    parser.add_argument("--checkpoint", type=existing_file, required=True)
    parser.add_argument("--features", type=existing_file, required=True)
    parser.add_argument("--calibration", type=existing_file, required=True, help="JSON of training.bundle.calibrate")
    parser.add_argument("--manifest", type=existing_file, required=True, help="NDJSON of labelled pairs")
    parser.add_argument("--align-from", type=float, help="as for training.bundle.export; default: never align")
    args, options = parser.parse_known_args()
    with tempfile.TemporaryDirectory() as models:
        bundle = Path(models) / NAME
        write_bundle(args.checkpoint, args.features, args.calibration, FACTS, NAME, "0.0.0", bundle, args.align_from)
        evaluate_bundle(Path(models), NAME, args.manifest, options)


if __name__ == "__main__":
    main()

"""The frozen reading stage: trained once on single frames, then shared by every row."""

import json
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from research.captioners.pair_network import make_reader
from research.captioners.scenes import SceneBatches
from research.captioners.table_config import TableConfig
from training.inputs import read_json, sha256
from training.learn.loop import Optimiser, learning_rate, optimise, save
from training.world import World


def train_reader(
    config: TableConfig, data: SceneBatches, world: World, seed: int, steps: int, device: str
) -> dict[str, Tensor]:
    """Weights after `steps` steps of the world's single-frame losses."""
    torch.manual_seed(seed)
    t, reader = config.reader | {"steps": steps}, make_reader(data.config, world).to(device).train()

    def losses_of(step: int) -> dict[str, Tensor]:
        rng = np.random.default_rng([seed, step])
        indices = sorted(rng.choice(len(data.cache), t["batch"], replace=False).tolist())
        return world.frame_losses(reader, {name: value.to(device) for name, value in data.batch(indices, rng).items()})

    def each(done: int, figures: dict[str, float]) -> None:
        if done % 20 == 0:
            print(f"reader, step {done}: {figures['loss']:.3f}", flush=True)

    rate_at = lambda step: learning_rate(step, steps, t["learning_rate"], t["warmup"])
    optimise(Optimiser(reader, 0.01), losses_of, None, rate_at, range(steps), each)
    return reader.cpu().state_dict()


def shared_reader(
    out: Path, config: TableConfig, data: SceneBatches, world: World, seed: int, steps: int, device: str = "cpu"
) -> tuple[dict[str, Tensor], str]:
    """The weights in OUT/reader.pt, trained now if the file is missing, and their sha256.

    @raises SystemExit if the file was trained with other settings.
    """
    path, made = out / "reader.pt", {"reader": config.reader | {"steps": steps}, "seed": seed}
    if path.exists():
        was = read_json(out / "reader.json")
        if was != made:
            raise SystemExit(f"{path}: was trained with {was}, expected {made}; give another --out")
    else:
        weights = train_reader(config, data, world, seed, steps, device)
        (out / "reader.json").write_text(json.dumps(made) + "\n")
        save(weights, path)
    return torch.load(path, weights_only=True), sha256(path)

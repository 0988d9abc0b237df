"""The frozen reading stage: trained once on single frames, then shared by every row."""

import json
import os
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from research.captioners.pair_network import make_reader
from research.captioners.scenes import SceneBatches
from research.captioners.table_config import TableConfig
from training.inputs import read_json, sha256
from training.train import learning_rate
from training.world import World


def train_reader(config: TableConfig, data: SceneBatches, world: World, seed: int, steps: int) -> dict[str, Tensor]:
    """Weights after `steps` steps of the world's single-frame losses."""
    torch.manual_seed(seed)
    t, reader = config.reader | {"steps": steps}, make_reader(data.config, world).train()
    optimiser = torch.optim.AdamW(reader.parameters(), lr=t["learning_rate"], weight_decay=0.01)
    for step in range(steps):
        rng = np.random.default_rng([seed, step])
        batch = data.batch(sorted(rng.choice(len(data.cache), t["batch"], replace=False).tolist()), rng)
        terms = world.frame_losses(reader, batch)
        for group in optimiser.param_groups:
            group["lr"] = learning_rate(step, t)
        optimiser.zero_grad(set_to_none=True)
        sum(terms.values()).backward()
        torch.nn.utils.clip_grad_norm_(reader.parameters(), 1.0)
        optimiser.step()
        if step % 20 == 0:
            print(f"reader, step {step}: {sum(terms.values()).item():.3f}", flush=True)
    return reader.state_dict()


def shared_reader(
    out: Path, config: TableConfig, data: SceneBatches, world: World, seed: int, steps: int
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
        weights = train_reader(config, data, world, seed, steps)
        (out / "reader.json").write_text(json.dumps(made) + "\n")
        torch.save(weights, path.with_suffix(".tmp"))
        os.replace(path.with_suffix(".tmp"), path)
    return torch.load(path, weights_only=True), sha256(path)

"""One row of the table: its stages, its position in them, its checkpoint."""

import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from research.captioners.base import Stage
from research.captioners.pair_network import make_pair
from research.captioners.scenes import SceneBatches
from training.contract import difference_inputs
from training.data.batches import Labels
from training.inputs import read_run
from training.learn.loop import Optimiser, learning_rate, optimise, save
from training.net.config import ModelConfig
from training.net.losses import map_loss
from training.world import load_world

HEAD_WEIGHTS = {"map": 0.5, "change": 1.0, "kind": 0.3}  # of clevr-cpu.toml


class Row:
    """A training of one architecture. config: {name, world, model, train} as in a checkpoint of training.train."""

    def __init__(self, config: dict, labels: Labels, reader: dict[str, Tensor], seed: int):
        torch.manual_seed(seed)
        self.config, self.labels, self.seed, self.step, self.cpu_s = config, labels, seed, 0, 0.0
        self.world = load_world(config["world"])
        self.difference, self.captioner = make_pair(ModelConfig(**config["model"], **asdict(labels)), self.world)
        self.difference.reader.load_state_dict(reader)
        self.network = self.difference.network
        self.optimiser = Optimiser(self.difference, config["train"]["weight_decay"], config["train"]["clip"])

    # ------------------------------------------------------------------------------------------------- steps

    def stage_at(self, step: int) -> tuple[Stage, int, int]:
        """The stage of a step, with the stage's first step and the one after its last."""
        steps, first, share = self.config["train"]["steps"], 0, 0.0
        for stage in self.network.stages:
            share += stage.share
            end = round(share * steps)
            if step < end:
                return stage, first, end
            first = end
        return self.network.stages[-1], first, steps

    def rate_at(self, step: int) -> float:
        stage, first, end = self.stage_at(step)
        t = self.config["train"]
        return stage.rate * learning_rate(step - first, end - first, t["learning_rate"], t["warmup"])

    def train(self, data: SceneBatches, upto: int, each: Callable[[dict], None]) -> None:
        """Steps until `upto` are done. each: called with the line of the log of every step."""
        scenes, began, task = self.config["train"]["scenes"], time.process_time(), ""

        def losses_of(step: int) -> dict[str, Tensor]:
            nonlocal task
            rng, tasks = np.random.default_rng([self.seed, step]), self.stage_at(step)[0].tasks
            weights = np.array(list(tasks.values()))
            task = str(rng.choice(list(tasks), p=weights / weights.sum()))
            return self.terms(task, data.two_streams(data.scenes_of(step, scenes, self.seed), rng))

        def after(done: int, figures: dict[str, float]) -> None:
            nonlocal began
            took, began = time.process_time() - began, time.process_time()
            self.cpu_s, self.step = self.cpu_s + took, done
            watched = {name: value.item() for name, value in self.network.watched.items()}
            line = {"step": done, "stage": self.stage_at(done - 1)[0].name, "task": task, "cpu_s": took}
            line |= figures | watched
            each({name: round(value, 4) if isinstance(value, float) else value for name, value in line.items()})

        optimise(self.optimiser, losses_of, None, self.rate_at, range(self.step, upto), after)

    def terms(self, task: str, b: dict[str, Tensor]) -> dict[str, Tensor]:
        """Weighted terms of the architecture, and those of the heads if the task encodes all pairs."""
        b = self.with_tokens(b)
        terms, encoded = self.network.losses(task, b)
        if encoded is None:
            return terms
        d = self.difference.heads(encoded)
        heads = {
            "map": map_loss(d["logits_before"], b["masks"][:, 0]) + map_loss(d["logits_after"], b["masks"][:, 1]),
            "kind": F.cross_entropy(d["kind_logits"], b["kind"]),
        }
        if encoded.change_logit is None:
            heads["change"] = F.binary_cross_entropy_with_logits(d["change_logit"], b["changed"])
        return terms | {name: HEAD_WEIGHTS[name] * value for name, value in heads.items()}

    def with_tokens(self, b: dict[str, Tensor]) -> dict[str, Tensor]:
        """The batch with the tokens `before` and `after` [B,N,C]."""
        coarse_b, fine_b, coarse_a, fine_a, _ = difference_inputs(b)
        return b | {
            "before": self.difference.tokens(coarse_b, fine_b),
            "after": self.difference.tokens(coarse_a, fine_a),
        }

    @torch.no_grad()
    def heldout_loss(self, data: SceneBatches, scenes: int) -> float:
        """Mean loss of the last task on one pair of each stream per held-out scene."""
        self.difference.eval()
        task, total = next(reversed(self.network.stages[-1].tasks)), []
        for start in range(0, data.cache.scenes_count - scenes + 1, scenes):
            torch.manual_seed(start)  # masks of words
            b = data.two_streams(list(range(start, start + scenes)), np.random.default_rng(start))
            total.append(sum(self.network.losses(task, self.with_tokens(b))[0].values()).item())
        return float(np.mean(total))

    # ------------------------------------------------------------------------------------------------- checkpoints

    def state(self) -> dict:
        return {
            "config": self.config,
            "labels": asdict(self.labels),
            "seed": self.seed,
            "step": self.step,
            "cpu_s": self.cpu_s,
            "command": f"python -m research.captioners.table --rows {self.config['name']} --seed {self.seed}",
            "difference": self.difference.state_dict(),
            "captioner": self.captioner.state_dict(),
            **self.optimiser.state(),
            "torch_rng": torch.get_rng_state(),
        }

    def save(self, path: Path) -> None:
        """A checkpoint that resumes here, and that training.bundle.export reads."""
        save(self.state(), path)

    def restore(self, path: Path) -> None:
        """@raises SystemExit if the checkpoint is of another config, seed or vocabulary."""
        saved = read_run(path, "optimiser", "seed", "step", "torch_rng")
        for name, ours in (("config", self.config), ("labels", asdict(self.labels)), ("seed", self.seed)):
            if saved[name] != ours:
                raise SystemExit(f"{path}: was trained with another {name}; give another --out")
        for name in ("difference", "captioner"):
            getattr(self, name).load_state_dict(saved[name])
        self.optimiser.restore(saved)
        self.step, self.cpu_s = saved["step"], saved["cpu_s"]
        torch.set_rng_state(saved["torch_rng"])

"""One row of the table: its stages, its position in them, its checkpoint."""

import time
from collections.abc import Callable, Iterator
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
    """A training of one architecture. config: {name, world, model, train} as in a checkpoint of training.train.

    With `train.minutes` the schedule ends when they are over, if it has not done `train.steps` before.
    """

    def __init__(self, config: dict, labels: Labels, reader: dict[str, Tensor], seed: int, device: str = "cpu"):
        torch.manual_seed(seed)
        self.config, self.labels, self.seed, self.step, self.cpu_s = config, labels, seed, 0, 0.0
        self.device, self.wall_s = torch.device(device), 0.0
        self.world = load_world(config["world"])
        self.difference, self.captioner = make_pair(ModelConfig(**config["model"], **asdict(labels)), self.world)
        self.difference.reader.load_state_dict(reader)
        self.difference.to(self.device)
        self.network = self.difference.network
        self.optimiser = Optimiser(self.difference, config["train"]["weight_decay"], config["train"]["clip"])

    # ------------------------------------------------------------------------------------------------- steps

    def place(self) -> int:
        """The step of the schedule that the next step is taken as: a later one if the minutes are what is scarce."""
        t = self.config["train"]
        return max(self.step, int(self.wall_s / (60 * t["minutes"]) * t["steps"])) if t.get("minutes") else self.step

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
        if self.device.type != "cpu":
            data.keep(self.difference, self.device)
        scenes, stage, task = self.config["train"]["scenes"], self.network.stages[0], ""
        began = time.process_time(), time.perf_counter()

        def losses_of(step: int) -> dict[str, Tensor]:
            nonlocal stage, task
            stage = self.stage_at(self.place())[0]
            rng, tasks = np.random.default_rng([self.seed, step]), stage.tasks
            weights = np.array(list(tasks.values()))
            task = str(rng.choice(list(tasks), p=weights / weights.sum()))
            return self.terms(task, data.two_streams(data.scenes_of(step, scenes, self.seed), rng))

        def after(done: int, figures: dict[str, float]) -> None:
            nonlocal began
            now = time.process_time(), time.perf_counter()
            (took, waited), began = (b - a for a, b in zip(began, now)), now
            self.cpu_s, self.wall_s, self.step = self.cpu_s + took, self.wall_s + waited, done
            watched = {name: value.item() for name, value in self.network.watched.items()}
            line = {"step": done, "stage": stage.name, "task": task, "cpu_s": took}
            line |= figures | watched
            each({name: round(value, 4) if isinstance(value, float) else value for name, value in line.items()})

        def steps() -> Iterator[int]:
            while self.place() < upto:
                yield self.step

        optimise(self.optimiser, losses_of, None, lambda _: self.rate_at(self.place()), steps(), after)

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
        """The batch on the row's device, with the tokens `before` and `after` [B,N,C]."""
        b = {name: value.to(self.device, non_blocking=True) for name, value in b.items()}
        if "before" in b:  # kept (SceneBatches.keep)
            return b
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
            "wall_s": self.wall_s,
            "command": f"python -m research.captioners.table --rows {self.config['name']} --seed {self.seed}",
            "difference": self.difference.state_dict(),
            "captioner": self.captioner.state_dict(),
            **self.optimiser.state(),
            "torch_rng": torch.get_rng_state(),
            "cuda_rng": torch.cuda.get_rng_state(self.device) if self.device.type == "cuda" else None,
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
        self.step, self.cpu_s, self.wall_s = saved["step"], saved["cpu_s"], saved.get("wall_s", 0.0)
        torch.set_rng_state(saved["torch_rng"])
        if self.device.type == "cuda" and saved.get("cuda_rng") is not None:
            torch.cuda.set_rng_state(saved["cuda_rng"], self.device)

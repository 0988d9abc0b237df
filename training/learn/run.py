"""A training run: networks, optimiser and position in the data; everything that a checkpoint holds."""

import math
from dataclasses import asdict
from pathlib import Path

import numpy as np
import torch
from torch import nn

from training.data.batches import Labels
from training.data.shards import Shards
from training.inputs import read_run, sha256
from training.learn.loop import Optimiser, save
from training.net.captioner import Captioner
from training.net.config import ModelConfig
from training.net.cross_view import BackwardReasoning
from training.world import load_world

PARTS = ("difference", "captioner", "cbr")
UNRECORDED = {}  # `start_from` of a run that began from a checkpoint without that field


class Run:
    def __init__(self, config: dict, labels: Labels, seed: int, device: str):
        torch.manual_seed(seed)
        self.config, self.labels, self.seed, self.device = config, labels, seed, torch.device(device)
        self.model_config = ModelConfig(**config["model"], **asdict(labels))
        self.world = load_world(config["world"])
        if self.world.make_networks:
            raise SystemExit(f"world {self.world.name!r} makes and trains networks that are not of this package")
        self.difference = self.world.make_difference(self.model_config)
        self.captioner, self.cbr = Captioner(self.model_config), BackwardReasoning(self.model_config)
        self.parts = nn.ModuleList([self.difference, self.captioner, self.cbr]).to(device)
        t = config["train"]
        names = [
            (f"{part}.{name}", parameter)
            for part, module in zip(PARTS, self.parts)
            for name, parameter in module.named_parameters()
        ]
        self.optimiser = Optimiser(
            self.parts, t["weight_decay"], t.get("clip", 1.0), t.get("average"), t.get("rates"), names
        )
        self.step, self.best = 0, -math.inf
        self.epoch, self.position, self.pairs = 0, 0, 0  # pairs: the number that the epoch's order was drawn from
        self.start_from: dict | None = None  # the checkpoint of the first weights, and its own start_from
        self.shards: list[str] = []  # of those pairs, in their order; see data.batches.Shards
        self.order: np.ndarray | None = None  # pairs of the epoch

    def kept(self) -> nn.ModuleList:
        """Difference, Captioner and BackwardReasoning with the weights that are evaluated and kept."""
        return self.optimiser.kept()

    @property
    def frozen_tokens(self) -> bool:
        """Whether this step leaves the tokens as they are, so that each frame's are computed once.

        `train.still` gives the first such step and the first one after them.
        """
        first, end = self.config["train"].get("still", (0, 0))
        return first <= self.step < end

    # ------------------------------------------------------------------------------------------- checkpoints

    def state(self) -> dict:
        return {
            "config": self.config,
            "labels": asdict(self.labels),
            "seed": self.seed,
            "step": self.step,
            "best": self.best,
            "epoch": self.epoch,
            "position": self.position,
            "pairs": self.pairs,
            "shards": self.shards,
            **({} if self.start_from == UNRECORDED else {"start_from": self.start_from}),
            **{name: getattr(self, name).state_dict() for name in PARTS},
            "torch_rng": torch.get_rng_state(),
            "cuda_rng": torch.cuda.get_rng_state(self.device) if self.device.type == "cuda" else None,
            **self.optimiser.state(),
        }

    def save(self, path: Path) -> None:
        """Everything needed to resume."""
        save(self.state(), path)

    def save_kept(self, path: Path) -> None:
        """Only what is served, for export and as a start for other runs."""
        self.save_weights(self.kept(), path)

    def save_weights(self, parts: nn.ModuleList, path: Path) -> None:
        """A checkpoint of `parts` (Difference, Captioner, BackwardReasoning) that other runs can start from."""
        state = self.state() | {name: part.state_dict() for name, part in zip(PARTS, parts)}
        del state["optimiser"], state["average"]
        save(state, path)

    def restore(self, path: Path) -> None:
        """Resumes the run that wrote the checkpoint. @raises SystemExit if it had other settings, labels or seed."""
        saved = read_run(path, "cbr", "optimiser", "seed", "torch_rng")
        ours, theirs = self.config["model"], saved["config"]["model"]
        if theirs != ours:
            raise SystemExit(f"{path}: is of another model config: {theirs}, expected {ours}")
        self._check_labels(path, saved)
        was, now = (config["train"].get("rates", {}) for config in (saved["config"], self.config))
        if was != now:
            raise SystemExit(f"{path}: was trained with train.rates {was}, expected {now}")
        if saved["seed"] != self.seed:
            seeds = f"was trained with --seed {saved['seed']}, expected {self.seed}"
            raise SystemExit(f"{path}: {seeds}: its order of pairs would be another")
        for name in PARTS:
            getattr(self, name).load_state_dict(saved[name])
        self.optimiser.restore(saved)
        for name in ("step", "best", "epoch", "position", "pairs"):
            setattr(self, name, saved[name])
        self.shards, self.start_from = saved.get("shards", []), saved.get("start_from", UNRECORDED)
        torch.set_rng_state(saved["torch_rng"])
        if self.device.type == "cuda" and saved.get("cuda_rng") is not None:
            torch.cuda.set_rng_state(saved["cuda_rng"], self.device)

    def adopt(self, path: Path) -> None:
        """Starts from another run's weights, as far as names and shapes fit, and prints what did not."""
        saved = read_run(path, "cbr")
        self._check_labels(path, saved, ": give --labels")
        self.start_from = {name: saved.get(name) for name in ("seed", "step")}
        self.start_from = {"file": path.name, "sha256": sha256(path), **self.start_from}
        if "start_from" in saved:
            self.start_from["start_from"] = saved["start_from"]
        for name in PARTS:
            module = getattr(self, name)
            ours = module.state_dict()
            fits = {k: v for k, v in saved[name].items() if k in ours and ours[k].shape == v.shape}
            module.load_state_dict({**ours, **fits})
            new, unused = sorted(ours.keys() - fits), sorted(saved[name].keys() - fits)
            print(f"{name}: {len(fits)} tensors of {path.name}, new: {new}, left behind: {unused}", flush=True)

    def _check_labels(self, path: Path, saved: dict, advice: str = "") -> None:
        if saved["labels"] != asdict(self.labels):
            words = f"{len(saved['labels']['vocabulary'])} words, expected {len(self.labels.vocabulary)}"
            raise SystemExit(f"{path}: was trained with other labels ({words}){advice}")

    # ------------------------------------------------------------------------------------------- order of the pairs

    def draw(self, cache: Shards) -> list[int]:
        """The next batch's pairs; after the last whole batch of an epoch, the first of the next epoch."""
        batch, began = self.config["train"]["batch"], self.position > 0
        if self.order is None and began:
            if self.pairs > len(cache):
                raise SystemExit(
                    f"--cache: holds {len(cache)} pairs, and the epoch that this run is in has {self.pairs}"
                )
            self.order = self._epoch_order(cache)
        if self.order is None or self.position + batch > len(self.order):
            self.epoch, self.position = self.epoch + began, 0
            cache.refresh()  # it may still be growing: every epoch takes in what is complete
            self.pairs, self.shards = len(cache), list(cache.known)
            self.order = self._epoch_order(cache)
            if not len(self.order):
                raise SystemExit(f"train.kind_weights: leave no pair of {self.pairs} for epoch {self.epoch}")
        first, self.position = self.position, self.position + batch
        return sorted(self.order[first : self.position].tolist())

    def _epoch_order(self, cache: Shards) -> np.ndarray:
        kinds = [m["kind"] for m in cache.meta[: self.pairs]]
        return epoch_order(kinds, self.config["train"]["kind_weights"], self.seed, self.epoch)


def epoch_order(kinds: list[str], weights: dict[str, float], seed: int, epoch: int) -> np.ndarray:
    """Indices of one epoch: a pair of weight 2 comes twice, one of weight 0.7 in 70 % of the epochs."""
    rng = np.random.default_rng([seed, epoch])
    w = np.array([weights.get(kind, 1.0) for kind in kinds])
    copies = np.floor(w + rng.random(len(w))).astype(int)
    return rng.permutation(np.repeat(np.arange(len(w)), copies))

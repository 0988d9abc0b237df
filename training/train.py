"""Trains Difference + Captioner (+ BackwardReasoning) on a feature cache.

    python -m training.train --config training/configs/surveillance-cpu.toml --cache DIR --out RUN \
        [--heldout DIR] [--seed 1] [--threads 1] [--set train.steps=2000]

RUN holds checkpoint.pt (everything needed to go on: start the same command again), best.pt and log.ndjson. The best is chosen on
synthetic held-out pairs by facts (verdict, map, words against the truth), never on development pairs. With `train.average` what is
evaluated and kept is the moving average of the weights: single steps swing by as much as seeds do.
"""

import argparse
import json
import math
import os
import time
import tomllib
from dataclasses import asdict, fields
from difflib import get_close_matches
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from training.data.batches import Batches, Labels
from training.heldout import heldout_figures
from training.inputs import existing_file, existing_folder, read_run, sha256
from training.net.captioner import Captioner
from training.net.config import KINDS, ModelConfig
from training.net.cross_view import BackwardReasoning
from training.net.losses import all_losses
from training.worlds import load_world

UNRECORDED = {}  # what a run started from whose checkpoint is from before they told
# Names that a config may have, and those that it must.
KNOWN = {
    "": {"name", "world", "model", "train", "unchanged"},
    "model": {field.name for field in fields(ModelConfig)} - {field.name for field in fields(Labels)},
    "train": {
        "batch",
        "steps",
        "learning_rate",
        "warmup",
        "weight_decay",
        "clip",
        "settle_maps",
        "label_smoothing",
        "evaluate_every",
        "kind_weights",
        "weights",
        "read_first",
        "still",
        "average",
        "rates",
    },
    "train.kind_weights": set(KINDS),
    "train.weights": {
        "caption",
        "map",
        "change",
        "kind",
        "nuisance",
        "contrast",
        "cbr",
        "side",
        "noun",
        "colour",
        "crops_kind",
        "role",
        "same",
        "read",
        "match",
    },
}
NEEDED = {
    "": {"name", "world", "model", "train"},
    "train": KNOWN["train"] - {"read_first", "still", "average", "rates"},
}


def load_config(path: Path, overrides: list[str]) -> dict:
    """@raises SystemExit naming what is not TOML, not known or missing."""
    try:
        config = tomllib.loads(path.read_text())
    except tomllib.TOMLDecodeError as reason:
        raise SystemExit(f"{path}: not TOML ({reason})") from None
    check_names(config, str(path))
    for item in overrides:
        key, _, value = item.partition("=")
        section, _, name = key.partition(".")
        if section not in ("model", "train") or not name:
            raise SystemExit(f"--set {item}: expected SECTION.NAME=VALUE with a section of {path} (model, train)")
        try:
            config[section][name] = tomllib.loads(f"v = {value}")["v"]
        except tomllib.TOMLDecodeError as reason:
            raise SystemExit(f"--set {item}: {value!r} is not a TOML value ({reason})") from None
        check_names(config, f"--set {item}")
    return config


def check_names(config: dict, source: str) -> None:
    for section, known in KNOWN.items():
        table = config
        for part in filter(None, section.split(".")):
            table = table[part]
        if not isinstance(table, dict):
            raise SystemExit(f"{source}: {section} is {table!r}, expected a table")
        for name in table:
            if name not in known:
                near = get_close_matches(name, known, 1)
                hint = f"did you mean {near[0]}?" if near else f"known are {', '.join(sorted(known))}"
                raise SystemExit(f"{source}: there is no {section}{'.' if section else ''}{name}; {hint}")
        missing = NEEDED.get(section, set()) - set(table)
        if missing:
            raise SystemExit(f"{source}: {section or 'the config'} lacks {', '.join(sorted(missing))}")


def learning_rate(step: int, t: dict) -> float:
    """Linear warm-up, then a cosine to 2 % of the peak."""
    if step < t["warmup"]:
        return t["learning_rate"] * (step + 1) / t["warmup"]
    done = (step - t["warmup"]) / max(1, t["steps"] - t["warmup"])
    return t["learning_rate"] * (0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * min(done, 1))))


class Run:
    """Model, optimiser and position: everything a checkpoint holds."""

    def __init__(self, config: dict, labels: Labels, seed: int, device: str):
        torch.manual_seed(seed)
        self.config, self.labels, self.seed, self.device = config, labels, seed, torch.device(device)
        self.model_config = ModelConfig(**config["model"], **asdict(labels))
        self.world = load_world(config["world"])
        parts = (
            self.world.make_difference(self.model_config),
            Captioner(self.model_config),
            BackwardReasoning(self.model_config),
        )
        self.parts = nn.ModuleList(parts).to(device)
        self.difference, self.captioner, self.cbr = self.parts
        t = config["train"]
        rates, unused = t.get("rates", {}), set(t.get("rates", {}))  # by the beginning of a parameter's name
        groups: dict[float, list[nn.Parameter]] = {}
        for part, module in zip(("difference", "captioner", "cbr"), parts):
            for name, parameter in module.named_parameters():
                start = next((start for start in rates if f"{part}.{name}".startswith(start)), None)
                unused.discard(start)
                groups.setdefault(rates.get(start, 1.0), []).append(parameter)
        if unused:
            raise SystemExit(f"train.rates: no parameter's name starts with {', '.join(sorted(unused))}")
        self.average = self._start_average() if t.get("average") else None
        self.optimiser = torch.optim.AdamW(
            [{"params": p, "rate": rate} for rate, p in groups.items()],
            lr=t["learning_rate"],
            weight_decay=t["weight_decay"],
        )
        self.parameters, self.step, self.best = list(self.parts.parameters()), 0, -math.inf
        self.epoch, self.position, self.pairs = 0, 0, 0  # pairs: how many the epoch's order was drawn from
        self.start_from: dict | None = None  # which checkpoint gave the first weights, and so on back
        self.shards: list[str] = []  # of those pairs and in their order, see data.Shards
        self.order: np.ndarray | None = None  # of the epoch

    def _start_average(self) -> AveragedModel:
        """The first update copies the weights; the later ones move towards them by 1 - `train.average`."""
        return AveragedModel(self.parts, multi_avg_fn=get_ema_multi_avg_fn(self.config["train"]["average"]))

    def kept(self) -> nn.ModuleList:
        """Difference, Captioner and BackwardReasoning with the weights that are evaluated and kept."""
        return self.parts if self.average is None else self.average.module

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
            "difference": self.difference.state_dict(),
            "captioner": self.captioner.state_dict(),
            "cbr": self.cbr.state_dict(),
            "optimiser": self.optimiser.state_dict(),
            "torch_rng": torch.get_rng_state(),
            "cuda_rng": torch.cuda.get_rng_state(self.device) if self.device.type == "cuda" else None,
            "average": None if self.average is None else self.average.state_dict(),
        }

    def restore(self, path: Path) -> None:
        saved = read_run(path, "cbr", "optimiser", "seed", "torch_rng")
        if saved["config"]["model"] != self.config["model"]:
            raise SystemExit(
                f"{path}: is of another model config: {saved['config']['model']}, expected {self.config['model']}"
            )
        if saved["labels"] != asdict(self.labels):
            raise SystemExit(
                f"{path}: was trained with other labels ({len(saved['labels']['vocabulary'])} words, expected {len(self.labels.vocabulary)})"
            )
        was, now = (config["train"].get("rates", {}) for config in (saved["config"], self.config))
        if was != now:
            raise SystemExit(f"{path}: was trained with train.rates {was}, expected {now}")
        if saved["seed"] != self.seed:
            raise SystemExit(
                f"{path}: was trained with --seed {saved['seed']}, expected {self.seed}: its order of pairs would be another"
            )
        for name in ("difference", "captioner", "cbr", "optimiser"):
            getattr(self, name).load_state_dict(saved[name])
        if self.average is not None and saved.get("average") is not None:
            self.average.load_state_dict(saved["average"])
        for name in ("step", "best", "epoch", "position", "pairs"):
            setattr(self, name, saved[name])
        self.shards, self.start_from = saved.get("shards", []), saved.get("start_from", UNRECORDED)
        torch.set_rng_state(saved["torch_rng"])
        if self.device.type == "cuda" and saved.get("cuda_rng") is not None:
            torch.cuda.set_rng_state(saved["cuda_rng"], self.device)

    def adopt(self, path: Path) -> None:
        """Weights of another run, the optimiser's moments not. Says what is new here and what was left behind."""
        saved = read_run(path, "cbr")
        if saved["labels"] != asdict(self.labels):
            raise SystemExit(
                f"{path}: was trained with other labels ({len(saved['labels']['vocabulary'])} words, expected {len(self.labels.vocabulary)}): give --labels"
            )
        self.start_from = {
            "file": path.name,
            "sha256": sha256(path),
            "seed": saved.get("seed"),
            "step": saved.get("step"),
        }
        if "start_from" in saved:
            self.start_from["start_from"] = saved["start_from"]
        for name in ("difference", "captioner", "cbr"):
            module = getattr(self, name)
            own = module.state_dict()
            fits = {k: v for k, v in saved[name].items() if k in own and own[k].shape == v.shape}
            module.load_state_dict({**own, **fits})
            print(
                f"{name}: {len(fits)} tensors of {path.name}, new: {sorted(own.keys() - fits)}, left behind: {sorted(saved[name].keys() - fits)}",
                flush=True,
            )

    def draw(self, cache) -> list[int]:
        """The next batch's indices; after the epoch's last whole batch the next epoch's first."""
        batch, began = self.config["train"]["batch"], self.position > 0
        if self.order is None and began:
            if self.pairs > len(cache):
                raise SystemExit(
                    f"--cache: holds {len(cache)} pairs, and the epoch that this run is in has {self.pairs}"
                )
            self.order = self._epoch_order(cache)
        if self.order is None or self.position + batch > len(self.order):
            self.epoch, self.position = self.epoch + began, 0
            cache.refresh()  # it may still be growing: every epoch takes in what is there
            self.pairs, self.shards = len(cache), list(cache.known)
            self.order = self._epoch_order(cache)
            if not len(self.order):
                raise SystemExit(f"train.kind_weights: leave no pair of {self.pairs} for epoch {self.epoch}")
        first, self.position = self.position, self.position + batch
        return sorted(self.order[first : self.position].tolist())

    def _epoch_order(self, cache) -> np.ndarray:
        kinds = [m["kind"] for m in cache.meta[: self.pairs]]
        return epoch_order(kinds, self.config["train"]["kind_weights"], self.seed, self.epoch)

    def save(self, path: Path) -> None:
        """Everything needed to go on."""
        _write(self.state(), path)

    def save_kept(self, path: Path) -> None:
        """Only what is served, for export and for other runs to start from."""
        state = self.state() | {
            name: part.state_dict() for name, part in zip(("difference", "captioner", "cbr"), self.kept())
        }
        del state["optimiser"], state["average"]
        _write(state, path)


def _write(state: dict, path: Path) -> None:
    torch.save(state, path.with_suffix(".tmp"))
    os.replace(path.with_suffix(".tmp"), path)


def train_step(run: Run, batch: dict, t: dict) -> dict[str, float]:
    if run.step < t.get("read_first", 0):
        terms = run.world.frame_losses(run.difference, batch)
    else:
        terms = all_losses(
            run.difference,
            run.captioner,
            run.cbr,
            batch,
            t["label_smoothing"],
            run.world.extra_losses,
            run.step < t["settle_maps"],
        )
    bad = [name for name, value in terms.items() if not torch.isfinite(value)]
    if bad:
        raise SystemExit(f"step {run.step}: loss is not finite: {', '.join(bad)}")
    total = sum(t["weights"][name] * value for name, value in terms.items())
    for group in run.optimiser.param_groups:
        group["lr"] = group["rate"] * learning_rate(run.step, t)
    run.optimiser.zero_grad(set_to_none=True)
    total.backward()
    norm = torch.nn.utils.clip_grad_norm_(run.parameters, t["clip"])
    run.optimiser.step()
    if run.average is not None:
        run.average.update_parameters(run.parts)
    return {"loss": total.item(), "norm": norm.item(), **{k: v.item() for k, v in terms.items()}}


def still(run: Run) -> bool:
    """Whether the tokens are left as they are in this step, so that each picture's are computed once (`train.still`: from step, to step)."""
    first, last = run.config["train"].get("still", (0, 0))
    return first <= run.step < last


def epoch_order(kinds: list[str], weights: dict[str, float], seed: int, epoch: int) -> np.ndarray:
    """Indices of one epoch: a pair of weight 2 comes up twice, one of 0.7 in 70 % of the epochs."""
    rng = np.random.default_rng([seed, epoch])
    w = np.array([weights.get(kind, 1.0) for kind in kinds])
    copies = np.floor(w + rng.random(len(w))).astype(int)
    return rng.permutation(np.repeat(np.arange(len(w)), copies))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--config", type=existing_file, required=True)
    parser.add_argument("--cache", type=existing_folder, nargs="+", required=True)
    parser.add_argument("--heldout", type=existing_folder, nargs="*", default=[])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument(
        "--start-from",
        type=existing_file,
        metavar="CHECKPOINT",
        help="weights of another run for a new one, as far as names and shapes fit",
    )
    parser.add_argument("--labels", type=existing_file, help="JSON of an earlier run's labels, to keep its vocabulary")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--set", action="append", default=[], metavar="SECTION.NAME=VALUE")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    config = load_config(args.config, args.set)
    t = config["train"]

    checkpoint = args.out / "checkpoint.pt"
    world = load_world(config["world"])
    cache = world.open_cache(args.cache, only=read_run(checkpoint).get("shards") if checkpoint.exists() else None)
    labels_file = args.labels or args.out / "labels.json"
    labels = Labels.read(labels_file, world) if labels_file.exists() else Labels.from_meta(cache.meta, world)
    run = Run(config, labels, args.seed, args.device)
    if checkpoint.exists():
        run.restore(checkpoint)
    elif args.start_from:
        run.adopt(args.start_from)
    heldout = Batches(world.open_cache(args.heldout, forward=True), labels, run.model_config) if args.heldout else None
    batches = Batches(cache, labels, run.model_config)
    args.out.mkdir(parents=True, exist_ok=True)
    (args.out / "labels.json").write_text(json.dumps(asdict(labels)))
    print(
        f"{len(cache)} pairs, {len(labels.vocabulary)} words, {len(labels.nouns)} nouns, "
        f"{sum(p.numel() for p in run.parameters) / 1e6:.2f} M parameters, from step {run.step}",
        flush=True,
    )

    began = time.perf_counter()
    with open(args.out / "log.ndjson", "a", encoding="utf-8") as log:
        while run.step < t["steps"]:
            indices = cache.prepare_step(run.draw(cache), run.difference, still(run))
            batch = {
                k: v.to(args.device)
                for k, v in batches.batch(indices, np.random.default_rng([args.seed, run.step])).items()
            }
            run.parts.train()
            figures = train_step(run, batch, t)
            run.step += 1
            line = {
                "step": run.step,
                "pairs": run.pairs,
                "lr": learning_rate(run.step, t),
                "s": round(time.perf_counter() - began, 1),
                **{k: round(v, 4) for k, v in figures.items()},
            }
            if run.step % t["evaluate_every"] == 0 or run.step == t["steps"]:
                if heldout:
                    difference, captioner, _ = run.kept().eval()
                    line["heldout"] = heldout_figures(difference, captioner, heldout, run.world)
                    if line["heldout"]["score"] > run.best:
                        run.best = line["heldout"]["score"]
                        run.save_kept(args.out / "best.pt")
                run.save(checkpoint)
            log.write(json.dumps(line) + "\n")
            log.flush()
            if run.step % 20 == 0 or "heldout" in line:
                print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()

"""Trains and judges published captioners on the same tokens, scenes, steps, order and wording, and prints the table.

    python -m research.captioners.table --cache DIR --heldout DIR --out DIR [--rows scorer duda ...] [--steps 1500] \
        [--seeds 1 2 3] [--features features.q.onnx --manifest pairs.ndjson]

DIR are caches of scene families (research.clevr.cache), for instance 600 scenes and 40 of --split heldout. With
--features and --manifest every row is also exported as a bundle and judged by `scenedelta evaluate` (needs `npm run
build`). OUT holds the reading stage and a folder per row and seed; the same command goes on where it stopped and skips
finished rows. table-cpu.toml lists the rows, their switches and what they cost. docs/captioners.md says how rows are
trained on a GPU.
"""

import argparse
import json
import time
from dataclasses import asdict
from pathlib import Path

import torch

from research.captioners.judging import judge_heldout, judge_served, write_json
from research.captioners.reader import shared_reader
from research.captioners.row import Row
from research.captioners.scenes import SceneBatches, labels_of
from research.captioners.table_config import TableConfig
from research.captioners.table_text import table_text
from training.data.batches import Batches
from training.inputs import existing_file, existing_folder, read_json
from training.net.config import ModelConfig
from training.world import load_world

CONFIG = Path(__file__).parent / "table-cpu.toml"


class Table:
    """Data, reading stage and settings that all rows share."""

    def __init__(self, args: argparse.Namespace):
        self.args, self.config = args, TableConfig.read(args.config)
        self.steps = args.steps or self.config.train["steps"]
        world = load_world(self.config.world)
        if world.frame_losses is None or world.coupled_caption is None:
            raise SystemExit(f"world {world.name!r} has no single-frame losses or pre-training sentences")
        cache = world.open_cache(args.cache)
        self.labels = labels_of(cache, world)
        common = ModelConfig(**self.config.model, **asdict(self.labels))
        self.data = SceneBatches(cache, self.labels, common, world)
        self.heldout_scenes = SceneBatches(world.open_cache(args.heldout), self.labels, common, world)
        self.heldout = Batches(world.open_cache(args.heldout, forward=True), self.labels, common)
        args.out.mkdir(parents=True, exist_ok=True)
        reader_steps = args.reader_steps or self.config.reader["steps"]
        made = self.config, self.data, world, 1, reader_steps
        self.reader, self.reader_sha = shared_reader(args.out, *made, args.device)

    def row(self, name: str, seed: int, steps: int, rate: float) -> Row:
        config = self.config.of_row(name, steps, rate, self.args.minutes)
        return Row(config, self.labels, self.reader, seed, self.args.device)

    def choose_rate(self, name: str, seed: int, folder: Path) -> float:
        """The learning rate of the lowest held-out loss after short trainings; kept in rate.json."""
        path, rates = folder / "rate.json", self.args.rates or self.config.train["rates"]
        if path.exists():
            return read_json(path, "rate")["rate"]
        steps, losses = min(self.config.train["probe"], self.steps), {}
        for rate in rates if len(rates) > 1 else []:
            row = self.row(name, seed, steps, rate)
            row.train(self.data, steps, lambda line: None)
            losses[rate] = row.heldout_loss(self.heldout_scenes, 8)
            print(f"{name}: held-out loss {losses[rate]:.4f} after {steps} steps at {rate:g}", flush=True)
        best = min(losses, key=losses.get) if losses else rates[0]
        write_json(path, {"rate": best, "losses": {f"{rate:g}": loss for rate, loss in losses.items()}})
        return best

    def run(self, name: str, seed: int) -> dict | None:
        """The figures of a row: trained, judged and written to figures.json, or read from there. None if the row is
        only to be trained."""
        folder = self.args.out / f"{name}-{seed}"
        folder.mkdir(exist_ok=True)
        row = self.row(name, seed, self.steps, self.choose_rate(name, seed, folder))
        made = {"config": row.config, "reader": self.reader_sha, "scenes": self.data.cache.scenes_count}
        served = bool(self.args.manifest)
        path = folder / "figures.json"
        if path.exists():
            figures = read_json(path, "made")
            if figures["made"] == made and ("served" in figures or not served):
                return figures
        self.train(row, folder)
        if self.args.train_only:
            return None
        row.difference.cpu()
        row.device = torch.device("cpu")
        fitted, heldout = judge_heldout(row, self.heldout)
        write_json(folder / "calibration.json", fitted)
        figures = {
            "made": made,
            "seed": seed,
            "steps": row.step,
            "heldout": heldout,
            "parameters": sum(p.numel() for p in row.network.parameters()),
            "cpu_h": row.cpu_s / 3600,
        }
        if served:
            figures["served"] = judge_served(row, folder, self.args.features, self.args.manifest, self.heldout)
        write_json(path, figures)
        return figures

    def train(self, row: Row, folder: Path) -> None:
        """To the last step, from the checkpoint if there is one."""
        checkpoint, every = folder / "checkpoint.pt", self.config.train["save_every"]
        if checkpoint.exists():
            row.restore(checkpoint)
        began, name = time.perf_counter(), row.config["name"]
        with open(folder / "log.ndjson", "a", encoding="utf-8") as log:

            def each(line: dict) -> None:
                log.write(json.dumps(line) + "\n")
                if row.step % 20 == 0 or row.step == self.steps:
                    print(f"{name}: {time.perf_counter() - began:.0f} s, {json.dumps(line)}", flush=True)
                if row.step % every == 0:
                    log.flush()
                    row.save(checkpoint)

            row.train(self.data, self.steps, each)
        row.save(checkpoint)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--config", type=existing_file, default=CONFIG)
    parser.add_argument("--cache", type=existing_folder, nargs="+", required=True)
    parser.add_argument("--heldout", type=existing_folder, nargs="+", required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--rows", nargs="+", help="default: all rows of the config that are not marked as extra")
    parser.add_argument("--steps", type=int, help="of every row, all stages together; default: the config's")
    parser.add_argument("--reader-steps", type=int, help="of the reading stage; default: the config's")
    parser.add_argument("--rates", type=float, nargs="+", help="learning rates to choose from; default: the config's")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1])
    parser.add_argument("--minutes", type=float, help="wall time of a row's steps, which end early if it is over")
    parser.add_argument("--train-only", action="store_true", help="no figures: the same command without it judges")
    parser.add_argument("--device", default="cpu", help="of PyTorch, for the trainings; figures are of the CPU")
    parser.add_argument("--tf32", action="store_true", help="TF32 in matrix products of a GPU")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--features", type=existing_file, help="features.onnx that the caches were made with")
    parser.add_argument("--manifest", type=existing_file, help="NDJSON of labelled pairs for `scenedelta evaluate`")
    args = parser.parse_args()
    if bool(args.features) != bool(args.manifest):
        raise SystemExit("--features and --manifest: give both or none")
    torch.set_num_threads(args.threads)
    if args.tf32:
        torch.set_float32_matmul_precision("high")
    table = Table(args)
    figures = {name: [] for name in table.config.chosen(args.rows)}
    for seed in args.seeds:
        for name, runs in figures.items():
            runs.append(table.run(name, seed))
    if args.train_only:
        return
    text = table_text(figures)
    (args.out / "table.md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()

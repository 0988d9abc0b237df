"""Trains Difference and Captioner (and BackwardReasoning) on a feature cache.

    python -m training.train --config training/configs/surveillance-cpu.toml --cache DIR --out RUN \
        [--heldout DIR] [--seed 1] [--threads 1] [--set train.steps=2000]

RUN holds checkpoint.pt (everything needed to resume: start the same command again), best.pt and log.ndjson. The best is
chosen on synthetic held-out pairs by facts (verdict, map, words against the truth), never on development pairs. With
`train.average` the moving average of the weights is evaluated and kept: single steps vary by as much as seeds do.
"""

import argparse
import json
import math
import time
from dataclasses import asdict
from itertools import count, takewhile
from pathlib import Path

import numpy as np
import torch

from training.data.batches import Batches, Labels
from training.inputs import existing_file, existing_folder, read_run
from training.learn.heldout import heldout_figures
from training.learn.loop import learning_rate, optimise
from training.learn.run import Run
from training.learn.settings import load_config
from training.net.losses import all_losses
from training.world import load_world


def step_losses(run: Run, batch: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """The terms of the run's present step."""
    t = run.config["train"]
    if run.step < t.get("read_first", 0):
        return run.world.frame_losses(run.difference, batch)
    return all_losses(*run.parts, batch, t["label_smoothing"], run.world.extra_losses, run.step < t["settle_maps"])


def train(run: Run, data: Batches, heldout: Batches | None, out: Path, seconds: float = math.inf) -> None:
    """Runs to the last step, or for `seconds`, in which case the learning rate falls by the time. Writes log.ndjson,
    checkpoint.pt and best.pt into `out`."""
    t, began = run.config["train"], time.perf_counter()

    def done_share(step: int) -> float:
        return max(step / t["steps"], (time.perf_counter() - began) / seconds)

    def rate_at(step: int) -> float:
        at = step if step < t["warmup"] else done_share(step) * t["steps"]
        return learning_rate(at, t["steps"], t["learning_rate"], t["warmup"])

    def losses_of(step: int) -> dict[str, torch.Tensor]:
        indices = data.cache.prepare_step(run.draw(data.cache), run.difference, run.frozen_tokens)
        return step_losses(run, data.batch(indices, np.random.default_rng([run.seed, step]), run.device))

    is_over = run.step >= t["steps"]
    with open(out / "log.ndjson", "a", encoding="utf-8") as log:

        def each(done: int, figures: dict[str, float]) -> None:
            nonlocal is_over
            run.step, is_over = done, done_share(done) >= 1
            line = {
                "step": done,
                "pairs": run.pairs,
                "lr": rate_at(done),
                "s": round(time.perf_counter() - began, 1),
                **{name: round(value, 4) for name, value in figures.items()},
            }
            if done % t["evaluate_every"] == 0 or is_over:
                if heldout:
                    difference, captioner, _ = run.kept().eval()
                    line["heldout"] = heldout_figures(difference, captioner, heldout, run.world)
                    if line["heldout"]["score"] > run.best:
                        run.best = line["heldout"]["score"]
                        run.save_kept(out / "best.pt")
                run.save(out / "checkpoint.pt")
            log.write(json.dumps(line) + "\n")
            log.flush()
            if done % 20 == 0 or "heldout" in line:
                print(json.dumps(line), flush=True)

        steps = takewhile(lambda _: not is_over, count(run.step))
        optimise(run.optimiser, losses_of, t["weights"], rate_at, steps, each)


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
    parser.add_argument("--minutes", type=float, default=math.inf, help="end after that time, if that is earlier")
    parser.add_argument("--set", action="append", default=[], metavar="SECTION.NAME=VALUE")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    torch.set_float32_matmul_precision("high")  # on CUDA: TF32
    config = load_config(args.config, args.set)
    world = load_world(config["world"])

    checkpoint = args.out / "checkpoint.pt"
    cache = world.open_cache(args.cache, only=read_run(checkpoint).get("shards") if checkpoint.exists() else None)
    labels_file = args.labels or args.out / "labels.json"
    labels = Labels.read(labels_file, world) if labels_file.exists() else Labels.from_meta(cache.meta, world)
    run = Run(config, labels, args.seed, args.device)
    if checkpoint.exists():
        run.restore(checkpoint)
    elif args.start_from:
        run.adopt(args.start_from)
    data = Batches(cache, labels, run.model_config)
    heldout = Batches(world.open_cache(args.heldout, forward=True), labels, run.model_config) if args.heldout else None
    args.out.mkdir(parents=True, exist_ok=True)
    (args.out / "labels.json").write_text(json.dumps(asdict(labels)))
    size = sum(p.numel() for p in run.parts.parameters()) / 1e6
    print(
        f"{len(cache)} pairs, {len(labels.vocabulary)} words, {len(labels.nouns)} nouns, "
        f"{size:.2f} M parameters, from step {run.step}",
        flush=True,
    )
    train(run, data, heldout, args.out, 60 * args.minutes)


if __name__ == "__main__":
    main()

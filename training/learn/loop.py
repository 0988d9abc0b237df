"""Optimisation steps of a small network, with the mean of its weights and a checkpoint from which a run resumes."""

from __future__ import annotations

import json
import math
import os
import time
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, nn

AVERAGE = 0.995  # of the weights, over about 200 steps


@dataclass(frozen=True)
class Schedule:
    steps: int
    rate: float = 1e-3
    warmup: int = 100
    weight_decay: float = 0.05
    save_every: int = 200

    def rate_at(self, step: int) -> float:
        """Linear warm-up, then a cosine down to 2 %."""
        cosine = 0.5 * (1 + math.cos(math.pi * step / self.steps))
        return self.rate * min(1, (step + 1) / self.warmup) * (0.02 + 0.98 * cosine)


def train_steps(
    network: nn.Module,
    losses_of: Callable[[int], dict[str, Tensor]],
    weights: dict[str, float],
    schedule: Schedule,
    state: Path | None = None,
    after: Callable[[int, nn.Module], None] | None = None,
) -> nn.Module:
    """Minimises the weighted sum of `losses_of(step)`; returns the mean network, for inference.

    state: file of the checkpoint; if it exists, the run continues from it. after: called with the number of steps and
    the mean network whenever the checkpoint is written. @raises SystemExit if a loss is not finite.
    """
    average, first = deepcopy(network), 0
    optimiser = torch.optim.AdamW(network.parameters(), lr=schedule.rate, weight_decay=schedule.weight_decay)
    if state and state.exists():
        saved = torch.load(state, weights_only=True)
        network.load_state_dict(saved["network"])
        average.load_state_dict(saved["average"])
        optimiser.load_state_dict(saved["optimiser"])
        first = saved["step"]
    began = time.process_time()
    for step in range(first, schedule.steps):
        for group in optimiser.param_groups:
            group["lr"] = schedule.rate_at(step)
        network.train()
        losses = losses_of(step)
        loss = sum(weights[name] * value for name, value in losses.items())
        if not torch.isfinite(loss):
            raise SystemExit(f"step {step}: loss is not finite: {_listed(losses)}")
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimiser.step()
        with torch.no_grad():
            for kept, new in zip(average.parameters(), network.parameters()):
                kept.lerp_(new, 1 - min(AVERAGE, (step + 1) / (step + 10)))
        done = step + 1
        if done % 50 == 0:
            seconds = (time.process_time() - began) / (done - first)
            print(f"step {done}: {_listed(losses)}; {seconds:.2f} CPU-s a step", flush=True)
        if done % schedule.save_every == 0 or done == schedule.steps:
            if state:
                partial = state.with_suffix(".partial")
                saved = {"network": network.state_dict(), "average": average.state_dict(), "step": done}
                torch.save(saved | {"optimiser": optimiser.state_dict()}, partial)
                os.replace(partial, state)
            if after:
                after(done, average.eval())
    return average.eval()


def save_trained(out: Path, name: str, network: nn.Module, figures: dict, made_of: dict) -> None:
    """Writes NAME.pt (the weights under NAME, the figures under `heldout`, `made_of` and the cost) and figures.json
    into the folder, and prints the figures."""
    cost = f"{time.process_time() / 60:.1f} CPU-minutes"
    torch.save({name: network.state_dict(), "heldout": figures, **made_of, "cost": cost}, out / f"{name}.pt")
    text = json.dumps(figures, indent=1)
    (out / "figures.json").write_text(text + "\n")
    print(text)


def _listed(losses: dict[str, Tensor]) -> str:
    return ", ".join(f"{name} {value.item():.3f}" for name, value in losses.items())

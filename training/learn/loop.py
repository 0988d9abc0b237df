"""The optimiser loop under every stage: AdamW, clipped gradients, a warm-up and a cosine, the mean of the weights."""

from __future__ import annotations

import json
import math
import os
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.optim.swa_utils import AveragedModel

AVERAGE = 0.995  # of the weights, over about 200 steps
LAST_RATE = 0.02  # of the highest learning rate


def learning_rate(step: float, steps: int, rate: float, warmup: int) -> float:
    """Linear warm-up to `rate`, then a cosine to LAST_RATE of it."""
    if step < warmup:
        return rate * (step + 1) / warmup
    done = min((step - warmup) / max(1, steps - warmup), 1)
    return rate * (LAST_RATE + (1 - LAST_RATE) * 0.5 * (1 + math.cos(math.pi * done)))


@dataclass(frozen=True)
class Schedule:
    steps: int
    rate: float = 1e-3
    warmup: int = 100
    weight_decay: float = 0.05
    average: float = AVERAGE
    save_every: int = 200

    def rate_at(self, step: int) -> float:
        return learning_rate(step, self.steps, self.rate, self.warmup)


class Optimiser:
    """The updates of a network, and the mean of its weights if `average` is given.

    rates: factor on the learning rate by the beginning of a parameter's name; a factor of 0 freezes.
    names: the parameters with other names than the network's.
    """

    def __init__(
        self,
        network: nn.Module,
        weight_decay: float,
        clip: float = 1.0,
        average: float | None = None,
        rates: Mapping[str, float] | None = None,
        names: Iterable[tuple[str, nn.Parameter]] | None = None,
    ):
        self.network, self.clip = network, clip
        groups = grouped(names or network.named_parameters(), rates or {})
        options = [{"params": parameters, "factor": factor} for factor, parameters in groups.items()]
        self.parameters = [parameter for group in groups.values() for parameter in group]
        self.adam = torch.optim.AdamW(options, weight_decay=weight_decay)
        self.average = None if average is None else AveragedModel(network, multi_avg_fn=towards(average))

    def update(
        self, terms: dict[str, Tensor], weights: Mapping[str, float] | None, rate: float, step: int
    ) -> dict[str, float]:
        """One update by the weighted sum of the terms (no weights: 1). Returns `loss`, `norm` (of the gradient) and
        every term. @raises SystemExit naming a term that is not finite."""
        total = sum((weights[name] if weights else 1.0) * value for name, value in terms.items())
        for group in self.adam.param_groups:
            group["lr"] = group["factor"] * rate
        self.adam.zero_grad(set_to_none=True)
        total.backward()
        norm = nn.utils.clip_grad_norm_(self.parameters, self.clip)
        self.adam.step()
        if self.average is not None:
            self.average.update_parameters(self.network)
        # One transfer: each would wait until an accelerator has done all that was asked of it.
        figures = torch.stack([value.detach().float() for value in (total, norm, *terms.values())]).tolist()
        bad = [name for name, value in zip(terms, figures[2:]) if not math.isfinite(value)]
        if bad:
            raise SystemExit(f"step {step}: loss is not finite: {', '.join(bad)}")
        return dict(zip(("loss", "norm", *terms), figures))

    def kept(self) -> nn.Module:
        """The network with the mean of the weights, or as it is if there is no mean."""
        return self.network if self.average is None else self.average.module

    def state(self) -> dict:
        return {
            "optimiser": self.adam.state_dict(),
            "average": None if self.average is None else self.average.state_dict(),
        }

    def restore(self, saved: dict) -> None:
        self.adam.load_state_dict(saved["optimiser"])
        if self.average is not None and saved.get("average") is not None:
            self.average.load_state_dict(saved["average"])


def grouped(named: Iterable[tuple[str, nn.Parameter]], rates: Mapping[str, float]) -> dict[float, list[nn.Parameter]]:
    """The parameters that learn, by their factor. @raises SystemExit naming a factor of no parameter."""
    groups: dict[float, list[nn.Parameter]] = {}
    unused = set(rates)
    for name, parameter in named:
        start = next((start for start in rates if name.startswith(start)), None)
        unused.discard(start)
        factor = rates.get(start, 1.0)
        if factor == 0:
            parameter.requires_grad_(False)
        elif parameter.requires_grad:
            groups.setdefault(factor, []).append(parameter)
    if unused:
        raise SystemExit(f"train.rates: no parameter's name starts with {', '.join(sorted(unused))}")
    return groups


def towards(decay: float) -> Callable:
    """The mean of weights moves by 1 - decay per update; at first by more, so that random weights soon leave it."""

    def move(means: list[Tensor], weights: list[Tensor], updates: Tensor | int) -> None:
        count = int(updates)
        torch._foreach_lerp_(means, weights, 1 - min(decay, (count + 1) / (count + 10)))

    return move


def optimise(
    optimiser: Optimiser,
    losses_of: Callable[[int], dict[str, Tensor]],
    weights: Mapping[str, float] | None,
    rate_at: Callable[[int], float],
    steps: Iterable[int],
    each: Callable[[int, dict[str, float]], None],
) -> None:
    """The loop. losses_of: terms of a step; each: called with the number of steps done and what `update` returned."""
    for step in steps:
        optimiser.network.train()
        each(step + 1, optimiser.update(losses_of(step), weights, rate_at(step), step))


def train_steps(
    network: nn.Module,
    losses_of: Callable[[int], dict[str, Tensor]],
    weights: Mapping[str, float],
    schedule: Schedule,
    state: Path | None = None,
    after: Callable[[int, nn.Module], None] | None = None,
) -> nn.Module:
    """Trains a small network with printed losses and returns its mean, for inference.

    state: file of the checkpoint; if it exists, the run continues from it. after: called with the number of steps and
    the mean network whenever the checkpoint is written.
    """
    optimiser, first = Optimiser(network, schedule.weight_decay, average=schedule.average), 0
    if state and state.exists():
        saved = torch.load(state, weights_only=True)
        network.load_state_dict(saved["network"])
        optimiser.restore(saved)
        first = saved["step"]
    began = time.process_time()

    def each(done: int, figures: dict[str, float]) -> None:
        if done % 50 == 0:
            seconds = (time.process_time() - began) / (done - first)
            terms = ", ".join(f"{name} {figures[name]:.3f}" for name in weights)
            print(f"step {done}: {terms}; {seconds:.2f} CPU-s a step", flush=True)
        if done % schedule.save_every == 0 or done == schedule.steps:
            if state:
                save({"network": network.state_dict(), "step": done, **optimiser.state()}, state)
            if after:
                after(done, optimiser.kept().eval())

    optimise(optimiser, losses_of, weights, schedule.rate_at, range(first, schedule.steps), each)
    return optimiser.kept().eval()


def save(content: dict, path: Path) -> None:
    """Writes a checkpoint; a reader sees the old one or the new one."""
    partial = path.with_suffix(".partial")
    torch.save(content, partial)
    os.replace(partial, path)


def mean_of(states: list[dict[str, Tensor]]) -> dict[str, Tensor]:
    """Mean of tensors of equal names and shapes; tensors of integers are those of the first state."""
    return {
        name: torch.stack([s[name] for s in states]).mean(0) if first.is_floating_point() else first
        for name, first in states[0].items()
    }


def save_trained(out: Path, name: str, network: nn.Module, figures: dict, made_of: dict) -> None:
    """Writes NAME.pt (the weights under NAME, the figures under `heldout`, `made_of` and the cost) and figures.json
    into the folder, and prints the figures."""
    cost = f"{time.process_time() / 60:.1f} CPU-minutes"
    torch.save({name: network.state_dict(), "heldout": figures, **made_of, "cost": cost}, out / f"{name}.pt")
    text = json.dumps(figures, indent=1)
    (out / "figures.json").write_text(text + "\n")
    print(text)

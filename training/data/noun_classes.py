"""The names that may be written for a thing, from the namer's classes up to "something"."""

import math

import torch
from torch import Tensor

from training.text.noun_tree import NOTHING, ROOT, path_of


def classes_above(words: list[str], tree: dict[str, str]) -> tuple[list[str], Tensor]:
    """All names that may be written, the most specific first (by number of steps to the root), and their members among
    the classes `words`: [names,classes] of 0 and 1. NOTHING is no name."""
    names = {name for word in words if word != NOTHING for name in path_of(word, tree)} | {ROOT}
    ordered = sorted(names, key=lambda name: (-len(path_of(name, tree)), name))
    paths = [path_of(word, tree) if word != NOTHING else [] for word in words]
    member = torch.tensor([[float(name in path) for path in paths] for name in ordered])
    member[ordered.index(ROOT)] = torch.tensor([float(word != NOTHING) for word in words])
    return ordered, member


def most_specific(p: Tensor, member: Tensor, share: float) -> Tensor:
    """Row of `member` [names,classes] per row of `p` [n,classes]: of the names whose probability is at least `share`,
    the one of the fewest classes, and of those the most probable."""
    total, size = p @ member.T, member.sum(1)
    return torch.where(total >= share, size[None] - total, torch.full_like(total, math.inf)).argmin(1)

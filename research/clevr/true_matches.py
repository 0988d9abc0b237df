"""True matches of two views of a CLEVR scene: where in the other view the surface point of a cell is seen.

A point moves along with its object. A cell has a match if its centre shows an object that the other view shows at the
same point, in front of everything else there.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from research.clevr.optics import Views, nearest_hits
from research.clevr.pair_source import CHANGED, DEFAULT, views_of_scenes
from research.clevr.render import FOCAL, HEIGHT, WIDTH, camera_axes, camera_rays
from research.clevr.rules import ChangedScene

TOUCHES = 0.05  # distance in scene units between a point and what a camera sees in its direction


@dataclass(frozen=True)
class TrueMatches:
    """The matches of the N cells of the default view; positions: column and row of a cell of the other view."""

    slot: np.ndarray  # int [N]: object at the cell's centre, or -1
    position: np.ndarray  # float [N,2]: x and y of the match in cells; NaN without a match
    partner: np.ndarray  # int [N]: that object's slot in the other view, or -1
    other_slot: np.ndarray  # int [N]: object at the centre of each cell of the other view, or -1
    changed: np.ndarray  # bool [N]: the cell shows the changed object


def true_matches(scene: ChangedScene, view: int, grid: tuple[int, int]) -> TrueMatches:
    """Matches of the default view in `view` (CHANGED or DISTRACTOR). grid: rows and columns of cells."""
    views = views_of_scenes([(scene, DEFAULT), (scene, view)])
    x, y = _centres(grid)
    here = torch.zeros(len(x), dtype=torch.long)
    direction = camera_rays(views, here, x, y)
    hits = nearest_hits(views, here, direction)
    points = views.eye[here] + hits.distance[:, None] * direction
    partners = torch.tensor([_partner(scene, view, k) for k in range(len(scene.before))] + [-1])  # last: of slot -1
    partner = partners[hits.slot]
    there = here + 1
    carried = _carry(views, points, hits.slot.clamp(min=0), partner.clamp(min=0))
    position, seen = _project(views, carried)
    seen = nearest_hits(views, there, seen[0]), seen[1]
    visible = (
        (partner >= 0)
        & (seen[0].slot == partner)
        & ((seen[0].distance - seen[1]).abs() < TOUCHES)
        & (position >= 0).all(1)
        & (position < torch.tensor([WIDTH, HEIGHT])).all(1)
    )
    cells = position / torch.tensor([WIDTH / grid[1], HEIGHT / grid[0]])
    other = nearest_hits(views, there, camera_rays(views, there, x, y)).slot
    changed = -2 if view != CHANGED or scene.index_before is None else scene.index_before
    return TrueMatches(
        slot=hits.slot.numpy(),
        position=torch.where(visible[:, None], cells, torch.nan).numpy(),
        partner=partner.numpy(),
        other_slot=other.numpy(),
        changed=(hits.slot == changed).numpy(),
    )


def _centres(grid: tuple[int, int]) -> tuple[Tensor, Tensor]:
    """x and y in pixels of the centres of cells, row by row."""
    rows, columns = grid
    y, x = torch.meshgrid(torch.arange(rows) + 0.5, torch.arange(columns) + 0.5, indexing="ij")
    return x.flatten() * (WIDTH / columns), y.flatten() * (HEIGHT / rows)


def _partner(scene: ChangedScene, view: int, slot: int) -> int:
    """Slot in the other view of an object of the default view; -1 if it is not there."""
    if view != CHANGED or scene.change != "drop" or slot < scene.index_before:
        return slot
    return -1 if slot == scene.index_before else slot - 1


def _carry(views: Views, points: Tensor, slot: Tensor, partner: Tensor) -> Tensor:
    """Points [N,3] on objects `slot` of view 0, moved along with them to where they are in view 1 (`partner`)."""
    local = _rotated(points - views.centre[0, slot], views.turn[0, slot] * torch.tensor([1.0, -1.0]))
    return _rotated(local, views.turn[1, partner]) + views.centre[1, partner]


def _rotated(vector: Tensor, turn: Tensor) -> Tensor:
    """Vectors [N,3] rotated about z by the angles of which turn [N,2] is the cosine and sine."""
    (c, s), (x, y, z) = turn.unbind(-1), vector.unbind(-1)
    return torch.stack([c * x - s * y, s * x + c * y, z], -1)


def _project(views: Views, points: Tensor) -> tuple[Tensor, tuple[Tensor, Tensor]]:
    """Positions in pixels [N,2] of points in view 1; their directions [N,3] and distances [N] from its camera."""
    ray = points - views.eye[1]
    depth, right, down = (ray @ axis[1] for axis in camera_axes(views))
    position = torch.stack([WIDTH / 2 + FOCAL * right / depth, HEIGHT / 2 + FOCAL * down / depth], 1)
    return position, (F.normalize(ray, dim=-1), ray.norm(dim=-1))

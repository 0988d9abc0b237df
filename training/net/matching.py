"""Local feature matching between the frames, without parameters: the evidence that the change maps start from.

By itself it separates changed from unchanged pairs without any training (training/journal, 0.1.0).

Letters: B pairs, C channels (Cc coarse, Cf fine), h x w the map grid (stride 8).
"""

import torch
import torch.nn.functional as F
from torch import Tensor

FINE_RADII = (0, 1, 2)  # cells
COARSE_RADII = (0, 1, 2)
EVIDENCE_CHANNELS = 2 * (len(FINE_RADII) + len(COARSE_RADII))


def shifted(x: Tensor, dy: int, dx: int) -> Tensor:
    """x moved so that cell (r, c) holds x(r+dy, c+dx); outside is 0: [B,C,h,w] -> [B,C,h,w]."""
    h, w = x.shape[-2:]
    p = F.pad(x, (max(-dx, 0), max(dx, 0), max(-dy, 0), max(dy, 0)))
    top, left = max(dy, 0), max(dx, 0)
    return p[..., top : top + h, left : left + w]


def matching_distance(x: Tensor, y: Tensor, radii: tuple[int, ...]) -> tuple[Tensor, Tensor]:
    """1 - cosine of every cell and its best match in the other frame within r cells, per radius r.

    x, y [B,C,h,w] -> distances of the cells of x, and of y: [B,len(radii),h,w] each, in 0..2. A place outside the frame
    matches with cosine 0.
    """
    x, y = F.normalize(x, dim=1), F.normalize(y, dim=1)
    best: list[Tensor] = []  # so far, for the cells of x and of y: [B,1,h,w] each
    levels: tuple[list[Tensor], list[Tensor]] = ([], [])
    for radius in range(max(radii) + 1):
        for dy in range(-radius, radius + 1):
            for dx in range(-radius, radius + 1):
                if max(abs(dy), abs(dx)) != radius:
                    continue
                c = (x * shifted(y, dy, dx)).sum(1, keepdim=True)  # [B,1,h,w]: x(r, c) with y(r+dy, c+dx)
                both = [c, shifted(c, -dy, -dx)]  # the same products at the cells of y
                best = both if not best else [torch.maximum(a, b) for a, b in zip(best, both)]
        if radius in radii:
            for level, b in zip(levels, best):
                level.append(1 - b)
    return torch.cat(levels[0], 1), torch.cat(levels[1], 1)


@torch.no_grad()
def matching_evidence(fine_b: Tensor, coarse_b: Tensor, fine_a: Tensor, coarse_a: Tensor) -> Tensor:
    """Matching distances, and those minus the frame's mean, because a global nuisance raises them everywhere.

    fine [B,Cf,h,w] (its last three channels, RGB, are left out), coarse [B,Cc,h/2,w/2]; b before, a after
    -> [B,2,EVIDENCE_CHANNELS,h,w], axis 1: before, after.
    """
    fine = matching_distance(fine_b[:, :-3], fine_a[:, :-3], FINE_RADII)
    coarse = matching_distance(coarse_b, coarse_a, COARSE_RADII)
    sides = []
    for f, g in zip(fine, coarse):
        e = torch.cat([f, F.interpolate(g, scale_factor=2.0, mode="nearest")], 1)  # [B,EVIDENCE_CHANNELS/2,h,w]
        sides.append(torch.cat([e, e - e.mean((2, 3), keepdim=True)], 1))  # [B,EVIDENCE_CHANNELS,h,w]
    return torch.stack(sides, 1)

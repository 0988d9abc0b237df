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
FAR = -4.0  # added to a cosine that does not count


def matching_distance(x: Tensor, y: Tensor, radii: tuple[int, ...]) -> tuple[Tensor, Tensor]:
    """1 - cosine of every cell and its best match in the other frame within r cells, per radius r.

    x, y [B,C,h,w] -> distances of the cells of x, and of y: [B,len(radii),h,w] each, in 0..2. A place outside the frame
    matches with cosine 0.
    """
    h, w, R = *x.shape[-2:], max(radii)
    x, y = F.normalize(x, dim=1), F.normalize(y, dim=1)
    around = F.pad(y, (R, R, R, R)).transpose(1, 2)  # [B,h+2R,C,w+2R]
    rows = torch.stack([around[:, dy : dy + h] for dy in range(2 * R + 1)], 1)  # [B,2R+1,h,C,w+2R]
    # One product per two rows is cheaper than one per shift, although most of its columns are too far away.
    cosine = x.permute(0, 2, 3, 1)[:, None] @ rows  # [B,2R+1,h,w,w+2R]: x(r, c) with y(r+dy-R, c'-R)
    distance = (torch.arange(w + 2 * R) - R - torch.arange(w)[:, None]).abs()  # [w,w+2R]
    edge = torch.minimum(torch.arange(w), w - 1 - torch.arange(w))  # columns to the border of the frame
    of_x, of_y = [], []
    for r in radii:
        near = cosine[:, R - r : R + r + 1] + FAR * (distance > r).to(x)  # [B,2r+1,h,w,w+2R]
        of_x.append(near.amax(-1).amax(1))
        of_rows = torch.maximum(near.amax(-2)[..., R : R + w], FAR * (edge >= r).to(x))  # [B,2r+1,h,w]
        of_rows = F.pad(of_rows, (0, 0, r, r))
        of_y.append(torch.stack([of_rows[:, i, 2 * r - i : 2 * r - i + h] for i in range(2 * r + 1)]).amax(0))
    return 1 - torch.stack(of_x, 1), 1 - torch.stack(of_y, 1)


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

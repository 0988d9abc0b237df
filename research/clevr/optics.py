"""Ray intersections with CLEVR scenes: nearest hit and visibility of lamps, as tensors over flat lists of rays.

V views, K slots (objects) per view, N rays, M (ray, object) candidates, L lamps. Empty slots have shape NONE and come
last. A ray is an origin [N,3], a unit direction [N,3] and the number [N] of its view; lists are ordered by view. Only
objects whose bounding sphere a ray meets are tested exactly, so that the cost grows with the area that objects cover
and not with N x K.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

import torch
from torch import Tensor

NONE, CUBE, SPHERE, CYLINDER = range(4)
BOUND = (0.0, 1.70, 1.0, 1.42)  # radius of the bounding sphere over the radius of the object, per shape
BEVEL = (0.0, 0.13, 0.0, 0.06)  # radius of the rounded edges, likewise
ROUNDING_STEPS = 5  # steps of sphere tracing from the sharp solid to the rounded one
FAR = 1e6
GOLDEN = 0.618034  # multiples of this fraction, modulo 1, fill an interval evenly

# The backdrop: height of the ground over the distance along UPHILL. The ground is flat before the first point.
UPHILL = (-0.903, 0.429)
PROFILE = ((6.0, 0.0), (8.0, 0.14), (11.0, 0.4), (13.3, 1.1), (15.0, 2.7), (16.1, 5.6), (18.1, 23.0))


@dataclass
class Views:
    """V views of scenes. Lengths are in Blender units, colours are linear."""

    eye: Tensor  # [V,3]
    shape: Tensor  # [V,K] long: NONE, CUBE, SPHERE or CYLINDER
    centre: Tensor  # [V,K,3]
    radius: Tensor  # [V,K]
    turn: Tensor  # [V,K,2]: cosine and sine of the rotation about z
    colour: Tensor  # [V,K,3]
    metal: Tensor  # [V,K] bool
    lamps: Tensor  # [V,L,3]: positions; the last is the sun, far away

    def part(self, start: int, stop: int) -> Views:
        """The views start to stop - 1."""
        return Views(*(getattr(self, f.name)[start:stop] for f in fields(self)))


@dataclass
class Hits:
    """Hits of N rays. Slot -1 is the ground or its backdrop."""

    distance: Tensor  # [N]
    slot: Tensor  # [N] long
    normal: Tensor  # [N,3], unit, outwards


def dot(a: Tensor, b: Tensor) -> Tensor:
    """[...,n], [...,n] -> [...]. Written out, because reductions over so few elements are slow on a CPU."""
    total = a[..., 0] * b[..., 0]
    for i in range(1, a.shape[-1]):
        total = total + a[..., i] * b[..., i]
    return total


def unit(a: Tensor) -> Tensor:
    return a / dot(a, a).sqrt().clamp(min=1e-9)[..., None]


def to_object(vector: Tensor, turn: Tensor, back: bool = False) -> Tensor:
    """Vectors [M,3] rotated about z by -angle, or by +angle if `back`; turn [M,2] is its cosine and sine."""
    c, s = turn.unbind(-1)
    s = -s if back else s
    x, y, z = vector.unbind(-1)
    return torch.stack([c * x + s * y, c * y - s * x, z], -1)


def local_rays(views: Views, view: Tensor, slot: Tensor, origin: Tensor, direction: Tensor) -> tuple[Tensor, Tensor]:
    """Rays in the frame of the object, where it has radius 1; distances along them stay in scene units."""
    turn, radius = views.turn[view, slot], views.radius[view, slot][:, None]
    return to_object(origin - views.centre[view, slot], turn) / radius, to_object(direction, turn) / radius


def interval(shape: int, o: Tensor, d: Tensor) -> tuple[Tensor, Tensor]:
    """Entry and exit distance of local rays [...,3] for the sharp-edged solid; entry > exit for a miss."""
    if shape == CUBE:
        inverse = 1 / torch.where(d.abs() < 1e-9, 1e-9, d)
        near, far = (-1 - o) * inverse, (1 - o) * inverse
        return torch.minimum(near, far).amax(-1), torch.maximum(near, far).amin(-1)
    if shape == SPHERE:
        po, pd = o, d
    else:
        po, pd = o[..., :2], d[..., :2]
    a, b, c = dot(pd, pd).clamp(min=1e-12), dot(po, pd), dot(po, po) - 1
    root = b * b - a * c
    half = root.clamp(min=0).sqrt() / a
    miss = root < 0
    enter = torch.where(miss, FAR, -b / a - half)
    leave = torch.where(miss, -FAR, -b / a + half)
    if shape == CYLINDER:
        dz = torch.where(d[..., 2].abs() < 1e-9, 1e-9, d[..., 2])
        low, high = (-1 - o[..., 2]) / dz, (1 - o[..., 2]) / dz
        enter = torch.maximum(enter, torch.minimum(low, high))
        leave = torch.minimum(leave, torch.maximum(low, high))
    return enter, leave


def rounded(shape: int, p: Tensor) -> tuple[Tensor, Tensor]:
    """Distance to the solid with rounded edges and the outward normal, for local points [M,3] outside its core.

    The edges on the ground stay sharp: they are invisible, and no light can pass below them.
    """
    bevel = BEVEL[shape]
    cap = (p[:, 2] - (1 - bevel)).clamp(min=0)
    if shape == CUBE:
        outward = (p[:, :2].abs() - (1 - bevel)).clamp(min=0) * p[:, :2].sign()
    else:
        across = dot(p[:, :2], p[:, :2]).sqrt().clamp(min=1e-9)
        outward = p[:, :2] / across[:, None] * (across - (1 - bevel)).clamp(min=0)[:, None]
    outward = torch.cat([outward, cap[:, None]], -1)
    return dot(outward, outward).sqrt() - bevel, unit(outward)


def surface(shape: int, o: Tensor, d: Tensor) -> tuple[Tensor, Tensor]:
    """Distance [M] (FAR for a miss) and local normal [M,3] of the nearest hit of local rays from outside."""
    enter, leave = interval(shape, o, d)
    hit = (enter < leave) & (enter > 1e-4)
    enter = torch.where(hit, enter, torch.zeros_like(enter))
    if shape == SPHERE:
        return torch.where(hit, enter, FAR), unit(o + d * enter[:, None])
    per_local = 1 / dot(d, d).sqrt()  # scene units per local unit
    for _ in range(ROUNDING_STEPS):
        gap, _ = rounded(shape, o + d * enter[:, None])
        enter = enter + gap.clamp(min=0) * per_local
    gap, normal = rounded(shape, o + d * enter[:, None])
    return torch.where(hit & (gap < 0.01) & (enter < leave), enter, FAR), normal


def candidates(
    views: Views, view: Tensor, origin: Tensor, direction: Tensor, widening: Tensor | float = 0.0
) -> tuple[Tensor, Tensor]:
    """Candidates (ray [M], slot [M]): the ray meets the bounding sphere of the object ahead of its origin.

    `widening` (a number or [N]) turns each ray into a cone with that radius per unit of distance.
    """
    rays, slots = [], []
    bound = views.radius * torch.tensor(BOUND, device=view.device)[views.shape]  # [V,K]
    starts = [0, *torch.bincount(view, minlength=len(views.eye)).cumsum(0).tolist()]
    used = (views.shape != NONE).sum(1).tolist()  # per view; empty slots come last
    for v, (start, stop) in enumerate(zip(starts, starts[1:])):
        if start == stop or not used[v]:
            continue
        o, d = origin[start:stop], direction[start:stop]  # [n,3]
        # Two small matrix products instead of a pass over [n,3] for each object.
        reach, centre = bound[v, : used[v]], views.centre[v, : used[v]].T  # [K], [3,K]
        along = d @ centre - dot(o, d)[:, None]  # [n,K]
        apart = dot(o, o)[:, None] - 2 * (o @ centre) + (centre * centre).sum(0) - along * along
        wide = widening[start:stop, None] if isinstance(widening, Tensor) else widening
        cone = reach + wide * along.clamp(min=0)
        ray, slot = ((apart < cone * cone) & (along > -reach)).nonzero().unbind(1)
        rays.append(ray + start)
        slots.append(slot)
    if not rays:
        return torch.empty_like(view), torch.empty_like(view)
    return torch.cat(rays), torch.cat(slots)


def nearest(views: Views, view: Tensor, origin: Tensor, direction: Tensor) -> Hits:
    """The first surface that each ray hits."""
    distance, normal = ground(origin, direction)
    slot = torch.full_like(view, -1)
    ray, owner = candidates(views, view, origin, direction)
    shapes = views.shape[view[ray], owner]
    t = torch.full_like(ray, FAR, dtype=origin.dtype)
    n = torch.zeros(len(ray), 3, device=origin.device, dtype=origin.dtype)
    for shape in (CUBE, SPHERE, CYLINDER):
        part = (shapes == shape).nonzero()[:, 0]
        r, k = ray[part], owner[part]
        t[part], local = surface(shape, *local_rays(views, view[r], k, origin[r], direction[r]))
        n[part] = to_object(local, views.turn[view[r], k], back=True)
    first = distance.scatter_reduce(0, ray, t, "amin")
    won = (t == first[ray]) & (t < FAR)
    slot[ray[won]], normal[ray[won]] = owner[won], n[won]
    return Hits(first, slot, normal)


def ground(origin: Tensor, direction: Tensor) -> tuple[Tensor, Tensor]:
    """Distance [N] and normal [N,3] of the ground and its backdrop; FAR for rays that pass above it."""
    uphill = torch.tensor(UPHILL, device=origin.device)
    # In the plane of UPHILL (s) and z the profile is a polyline. A ray hits the first segment it crosses downwards.
    s0, ds = origin[:, :2] @ uphill, direction[:, :2] @ uphill
    z0, dz = origin[:, 2], direction[:, 2]
    distance = torch.full_like(s0, FAR)
    slope_at = torch.zeros_like(s0)
    slopes = [0.0] + [(z1 - z) / (s1 - s) for (s, z), (s1, z1) in zip(PROFILE, PROFILE[1:])]
    starts = [(-FAR, 0.0), *PROFILE[:-1]]
    ends = [PROFILE[0], *PROFILE[1:]]
    for i, ((s, z), (e, _), slope) in enumerate(zip(starts, ends, slopes)):
        falling = slope * ds - dz  # above 0 if the ray comes from above
        t = (z0 - z - slope * (s0 - s)) / torch.where(falling.abs() < 1e-9, 1e-9, falling)
        at = s0 + t * ds
        hit = (falling > 0) & (t > 1e-4) & (at >= s) & (at <= e) & (t < distance)
        distance = torch.where(hit, t, distance)
        # The slope of the normal is interpolated, because the original mesh is smooth-shaded.
        before = (slopes[i - 1] + slope) / 2 if i else 0.0
        after = (slope + slopes[min(i + 1, len(slopes) - 1)]) / 2 if i else 0.0
        share = ((at - s) / (e - s)).clamp(0, 1)
        slope_at = torch.where(hit, before + share * (after - before), slope_at)
    return distance, unit(torch.cat([-slope_at[:, None] * uphill, torch.ones_like(slope_at)[:, None]], -1))


def clear_share(
    views: Views, view: Tensor, point: Tensor, lamp: Tensor, half: float, seed: Tensor, samples: int
) -> Tensor:
    """Share [N], 0..1, of a square lamp that each point sees.

    The lamp has the centre `lamp` [N,3] and half the side `half`, and faces the origin. Each object is sampled on a
    lattice shifted by `seed` [N]; the shares of several objects are multiplied.
    """
    to_lamp = lamp - point
    length = dot(to_lamp, to_lamp).sqrt()
    ray, owner = candidates(views, view, point, to_lamp / length[:, None], math.sqrt(2) * half / length)
    shapes = views.shape[view[ray], owner]
    blocked = torch.zeros(len(ray), device=point.device)
    for shape in (CUBE, SPHERE, CYLINDER):
        part = (shapes == shape).nonzero()[:, 0]
        r, k = ray[part], owner[part]
        start = point[r]
        o, d = local_rays(views, view[r], k, start, lamp[r] - start)
        turn, radius = views.turn[view[r], k], views.radius[view[r], k][:, None]
        for offset in on_lamp(lamp[r], half, seed[r], samples).unbind(1):  # [m,3]
            enter, leave = interval(shape, o, d + to_object(offset, turn) / radius)  # 0 at the point, 1 at the lamp
            blocked[part] += ((enter < leave) & (leave > 1e-4) & (enter > -1e-4)) / samples
    return torch.ones(len(point), device=point.device).scatter_reduce(0, ray, 1 - blocked, "prod")


def on_lamp(lamp: Tensor, half: float, seed: Tensor, samples: int) -> Tensor:
    """Offsets [M,samples,3] from the centre of a square lamp: a rank-1 lattice shifted by `seed`."""
    axis = unit(lamp)
    across = unit(
        torch.stack([-axis[:, 1], axis[:, 0] + 1e-6, torch.zeros_like(axis[:, 0])], -1)
    )  # the small term serves a lamp right above the origin
    upward = torch.linalg.cross(axis, across)
    steps = torch.arange(samples, device=lamp.device)
    u = ((steps + 0.5) / samples + seed[:, None]) % 1 * 2 - 1  # [M,samples]
    v = (steps * GOLDEN + seed[:, None] * 1.7) % 1 * 2 - 1
    return half * (u[..., None] * across[:, None] + v[..., None] * upward[:, None])

"""Ray intersections with CLEVR scenes, compiled to loops over rays: nearest hit and visibility of lamps.

Tensors would write every intermediate of 100,000 rays to memory and read it back. A compiled loop keeps a ray's
numbers in registers and tests only the objects that the ray can meet: an image takes 0.3 CPU-s.

V views, K slots (objects) per view, N rays, L lamps. Empty slots have shape NONE and come last. In compiled functions
vectors are tuples of three floats; k: slot of an object. o, d: origin and direction of a ray.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

import numpy as np
from numba import njit
from torch import Tensor

NONE, CUBE, SPHERE, CYLINDER = range(4)
BOUND = np.array((0.0, 1.70, 1.0, 1.42))  # radius of the bounding sphere over the radius of the object, per shape
BEVEL = np.array((0.0, 0.13, 0.0, 0.06))  # radius of the rounded edges, likewise
ROUNDING_STEPS = 5  # steps of sphere tracing from the sharp solid to the rounded one
SHADOW_SAMPLES = 4
FAR = 1e6
GOLDEN = 0.618034  # multiples of this fraction, modulo 1, fill an interval evenly

# The backdrop: height of the ground over the distance along UPHILL. The ground is flat before the second point.
UPHILL = np.array((-0.903, 0.429))
PROFILE = np.array(
    ((-FAR, 0.0), (6.0, 0.0), (8.0, 0.14), (11.0, 0.4), (13.3, 1.1), (15.0, 2.7), (16.1, 5.6), (18.1, 23.0))
)
_slopes = np.diff(PROFILE[:, 1]) / np.diff(PROFILE[:, 0])
# Slope of the normal at the start and at the end of each segment; interpolated, as the original mesh is smooth-shaded.
SLOPE_START = np.array([0.0, *((_slopes[:-1] + _slopes[1:]) / 2)])
SLOPE_END = np.array([0.0, *((_slopes[1:] + np.append(_slopes[2:], _slopes[-1])) / 2)])


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

    def solids(self) -> tuple[np.ndarray, ...]:
        """shape, centre, radius and turn, as the compiled functions take them."""
        return tuple(as_array(part) for part in (self.shape, self.centre, self.radius, self.turn))


def as_array(tensor: Tensor) -> np.ndarray:
    return tensor.double().numpy() if tensor.is_floating_point() else tensor.numpy()


# Fast-math without "nnan": a division by 0 must give infinity.
compiled = njit(fastmath={"contract", "arcp", "nsz", "reassoc"}, error_model="numpy", cache=True)


@compiled
def dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@compiled
def add(a, b, s):
    """a + s b."""
    return a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2]


@compiled
def unit(a):
    s = 1 / max(math.sqrt(dot(a, a)), 1e-9)
    return a[0] * s, a[1] * s, a[2] * s


@compiled
def cross(a, b):
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@compiled
def row(x):
    return x[0], x[1], x[2]


@compiled
def to_object(p, turn, scale):
    """p, rotated about z by minus the angle of which `turn` is the cosine and sine, times `scale`."""
    c, s = turn[0] * scale, turn[1] * scale
    return c * p[0] + s * p[1], c * p[1] - s * p[0], p[2] * scale


@compiled
def _interval(shape, o, d):
    """Entry and exit distance of a local ray for the sharp-edged solid of radius 1; entry > exit for a miss."""
    if shape == CUBE:
        enter, leave = -FAR, FAR
        for i in range(3):
            inverse = 1 / (1e-9 if abs(d[i]) < 1e-9 else d[i])
            near, far = (-1 - o[i]) * inverse, (1 - o[i]) * inverse
            enter, leave = max(enter, min(near, far)), min(leave, max(near, far))
        return enter, leave
    z = 1.0 if shape == SPHERE else 0.0
    a = max(d[0] * d[0] + d[1] * d[1] + z * d[2] * d[2], 1e-12)
    b = o[0] * d[0] + o[1] * d[1] + z * o[2] * d[2]
    root = b * b - a * (o[0] * o[0] + o[1] * o[1] + z * o[2] * o[2] - 1)
    if root < 0:
        return FAR, -FAR
    half = math.sqrt(root) / a
    enter, leave = -b / a - half, -b / a + half
    if shape == CYLINDER:
        inverse = 1 / (1e-9 if abs(d[2]) < 1e-9 else d[2])
        low, high = (-1 - o[2]) * inverse, (1 - o[2]) * inverse
        enter, leave = max(enter, min(low, high)), min(leave, max(low, high))
    return enter, leave


@compiled
def _rounded(shape, p):
    """Distance to the solid with rounded edges and the direction outwards, for a local point outside its core.

    The edges on the ground stay sharp: they are invisible, and no light can pass below them.
    """
    bevel = BEVEL[shape]
    cap = max(p[2] - (1 - bevel), 0.0)
    if shape == CUBE:
        x, y = (
            math.copysign(max(abs(p[0]) - (1 - bevel), 0.0), p[0]),
            math.copysign(max(abs(p[1]) - (1 - bevel), 0.0), p[1]),
        )
    else:
        across = max(math.sqrt(p[0] * p[0] + p[1] * p[1]), 1e-9)
        s = max(across - (1 - bevel), 0.0) / across
        x, y = p[0] * s, p[1] * s
    return math.sqrt(x * x + y * y + cap * cap) - bevel, (x, y, cap)


@compiled
def _surface(shape, o, d):
    """Distance (FAR for a miss) and local normal of the nearest hit of a local ray from outside."""
    enter, leave = _interval(shape, o, d)
    if not (enter < leave and enter > 1e-4):
        return FAR, (0.0, 0.0, 1.0)
    if shape == SPHERE:
        return enter, unit(add(o, d, enter))
    per_local = 1 / math.sqrt(dot(d, d))  # scene units per local unit
    for _ in range(ROUNDING_STEPS):
        gap, _outward = _rounded(shape, add(o, d, enter))
        enter += max(gap, 0.0) * per_local
    gap, outward = _rounded(shape, add(o, d, enter))
    return (enter if gap < 0.01 and enter < leave else FAR), unit(outward)


@compiled
def ground(origin, direction):
    """Distance and normal of the ground and its backdrop; FAR for a ray that passes above it.

    In the plane of UPHILL (s) and z the profile is a polyline. A ray hits the first segment it crosses downwards.
    """
    s0, ds = origin[0] * UPHILL[0] + origin[1] * UPHILL[1], direction[0] * UPHILL[0] + direction[1] * UPHILL[1]
    best, slope_at = FAR, 0.0
    for i in range(len(PROFILE) - 1):
        s, z, e = PROFILE[i, 0], PROFILE[i, 1], PROFILE[i + 1, 0]
        slope = (PROFILE[i + 1, 1] - z) / (e - s)
        falling = slope * ds - direction[2]
        if falling <= 0:
            continue
        t = (origin[2] - z - slope * (s0 - s)) / max(falling, 1e-9)
        at = s0 + t * ds
        if t > 1e-4 and at >= s and at <= e and t < best:
            best = t
            slope_at = SLOPE_START[i] + (at - s) / (e - s) * (SLOPE_END[i] - SLOPE_START[i])
    return best, unit((-slope_at * UPHILL[0], -slope_at * UPHILL[1], 1.0))


@compiled
def _meets(o, d, reach):
    """Whether a ray from o, relative to the centre of a sphere of radius `reach`, meets that sphere."""
    along = -dot(o, d)
    return along > -reach and dot(o, o) - along * along < reach * reach


@compiled
def nearest(shape, centre, radius, turn, origin, direction):
    """Distance, slot (-1: the ground) and normal of the first surface that a ray hits in one view."""
    best, normal = ground(origin, direction)
    slot = -1
    for k in range(len(shape)):
        if shape[k] == NONE:
            break
        o = add(origin, row(centre[k]), -1.0)
        if not _meets(o, direction, BOUND[shape[k]] * radius[k]):
            continue
        scale = 1 / radius[k]
        t, local = _surface(shape[k], to_object(o, turn[k], scale), to_object(direction, turn[k], scale))
        if t < best:
            best, slot = t, k
            normal = to_object(local, (turn[k][0], -turn[k][1]), 1.0)
    return best, slot, normal


@compiled
def clear_share(shape, centre, radius, turn, point, lamp, half, seed):
    """Share, 0..1, of a square lamp that a point sees.

    The lamp has its centre at `lamp` and half the side `half`, and faces the origin. It is sampled on a rank-1 lattice
    shifted by `seed`; the shares that several objects leave are multiplied.
    """
    to_lamp = add(lamp, point, -1.0)
    length = math.sqrt(dot(to_lamp, to_lamp))
    axis = unit(lamp)
    across = unit((-axis[1], axis[0] + 1e-6, 0.0))  # the small term serves a lamp right above the origin
    upward = cross(axis, across)
    share = 1.0
    for k in range(len(shape)):
        if shape[k] == NONE:
            break
        o = add(point, row(centre[k]), -1.0)
        reach = BOUND[shape[k]] * radius[k]
        along = -dot(o, to_lamp) / length
        cone = reach + math.sqrt(2.0) * half / length * max(along, 0.0)
        if along <= -reach or dot(o, o) - along * along >= cone * cone:
            continue
        scale, blocked = 1 / radius[k], 0
        local = to_object(o, turn[k], scale)
        for i in range(SHADOW_SAMPLES):
            u = half * (((i + 0.5) / SHADOW_SAMPLES + seed) % 1 * 2 - 1)
            w = half * ((i * GOLDEN + seed * 1.7) % 1 * 2 - 1)
            enter, leave = _interval(
                shape[k], local, to_object(add(add(to_lamp, across, u), upward, w), turn[k], scale)
            )
            blocked += enter < leave and leave > 1e-4 and enter > -1e-4
        share *= 1 - blocked / SHADOW_SAMPLES
    return share

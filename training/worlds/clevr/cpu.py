"""The tensor renderer's arithmetic (clevr_optics, clevr_light), compiled to loops over rays for CPUs: a fifth of the time a picture (0.3 CPU-s).

Tensors on a CPU write every intermediate of 100,000 rays to memory and read it back; a compiled loop keeps a ray's numbers in
registers and tests only what the ray can meet. The constants are imported from there, the formulas are theirs line by line (where
their reason is said), and a test holds both to the same picture. A GPU uses the tensor form.

v view, k slot of an object; vectors are tuples of three floats.
"""

from __future__ import annotations

import math

import numpy as np
import torch
from numba import njit
from torch import Tensor

from training.worlds.clevr import light, optics
from training.worlds.clevr.optics import CUBE, CYLINDER, FAR, NONE, SPHERE, Views

BOUND, BEVEL = np.array(optics.BOUND), np.array(optics.BEVEL)
UPHILL, PROFILE = np.array(optics.UPHILL), np.array(((-FAR, 0.0), *optics.PROFILE))
_slopes = np.diff(PROFILE[:, 1]) / np.diff(PROFILE[:, 0])
SLOPE_BEFORE = np.array([0.0, *((_slopes[:-1] + _slopes[1:]) / 2)])  # of the normal at a segment's start and end
SLOPE_AFTER = np.array([0.0, *((_slopes[1:] + np.append(_slopes[2:], _slopes[-1])) / 2)])
LAMP_WATT, LAMP_HALF, TINT = (
    np.array(light.LAMP_WATT),
    np.array((*light.LAMP_HALF, light.SUN_HALF)),
    np.array(light.TINT, float),
)
LOBES = np.array(
    (
        (light.ALPHA[0], light.ROUGH_SHARE, light.ROUGH_SAMPLES),
        (light.ALPHA[1], 1 - light.ROUGH_SHARE, light.POLISHED_SAMPLES),
    )
)
GOLDEN, ROUNDING_STEPS, ORIGIN_GAP = optics.GOLDEN, optics.ROUNDING_STEPS, light.ORIGIN_GAP
GROUND, BOUNCE, OBJECT_BOUNCE, GROUND_BOUNCE = light.GROUND, light.BOUNCE, light.OBJECT_BOUNCE, light.GROUND_BOUNCE
SUN, SHEEN, SHEEN_POWER, BRUSHED, SHADOW_SAMPLES = (
    light.SUN,
    light.SHEEN,
    light.SHEEN_POWER,
    light.BRUSHED,
    light.SHADOW_SAMPLES,
)
METAL_DARKER, SECOND_METAL, SHADE_NEAR, SHADE_REACH = (
    light.METAL_DARKER,
    light.SECOND_METAL,
    light.SHADE_NEAR,
    light.SHADE_REACH,
)

compiled = njit(
    fastmath={"contract", "arcp", "nsz", "reassoc"}, error_model="numpy", cache=True
)  # no "nnan": a division by 0 is infinite


@compiled
def _dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@compiled
def _add(a, b, s):
    """a + s b."""
    return a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2]


@compiled
def _unit(a):
    s = 1 / max(math.sqrt(_dot(a, a)), 1e-9)
    return a[0] * s, a[1] * s, a[2] * s


@compiled
def _cross(a, b):
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@compiled
def _row(x):
    return x[0], x[1], x[2]


@compiled
def _to_object(p, turn, scale):
    c, s = turn[0] * scale, turn[1] * scale
    return c * p[0] + s * p[1], c * p[1] - s * p[0], p[2] * scale


@compiled
def _interval(shape, o, d):
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
    enter, leave = _interval(shape, o, d)
    if not (enter < leave and enter > 1e-4):
        return FAR, (0.0, 0.0, 1.0)
    if shape == SPHERE:
        return enter, _unit(_add(o, d, enter))
    per_local = 1 / math.sqrt(_dot(d, d))
    for _ in range(ROUNDING_STEPS):
        gap, _outward = _rounded(shape, _add(o, d, enter))
        enter += max(gap, 0.0) * per_local
    gap, outward = _rounded(shape, _add(o, d, enter))
    return (enter if gap < 0.01 and enter < leave else FAR), _unit(outward)


@compiled
def _ground(origin, direction):
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
            slope_at = SLOPE_BEFORE[i] + (at - s) / (e - s) * (SLOPE_AFTER[i] - SLOPE_BEFORE[i])
    return best, _unit((-slope_at * UPHILL[0], -slope_at * UPHILL[1], 1.0))


@compiled
def _meets(o, d, reach):
    """Whether a ray from o (relative to the centre) meets a sphere of that radius."""
    along = -_dot(o, d)
    return along > -reach and _dot(o, o) - along * along < reach * reach


@compiled
def _nearest(shape, centre, radius, turn, origin, direction):
    best, normal = _ground(origin, direction)
    slot = -1
    for k in range(len(shape)):
        if shape[k] == NONE:
            break
        o = _add(origin, _row(centre[k]), -1.0)
        if not _meets(o, direction, BOUND[shape[k]] * radius[k]):
            continue
        scale = 1 / radius[k]
        t, local = _surface(shape[k], _to_object(o, turn[k], scale), _to_object(direction, turn[k], scale))
        if t < best:
            best, slot = t, k
            normal = _to_object(local, (turn[k][0], -turn[k][1]), 1.0)
    return best, slot, normal


@compiled
def _clear_share(shape, centre, radius, turn, point, lamp, half, seed):
    to_lamp = _add(lamp, point, -1.0)
    length = math.sqrt(_dot(to_lamp, to_lamp))
    axis = _unit(lamp)
    across = _unit((-axis[1], axis[0] + 1e-6, 0.0))
    upward = _cross(axis, across)
    share = 1.0
    for k in range(len(shape)):
        if shape[k] == NONE:
            break
        o = _add(point, _row(centre[k]), -1.0)
        reach = BOUND[shape[k]] * radius[k]
        along = -_dot(o, to_lamp) / length
        cone = reach + math.sqrt(2.0) * half / length * max(along, 0.0)
        if along <= -reach or _dot(o, o) - along * along >= cone * cone:
            continue
        scale, blocked = 1 / radius[k], 0
        local = _to_object(o, turn[k], scale)
        for i in range(SHADOW_SAMPLES):
            u = half * (((i + 0.5) / SHADOW_SAMPLES + seed) % 1 * 2 - 1)
            w = half * ((i * GOLDEN + seed * 1.7) % 1 * 2 - 1)
            enter, leave = _interval(
                shape[k], local, _to_object(_add(_add(to_lamp, across, u), upward, w), turn[k], scale)
            )
            blocked += enter < leave and leave > 1e-4 and enter > -1e-4
        share *= 1 - blocked / SHADOW_SAMPLES
    return share


@compiled
def _irradiance(shape, centre, radius, turn, lamps, index, point, normal, seed, shadows):
    lamp = _row(lamps[index])
    to_lamp = _add(lamp, point, -1.0)
    squared = _dot(to_lamp, to_lamp)
    length = math.sqrt(squared)
    facing = max(_dot(to_lamp, normal) / length, 0.0)
    if index < len(LAMP_WATT):
        leaving = max(_dot(to_lamp, lamp) / length / math.sqrt(_dot(lamp, lamp)), 0.0)
        strength = LAMP_WATT[index] / 4 * leaving * facing / squared
    else:
        strength = SUN * facing
    if shadows and strength > 1e-4:
        strength *= _clear_share(shape, centre, radius, turn, point, lamp, LAMP_HALF[index], seed)
    return strength


@compiled
def _reflected(
    shape, centre, radius, turn, colour, metal, lamps, point, normal, direction, distance, slot, seed, first, each
):
    """What a surface sends back by itself (of metal only what another mirror shows of it); leaves each lamp's irradiance in each [L]."""
    thing = slot >= 0
    below, height = (1 - normal[2]) / 2, min(max(point[2] / 0.35, 0.0), 1.0)
    bounce = math.pi * BOUNCE * below * (0.4 + 0.6 * height) + OBJECT_BOUNCE if thing else GROUND_BOUNCE
    red = green = blue = bounce
    for i in range(len(lamps)):
        each[i] = _irradiance(shape, centre, radius, turn, lamps, i, point, normal, seed, first)
        red, green, blue = red + each[i] * TINT[i, 0], green + each[i] * TINT[i, 1], blue + each[i] * TINT[i, 2]
    own, sheen = 1.0, 0.0
    if thing and metal[slot]:
        own = SECOND_METAL
    elif not first:
        own = SHADE_NEAR + (1 - SHADE_NEAR) * min(distance / SHADE_REACH, 1.0)
    if thing and not metal[slot]:
        sheen = SHEEN * (0.25 + (1 - min(max(-_dot(normal, direction), 0.0), 1.0)) ** SHEEN_POWER)
    r, g, b = (colour[slot, 0], colour[slot, 1], colour[slot, 2]) if thing else (GROUND, GROUND, GROUND)
    return (own * r + sheen) * red / math.pi, (own * g + sheen) * green / math.pi, (own * b + sheen) * blue / math.pi


@compiled
def _highlight(lamp, half, point, normal, direction, along, across, ax, ay):
    to_lamp = _add(lamp, point, -1.0)
    length = math.sqrt(_dot(to_lamp, to_lamp))
    to_lamp = _unit(to_lamp)
    middle = _unit(_add(to_lamp, direction, -1.0))
    widened = (half / length / 2) ** 2
    bx, by = math.sqrt(ax * ax + widened), math.sqrt(ay * ay + widened)
    density = 1 / (
        math.pi
        * bx
        * by
        * ((_dot(middle, along) / bx) ** 2 + (_dot(middle, across) / by) ** 2 + _dot(middle, normal) ** 2) ** 2
    )
    to_eye, facing = max(-_dot(normal, direction), 0.05), max(_dot(normal, to_lamp), 0.05)
    masking = (
        2 / (1 + math.sqrt(1 + bx * by * (1 / to_eye**2 - 1))) * 2 / (1 + math.sqrt(1 + bx * by * (1 / facing**2 - 1)))
    )
    return density * masking / (4 * to_eye * facing)


@compiled
def _gloss(shape, centre, radius, turn, colour, metal, lamps, point, normal, direction, slot, seed, each, scratch):
    """Light that uncoloured metal reflects: lamps in closed form, everything else by rays."""
    along = _unit((-(point[1] - centre[slot, 1]), point[0] - centre[slot, 0], 1e-6))
    along = _unit(_add(along, normal, -_dot(along, normal)))
    across = _cross(normal, along)
    stretch = BRUSHED if shape[slot] == CYLINDER else 1.0
    total = (0.0, 0.0, 0.0)
    for lobe in range(len(LOBES)):
        ax, ay, weight, samples = (
            LOBES[lobe, 0] / stretch,
            LOBES[lobe, 0] * stretch,
            LOBES[lobe, 1],
            int(LOBES[lobe, 2]),
        )
        for i in range(len(lamps)):
            image = (
                weight
                * each[i]
                * _highlight(_row(lamps[i]), LAMP_HALF[i], point, normal, direction, along, across, ax, ay)
            )
            total = _add(total, _row(TINT[i]), image)
        for i in range(samples):
            u = (i + seed) / samples * 0.97
            tilt, angle = math.sqrt(u / (1 - u)), 2 * math.pi * ((i * GOLDEN + 7.3 * seed) % 1)
            half = _unit(_add(_add(normal, along, ax * tilt * math.cos(angle)), across, ay * tilt * math.sin(angle)))
            towards = _add(direction, half, -2 * _dot(direction, half))
            towards = _unit(_add(towards, normal, -2 * min(_dot(towards, normal), 0.0)))
            t, k, n = _nearest(shape, centre, radius, turn, point, towards)
            if t < FAR:
                there = _add(_add(point, towards, t), n, ORIGIN_GAP)
                back = _reflected(
                    shape, centre, radius, turn, colour, metal, lamps, there, n, towards, t, k, seed, False, scratch
                )
                total = _add(total, back, weight / samples)
    return (
        METAL_DARKER * colour[slot, 0] * total[0],
        METAL_DARKER * colour[slot, 1] * total[1],
        METAL_DARKER * colour[slot, 2] * total[2],
    )


@compiled
def _shade(
    eye, axes, shape, centre, radius, turn, colour, metal, lamps, view, across, below, seed, out, slots, only_slots
):
    each, scratch = np.zeros(lamps.shape[1]), np.zeros(lamps.shape[1])
    for ray in range(len(view)):
        v = view[ray]
        s, c, r, q = shape[v], centre[v], radius[v], turn[v]
        origin, d = (
            _row(eye[v]),
            _unit(_add(_add(_row(axes[0, v]), _row(axes[1, v]), across[ray]), _row(axes[2, v]), below[ray])),
        )
        t, k, n = _nearest(s, c, r, q, origin, d)
        slots[ray] = k
        if only_slots or t >= FAR:
            continue
        point = _add(_add(origin, d, t), n, ORIGIN_GAP)
        light = _reflected(s, c, r, q, colour[v], metal[v], lamps[v], point, n, d, t, k, seed[ray], True, each)
        if k >= 0 and metal[v, k]:
            light = _gloss(s, c, r, q, colour[v], metal[v], lamps[v], point, n, d, k, seed[ray], each, scratch)
        out[ray, 0], out[ray, 1], out[ray, 2] = light


def shade(
    views: Views, axes: Tensor, view: Tensor, across: Tensor, below: Tensor, seed: Tensor | None
) -> tuple[Tensor, Tensor]:
    """CPU tensors: axes [3,V,3] (forward, right, down of each view), view [N], place in the image plane across, below [N], seed [N].

    -> linear colour [N,3] (zeros without a seed: where only the objects are asked for), slot [N].
    """
    number = lambda x: x.numpy().astype(np.float64)
    out, slots = np.zeros((len(view), 3)), np.empty(len(view), np.int64)
    _shade(
        number(views.eye),
        number(axes),
        views.shape.numpy(),
        number(views.centre),
        number(views.radius),
        number(views.turn),
        number(views.colour),
        views.metal.numpy(),
        number(views.lamps),
        view.numpy(),
        number(across),
        number(below),
        number(view if seed is None else seed),
        out,
        slots,
        seed is None,
    )
    return torch.from_numpy(out).float(), torch.from_numpy(slots)

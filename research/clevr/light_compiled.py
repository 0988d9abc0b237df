"""Light transport compiled to loops over rays, for CPUs: the same formulas as light.py, where they are explained.

See optics_compiled.py for the reason. k: slot of an object, v: view. Vectors are tuples of three floats.
"""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor

from research.clevr import light
from research.clevr.optics import CYLINDER, FAR, Views
from research.clevr.optics_compiled import GOLDEN, add, clear_share, compiled, cross, dot, nearest, row, unit

LAMP_WATT = np.array(light.LAMP_WATT)
LAMP_HALF = np.array((*light.LAMP_HALF, light.SUN_HALF))
TINT = np.array(light.TINT, float)
# Per lobe of metal: GGX alpha, weight, number of sampled rays.
LOBES = np.array(
    (
        (light.ALPHA[0], light.ROUGH_SHARE, light.ROUGH_SAMPLES),
        (light.ALPHA[1], 1 - light.ROUGH_SHARE, light.POLISHED_SAMPLES),
    )
)
# Numba compiles module-level numbers as constants.
ORIGIN_GAP, GROUND, BRUSHED, METAL_DARKER = light.ORIGIN_GAP, light.GROUND, light.BRUSHED, light.METAL_DARKER
BOUNCE, OBJECT_BOUNCE, GROUND_BOUNCE = light.BOUNCE, light.OBJECT_BOUNCE, light.GROUND_BOUNCE
SUN, SHEEN, SHEEN_POWER = light.SUN, light.SHEEN, light.SHEEN_POWER
SECOND_METAL, SHADE_NEAR, SHADE_REACH = light.SECOND_METAL, light.SHADE_NEAR, light.SHADE_REACH


@compiled
def _irradiance(shape, centre, radius, turn, lamps, index, point, normal, seed, shadows):
    lamp = row(lamps[index])
    to_lamp = add(lamp, point, -1.0)
    squared = dot(to_lamp, to_lamp)
    length = math.sqrt(squared)
    facing = max(dot(to_lamp, normal) / length, 0.0)
    if index < len(LAMP_WATT):
        leaving = max(dot(to_lamp, lamp) / length / math.sqrt(dot(lamp, lamp)), 0.0)
        strength = LAMP_WATT[index] / 4 * leaving * facing / squared
    else:
        strength = SUN * facing
    if shadows and strength > 1e-4:
        strength *= clear_share(shape, centre, radius, turn, point, lamp, LAMP_HALF[index], seed)
    return strength


@compiled
def _reflected(
    shape, centre, radius, turn, colour, metal, lamps, point, normal, direction, distance, slot, seed, first, each
):
    """Light that a surface reflects without secondary rays; writes the irradiance of each lamp to `each` [L]."""
    on_object = slot >= 0
    below, height = (1 - normal[2]) / 2, min(max(point[2] / 0.35, 0.0), 1.0)
    bounce = math.pi * BOUNCE * below * (0.4 + 0.6 * height) + OBJECT_BOUNCE if on_object else GROUND_BOUNCE
    red = green = blue = bounce
    for i in range(len(lamps)):
        each[i] = _irradiance(shape, centre, radius, turn, lamps, i, point, normal, seed, first)
        red, green, blue = red + each[i] * TINT[i, 0], green + each[i] * TINT[i, 1], blue + each[i] * TINT[i, 2]
    own, sheen = 1.0, 0.0
    if on_object and metal[slot]:
        own = SECOND_METAL
    elif not first:
        own = SHADE_NEAR + (1 - SHADE_NEAR) * min(distance / SHADE_REACH, 1.0)
    if on_object and not metal[slot]:
        sheen = SHEEN * (0.25 + (1 - min(max(-dot(normal, direction), 0.0), 1.0)) ** SHEEN_POWER)
    r, g, b = (colour[slot, 0], colour[slot, 1], colour[slot, 2]) if on_object else (GROUND, GROUND, GROUND)
    return (own * r + sheen) * red / math.pi, (own * g + sheen) * green / math.pi, (own * b + sheen) * blue / math.pi


@compiled
def _highlight(lamp, half, point, normal, direction, along, across, ax, ay):
    to_lamp = add(lamp, point, -1.0)
    length = math.sqrt(dot(to_lamp, to_lamp))
    to_lamp = unit(to_lamp)
    middle = unit(add(to_lamp, direction, -1.0))
    widened = (half / length / 2) ** 2
    bx, by = math.sqrt(ax * ax + widened), math.sqrt(ay * ay + widened)
    density = 1 / (
        math.pi
        * bx
        * by
        * ((dot(middle, along) / bx) ** 2 + (dot(middle, across) / by) ** 2 + dot(middle, normal) ** 2) ** 2
    )
    to_eye, facing = max(-dot(normal, direction), 0.05), max(dot(normal, to_lamp), 0.05)
    masking = (
        2 / (1 + math.sqrt(1 + bx * by * (1 / to_eye**2 - 1))) * 2 / (1 + math.sqrt(1 + bx * by * (1 / facing**2 - 1)))
    )
    return density * masking / (4 * to_eye * facing)


@compiled
def _gloss(shape, centre, radius, turn, colour, metal, lamps, point, normal, direction, slot, seed, each, scratch):
    """Light that metal reflects: lamps in closed form, everything else by rays."""
    along = unit((-(point[1] - centre[slot, 1]), point[0] - centre[slot, 0], 1e-6))
    along = unit(add(along, normal, -dot(along, normal)))
    across = cross(normal, along)
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
                * _highlight(row(lamps[i]), LAMP_HALF[i], point, normal, direction, along, across, ax, ay)
            )
            total = add(total, row(TINT[i]), image)
        for i in range(samples):
            u = (i + seed) / samples * 0.97
            tilt, angle = math.sqrt(u / (1 - u)), 2 * math.pi * ((i * GOLDEN + 7.3 * seed) % 1)
            half = unit(add(add(normal, along, ax * tilt * math.cos(angle)), across, ay * tilt * math.sin(angle)))
            towards = add(direction, half, -2 * dot(direction, half))
            towards = unit(add(towards, normal, -2 * min(dot(towards, normal), 0.0)))
            t, k, n = nearest(shape, centre, radius, turn, point, towards)
            if t < FAR:
                there = add(add(point, towards, t), n, ORIGIN_GAP)
                back = _reflected(
                    shape, centre, radius, turn, colour, metal, lamps, there, n, towards, t, k, seed, False, scratch
                )
                total = add(total, back, weight / samples)
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
            row(eye[v]),
            unit(add(add(row(axes[0, v]), row(axes[1, v]), across[ray]), row(axes[2, v]), below[ray])),
        )
        t, k, n = nearest(s, c, r, q, origin, d)
        slots[ray] = k
        if only_slots or t >= FAR:
            continue
        point = add(add(origin, d, t), n, ORIGIN_GAP)
        light = _reflected(s, c, r, q, colour[v], metal[v], lamps[v], point, n, d, t, k, seed[ray], True, each)
        if k >= 0 and metal[v, k]:
            light = _gloss(s, c, r, q, colour[v], metal[v], lamps[v], point, n, d, k, seed[ray], each, scratch)
        out[ray, 0], out[ray, 1], out[ray, 2] = light


def shade(
    views: Views, axes: Tensor, view: Tensor, across: Tensor, below: Tensor, seed: Tensor | None
) -> tuple[Tensor, Tensor]:
    """Linear colour [N,3] and slot [N] of N camera rays; all tensors are on the CPU.

    axes [3,V,3]: forward, right and down of each view. view [N]. across, below [N]: position in the image plane.
    seed [N]: offset of the sampling pattern; without it only slots are computed and the colours are 0.
    """
    as_float = lambda x: x.numpy().astype(np.float64)
    out, slots = np.zeros((len(view), 3)), np.empty(len(view), np.int64)
    _shade(
        as_float(views.eye),
        as_float(axes),
        views.shape.numpy(),
        as_float(views.centre),
        as_float(views.radius),
        as_float(views.turn),
        as_float(views.colour),
        views.metal.numpy(),
        as_float(views.lamps),
        view.numpy(),
        as_float(across),
        as_float(below),
        as_float(view if seed is None else seed),
        out,
        slots,
        seed is None,
    )
    return torch.from_numpy(out).float(), torch.from_numpy(slots)

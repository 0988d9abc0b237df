"""Light transport, compiled to loops over rays: linear RGB radiance from lamps and materials.

Powers, sizes and colours are those of the generator's scene file, in Blender units. The original renderer traces many
bounces. Here the light that the ground reflects is one smooth term (BOUNCE), and only metal traces secondary rays,
once. k: slot of an object, v: view. Vectors are tuples of three floats.
"""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor

from research.clevr.optics import (
    CYLINDER,
    FAR,
    GOLDEN,
    Views,
    add,
    as_array,
    clear_share,
    compiled,
    cross,
    dot,
    nearest,
    row,
    unit,
)

LAMPS = np.array(
    [[6.4467, -2.9052, 4.2584], [-4.6711, -4.0136, 3.0112], [-1.1685, 2.646, 5.8157]]
)  # key, fill, back, before the jitter
LAMP_WATT = np.array((100.0, 30.0, 50.0))
SUN_AT = 100.0 * np.array([0.4145, -0.1946, 0.889])  # so far that its rays are parallel
# Half the side of each square lamp and of the sun, for soft shadows.
LAMP_HALF = np.array((0.25, 0.25, 0.5, 5.0))
SUN = 0.45  # irradiance of a surface that faces the sun
TINT = np.array(((1, 0.932, 0.817), (0.762, 0.818, 1), (1, 1, 1), (1, 1, 1)), float)  # of key, fill, back, sun

GROUND = 0.8  # albedo
BOUNCE = 0.20  # mean radiance of the lit ground, as an object's lower half receives it
OBJECT_BOUNCE, GROUND_BOUNCE = 0.012, 0.075  # constant irradiance by multiple bounces
SHEEN, SHEEN_POWER = 0.05, 3.0  # of rubber, towards the silhouette: velvet and wide gloss
METAL_DARKER = 0.85  # factor of metal's colour
# The rough and the polished lobe of metal: GGX alpha (roughness squared), share of the light, number of sampled rays.
LOBES = np.array(((0.2, 0.6, 5), (0.01, 0.4, 3)))
BRUSHED = 2.0  # on cylinders: factor by which alpha is smaller along and larger across the brushing
SHADE_NEAR, SHADE_REACH = 0.35, 0.8  # darkening of mirrored surfaces at distance 0, and where it ends
SECOND_METAL = 0.35  # factor of the colour of metal that is mirrored by metal
ORIGIN_GAP = 2e-3  # distance from the surface at which secondary rays start


@compiled
def irradiance(shape, centre, radius, turn, lamps, index, point, normal, seed, shadows):
    """Irradiance of one lamp on a surface point, before its tint; with `shadows`, whose samples `seed` shifts."""
    lamp = row(lamps[index])
    to_lamp = add(lamp, point, -1.0)
    squared = dot(to_lamp, to_lamp)
    length = math.sqrt(squared)
    facing = max(dot(to_lamp, normal) / length, 0.0)
    if index < len(LAMP_WATT):
        # Lamps emit towards the origin only.
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
    # The share of the hemisphere that is ground; close to the ground an object shades it.
    below, height = (1 - normal[2]) / 2, min(max(point[2] / 0.35, 0.0), 1.0)
    bounce = math.pi * BOUNCE * below * (0.4 + 0.6 * height) + OBJECT_BOUNCE if on_object else GROUND_BOUNCE
    red = green = blue = bounce
    for i in range(len(lamps)):
        each[i] = irradiance(shape, centre, radius, turn, lamps, i, point, normal, seed, first)
        red, green, blue = red + each[i] * TINT[i, 0], green + each[i] * TINT[i, 1], blue + each[i] * TINT[i, 2]
    share, sheen = 1.0, 0.0
    if on_object and metal[slot]:
        share = SECOND_METAL
    elif not first:  # approximates shadows: surfaces close to a mirror are mostly in its shadow
        share = SHADE_NEAR + (1 - SHADE_NEAR) * min(distance / SHADE_REACH, 1.0)
    if on_object and not metal[slot]:
        sheen = SHEEN * (0.25 + (1 - min(max(-dot(normal, direction), 0.0), 1.0)) ** SHEEN_POWER)
    r, g, b = (colour[slot, 0], colour[slot, 1], colour[slot, 2]) if on_object else (GROUND, GROUND, GROUND)
    return (
        (share * r + sheen) * red / math.pi,
        (share * g + sheen) * green / math.pi,
        (share * b + sheen) * blue / math.pi,
    )


@compiled
def _highlight(lamp, half, point, normal, direction, along, across, ax, ay):
    """Reflection of a lamp over its irradiance: anisotropic GGX (alpha ax, ay), widened by the size of the lamp."""
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
    # Smith masking per side, for the mean alpha.
    masking = (
        2 / (1 + math.sqrt(1 + bx * by * (1 / to_eye**2 - 1))) * 2 / (1 + math.sqrt(1 + bx * by * (1 / facing**2 - 1)))
    )
    return density * masking / (4 * to_eye * facing)


@compiled
def _gloss(shape, centre, radius, turn, colour, metal, lamps, point, normal, direction, slot, seed, each, scratch):
    """Light that metal reflects: lamps in closed form, everything else by rays."""
    # The brushing runs around the object's vertical axis; on the axis itself its direction is arbitrary.
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
            u = (i + seed) / samples * 0.97  # the last 3 % of GGX would reach the horizon
            # The tangent of the half vector's angle over alpha.
            tilt, angle = math.sqrt(u / (1 - u)), 2 * math.pi * ((i * GOLDEN + 7.3 * seed) % 1)
            half = unit(add(add(normal, along, ax * tilt * math.cos(angle)), across, ay * tilt * math.sin(angle)))
            towards = add(direction, half, -2 * dot(direction, half))
            # A ray into the metal is mirrored at its surface.
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
    """Linear colour [N,3] and slot [N] of N camera rays.

    axes [3,V,3]: forward, right and down of each view. view [N]. across, below [N]: position in the image plane.
    seed [N]: offset of the sampling pattern; without it only slots are computed and the colours are 0.
    """
    out, slots = np.zeros((len(view), 3)), np.empty(len(view), np.int64)
    _shade(
        as_array(views.eye),
        as_array(axes),
        *views.solids(),
        *(as_array(part) for part in (views.colour, views.metal, views.lamps, view, across, below)),
        as_array((view if seed is None else seed).double()),
        out,
        slots,
        seed is None,
    )
    return torch.from_numpy(out).float(), torch.from_numpy(slots)

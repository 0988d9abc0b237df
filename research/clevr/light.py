"""Light transport: linear RGB radiance of flat lists of rays, from lamps and materials.

Powers, sizes and colours are those of the generator's scene file, in Blender units. The original renderer traces many
bounces. Here the light that the ground reflects is one smooth term (BOUNCE), and only metal traces secondary rays,
once.
"""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor

from research.clevr.optics import CYLINDER, FAR, GOLDEN, Hits, Views, clear_share, dot, nearest, unit

LAMPS = np.array(
    [[6.4467, -2.9052, 4.2584], [-4.6711, -4.0136, 3.0112], [-1.1685, 2.646, 5.8157]]
)  # key, fill, back, before the jitter
LAMP_HALF = (0.25, 0.25, 0.5)  # half the side of each square lamp
LAMP_WATT = (100.0, 30.0, 50.0)
SUN_AT = 100.0 * np.array([0.4145, -0.1946, 0.889])  # so far that its rays are parallel
SUN_HALF = 5.0  # half the side of the sun at that distance, for soft shadows
SUN = 0.45  # irradiance of a surface that faces the sun
TINT = ((1, 0.932, 0.817), (0.762, 0.818, 1), (1, 1, 1), (1, 1, 1))  # of key, fill, back, sun

GROUND = 0.8  # albedo
BOUNCE = 0.20  # mean radiance of the lit ground, as an object's lower half receives it
OBJECT_BOUNCE, GROUND_BOUNCE = 0.012, 0.075  # constant irradiance by multiple bounces
SHEEN, SHEEN_POWER = 0.05, 3.0  # of rubber, towards the silhouette: velvet and wide gloss
METAL_DARKER = 0.85  # factor of metal's colour
ROUGH_SHARE = 0.6  # share of metal's light in the rough lobe
ALPHA = (0.2, 0.01)  # GGX alpha (roughness squared) of the rough and the polished lobe
BRUSHED = 2.0  # on cylinders: factor by which alpha is smaller along and larger across the brushing
SHADOW_SAMPLES = 4
ROUGH_SAMPLES, POLISHED_SAMPLES = 5, 3
SHADE_NEAR, SHADE_REACH = 0.35, 0.8  # darkening of mirrored surfaces at distance 0, and where it ends
SECOND_METAL = 0.35  # factor of the colour of metal that is mirrored by metal
ORIGIN_GAP = 2e-3  # distance from the surface at which secondary rays start


def irradiance(views: Views, view: Tensor, point: Tensor, normal: Tensor, seed: Tensor | None) -> Tensor:
    """Irradiance [N,L,3] of each lamp on surface points. With `seed` [N], which shifts the samples, shadowed."""
    out = []
    for index in range(views.lamps.shape[1]):
        lamp = views.lamps[:, index][view]
        to_lamp = lamp - point
        length = dot(to_lamp, to_lamp).sqrt()
        facing = (dot(to_lamp, normal) / length).clamp(min=0)
        if index < len(LAMP_WATT):
            leaving = (dot(to_lamp, lamp) / length / dot(lamp, lamp).sqrt()).clamp(
                min=0
            )  # lamps emit towards the origin only
            strength = LAMP_WATT[index] / 4 * leaving * facing / length.square()
        else:
            strength = SUN * facing
        if seed is not None:
            lit = (strength > 1e-4).nonzero()[:, 0]
            half = LAMP_HALF[index] if index < len(LAMP_HALF) else SUN_HALF
            strength[lit] *= clear_share(views, view[lit], point[lit], lamp[lit], half, seed[lit], SHADOW_SAMPLES)
        out.append(strength[:, None] * torch.tensor(TINT[index], device=point.device, dtype=point.dtype))
    return torch.stack(out, 1)


def radiance(
    views: Views, view: Tensor, direction: Tensor, hits: Hits, seed: Tensor, origin: Tensor, first: bool = True
) -> Tensor:
    """Radiance [N,3] along rays with these hits. `first`: camera rays, for which metal traces secondary rays."""
    light = torch.zeros(len(view), 3, device=view.device)
    seen = (hits.distance < FAR).nonzero()[:, 0]
    view, direction, slot, normal, seed = view[seen], direction[seen], hits.slot[seen], hits.normal[seen], seed[seen]
    point = origin[seen] + direction * hits.distance[seen][:, None] + normal * ORIGIN_GAP
    on_object = slot >= 0
    at = slot.clamp(min=0)
    colour = torch.where(on_object[:, None], views.colour[view, at], torch.full_like(point, GROUND))
    metal = on_object & views.metal[view, at]

    lamps = irradiance(views, view, point, normal, seed if first else None)  # [n,L,3]
    below = (1 - normal[:, 2:]) / 2  # share of the hemisphere that is ground
    height = (point[:, 2:] / 0.35).clamp(0, 1)  # close to the ground an object shades it
    bounce = (
        math.pi * BOUNCE * below * (0.4 + 0.6 * height) * on_object[:, None]
        + torch.where(on_object, OBJECT_BOUNCE, GROUND_BOUNCE)[:, None]
    )
    out = colour * (lamps.sum(1) + bounce) / math.pi
    if not first:  # approximates shadows: surfaces close to a mirror are mostly in its shadow
        out *= (SHADE_NEAR + (1 - SHADE_NEAR) * (hits.distance[seen] / SHADE_REACH).clamp(max=1))[:, None]

    rubber = (on_object & ~metal).nonzero()[:, 0]
    rim = (1 - dot(normal[rubber], -direction[rubber]).clamp(0, 1)) ** SHEEN_POWER
    out[rubber] += SHEEN * (0.25 + rim)[:, None] * (lamps[rubber].sum(1) + bounce[rubber]) / math.pi

    shiny = metal.nonzero()[:, 0]
    if first:
        if len(shiny):
            out[shiny] = (
                colour[shiny]
                * METAL_DARKER
                * gloss(
                    views,
                    view[shiny],
                    point[shiny],
                    normal[shiny],
                    direction[shiny],
                    lamps[shiny],
                    slot[shiny],
                    seed[shiny],
                )
            )
    else:
        out[shiny] = colour[shiny] * SECOND_METAL * (lamps[shiny].sum(1) + bounce[shiny]) / math.pi
    light[seen] = out
    return light


def gloss(
    views: Views,
    view: Tensor,
    point: Tensor,
    normal: Tensor,
    direction: Tensor,
    lamps: Tensor,
    slot: Tensor,
    seed: Tensor,
) -> Tensor:
    """Light [n,3] that uncoloured metal reflects: lamps in closed form, everyon_object else by secondary rays."""
    # The brushing runs around the object's vertical axis; on the axis itself its direction is arbitrary.
    arm = point - views.centre[view, slot]
    along = unit(torch.stack([-arm[:, 1], arm[:, 0], torch.full_like(arm[:, 0], 1e-6)], -1))
    along = unit(along - dot(along, normal)[:, None] * normal)
    across = torch.linalg.cross(normal, along)
    stretch = torch.where(views.shape[view, slot] == CYLINDER, BRUSHED, 1.0)
    total = torch.zeros_like(point)
    for alpha, share, samples in zip(ALPHA, (ROUGH_SHARE, 1 - ROUGH_SHARE), (ROUGH_SAMPLES, POLISHED_SAMPLES)):
        ax, ay = alpha / stretch, alpha * stretch  # [n]
        total += share * highlights(views, view, point, normal, direction, along, across, ax, ay, lamps)
        steps = torch.arange(samples, device=view.device)
        u = (steps + seed[:, None]) / samples * 0.97  # [n,samples]; the last 3 % of GGX would reach the horizon
        tilt = (u / (1 - u)).sqrt()  # tangent of the half vector's angle over alpha
        angle = 2 * math.pi * ((steps * GOLDEN + 7.3 * seed[:, None]) % 1)
        half = unit(
            normal[:, None]
            + (ax[:, None] * tilt * angle.cos())[..., None] * along[:, None]
            + (ay[:, None] * tilt * angle.sin())[..., None] * across[:, None]
        )  # [n,samples,3]
        towards = direction[:, None] - 2 * dot(direction[:, None], half)[..., None] * half
        # A ray into the metal is mirrored at its surface.
        towards = unit(towards - 2 * dot(towards, normal[:, None]).clamp(max=0)[..., None] * normal[:, None]).reshape(
            -1, 3
        )
        repeat = lambda x: x.repeat_interleave(samples, 0)
        origin, rays_view = repeat(point), repeat(view)
        hits = nearest(views, rays_view, origin, towards)
        back = radiance(views, rays_view, towards, hits, repeat(seed), origin, first=False)
        total += share * back.reshape(-1, samples, 3).mean(1)
    return total


def highlights(
    views: Views,
    view: Tensor,
    point: Tensor,
    normal: Tensor,
    direction: Tensor,
    along: Tensor,
    across: Tensor,
    ax: Tensor,
    ay: Tensor,
    lamps: Tensor,
) -> Tensor:
    """Reflections of the lamps in one lobe, [n,3]: anisotropic GGX (alpha ax, ay), widened by the size of the lamps."""
    out = torch.zeros_like(point)
    to_eye = dot(normal, -direction).clamp(min=0.05)
    for index in range(lamps.shape[1]):
        to_lamp = views.lamps[:, index][view] - point
        length = dot(to_lamp, to_lamp).sqrt()
        to_lamp = to_lamp / length[:, None]
        half = unit(to_lamp - direction)
        size = LAMP_HALF[index] if index < len(LAMP_HALF) else SUN_HALF
        widened = (size / length / 2).square()
        bx, by = (ax * ax + widened).sqrt(), (ay * ay + widened).sqrt()
        density = 1 / (
            math.pi
            * bx
            * by
            * (
                (dot(half, along) / bx).square() + (dot(half, across) / by).square() + dot(half, normal).square()
            ).square()
        )
        facing = dot(normal, to_lamp).clamp(min=0.05)
        masking = 1.0
        for cosine in (to_eye, facing):  # Smith masking per side, for the mean alpha
            masking = masking * 2 / (1 + (1 + bx * by * (1 / cosine.square() - 1)).sqrt())
        # `lamps` is irradiance, which includes the cosine at the surface.
        out += (density * masking / (4 * to_eye * facing))[:, None] * lamps[:, index]
    return out

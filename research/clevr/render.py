"""Renderer of CLEVR scenes: images and object maps of many views."""

from __future__ import annotations

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from research.clevr import light
from research.clevr.optics import CUBE, CYLINDER, NONE, SPHERE, Views
from research.clevr.rules import COLOURS, MAX_OBJECTS, Scene

WIDTH, HEIGHT = 480, 320
FOCAL = 525.0  # px: a 35 mm lens before a 32 mm sensor
SHAPE_CODE = {"cube": CUBE, "sphere": SPHERE, "cylinder": CYLINDER}
FILTER_CENTRE = 0.72  # weight of a pixel itself, per direction
GRAIN = 0.9  # standard deviation of the noise in levels of 255
SMOOTH = 0.06  # largest relative difference between neighbours that are interpolated
EDGE_SAMPLES = (
    (-0.375, -0.125),
    (-0.125, 0.375),
    (0.125, -0.375),
    (0.375, 0.125),
)  # offsets from the pixel centre: a rotated grid


def views_of(scenes: list[Scene], eyes: np.ndarray, lamp_offsets: np.ndarray) -> Views:
    """One view per scene; eyes [V,3], lamp_offsets [V,3 lamps,3]: jitter of the lamps."""
    V, K = len(scenes), MAX_OBJECTS + 1
    shape = np.full((V, K), NONE)
    centre, colour = np.zeros((V, K, 3)), np.zeros((V, K, 3))
    radius, metal = np.zeros((V, K)), np.zeros((V, K), bool)
    turn = np.tile([1.0, 0.0], (V, K, 1))
    for v, scene in enumerate(scenes):
        for k, obj in enumerate(scene):
            shape[v, k] = SHAPE_CODE[obj.shape]
            centre[v, k] = obj.x, obj.y, obj.radius
            radius[v, k] = obj.radius
            turn[v, k] = np.cos(obj.turn), np.sin(obj.turn)
            colour[v, k] = np.array(COLOURS[obj.colour]) / 255
            metal[v, k] = obj.material == "metal"
    lamps = np.concatenate([light.LAMPS + lamp_offsets, np.broadcast_to(light.SUN_AT, (V, 1, 3))], 1)
    as_float = lambda x: torch.tensor(np.asarray(x), dtype=torch.float32)
    return Views(
        as_float(eyes),
        torch.tensor(shape),
        as_float(centre),
        as_float(radius),
        as_float(turn),
        as_float(colour),
        torch.tensor(metal),
        as_float(lamps),
    )


def camera_axes(views: Views) -> Tensor:
    """Forward, right and down of each view's camera: [3,V,3]."""
    forward = F.normalize(-views.eye, dim=-1)
    right = F.normalize(torch.linalg.cross(forward, torch.tensor([0.0, 0.0, 1.0]).expand_as(forward)), dim=-1)
    return torch.stack([forward, right, torch.linalg.cross(forward, right)])


def image_plane(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """Positions in the image plane at distance 1 (right of and below the camera's axis) of pixel positions.

    0 is the left or upper border of the image.
    """
    return (x - WIDTH / 2) / FOCAL, (y - HEIGHT / 2) / FOCAL


def pixel_grid(count: int, stride: int = 1) -> tuple[Tensor, Tensor, Tensor]:
    """view, x, y of every stride-th pixel centre of `count` views, row-major."""
    v, y, x = torch.meshgrid(
        torch.arange(count),
        torch.arange(stride // 2, HEIGHT, stride),
        torch.arange(stride // 2, WIDTH, stride),
        indexing="ij",
    )
    return v.flatten(), x.flatten() + 0.5, y.flatten() + 0.5


def object_map(views: Views, stride: int = 1) -> Tensor:
    """Object map: the slot that every stride-th pixel shows, or -1; long [V,HEIGHT/stride,WIDTH/stride]."""
    view, x, y = pixel_grid(len(views.eye), stride)
    _, slot = light.shade(views, camera_axes(views), view, *image_plane(x, y), None)
    return slot.reshape(len(views.eye), HEIGHT // stride, WIDTH // stride)


def pixel_seed(x: Tensor, y: Tensor) -> Tensor:
    """Numbers in 0..1, even over neighbouring positions and equal in every run.

    Interleaved gradient noise (Jimenez 2014).
    """
    return (52.9829189 * ((0.06711056 * x + 0.00583715 * y) % 1)) % 1


def to_srgb(linear: Tensor) -> Tensor:
    linear = linear.clamp(0, 1)
    return torch.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear.clamp(min=1e-8) ** (1 / 2.4) - 0.055)


def shade(views: Views, view: Tensor, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """Linear colour [N,3] and slot [N] at pixel positions x, y [N] of those views."""
    return light.shade(views, camera_axes(views), view, *image_plane(x, y), pixel_seed(x, y))


def render(views: Views) -> tuple[Tensor, Tensor]:
    """Images uint8 [V,HEIGHT,WIDTH,3], sRGB, and object maps. Outlines are sampled four times per pixel."""
    parts = [_render_view(views.part(v, v + 1)) for v in range(len(views.eye))]  # one fits the cache of a CPU
    return tuple(torch.cat(rows) for rows in zip(*parts))


def _render_view(views: Views) -> tuple[Tensor, Tensor]:
    """As `render`, with all views in memory.

    Bare ground is smooth, so it is sampled at every second position in both directions and interpolated. Objects and
    the borders of shadows are sampled at every pixel, outlines at four positions per pixel.
    """
    count = len(views.eye)
    view, x, y = pixel_grid(count)
    slots = object_map(views)

    half = (count, HEIGHT // 2, WIDTH // 2)
    bare = (
        F.max_pool2d(slots[:, None].float(), 2)[:, 0] < 0
    ).nonzero()  # [n,3]: view, row, column; objects stay 0, hence uneven
    v2, y2, x2 = bare.unbind(1)
    coarse = torch.zeros(*half, 3)
    coarse[v2, y2, x2], _ = shade(views, v2, 2.0 * x2 + 1, 2.0 * y2 + 1)  # the corner that four pixels share
    coarse = coarse.permute(0, 3, 1, 2)  # [V,h,w,3] -> [V,3,h,w]
    radiance = (
        F.interpolate(coarse, scale_factor=2, mode="bilinear").permute(0, 2, 3, 1).reshape(-1, 3)
    )  # [V,3,H,W] -> [V*H*W,3]
    uneven = F.interpolate((contrast(coarse.mean(1)) > SMOOTH)[:, None].float(), scale_factor=2)[:, 0] > 0

    edges = outlines(slots)
    each = (((slots >= 0) | uneven) & ~edges).flatten().nonzero()[:, 0]
    radiance[each], _ = shade(views, view[each], x[each], y[each])
    edges = edges.flatten().nonzero()[:, 0]
    offsets = torch.tensor(EDGE_SAMPLES)  # [S,2]
    x, y = (p[edges, None] + offsets[:, i] for i, p in enumerate((x, y)))
    finer, _ = shade(views, view[edges].repeat_interleave(len(offsets)), x.flatten(), y.flatten())
    radiance[edges] = finer.reshape(-1, len(offsets), 3).mean(1)
    image = 255 * to_srgb(pixel_filter(radiance.reshape(count, HEIGHT, WIDTH, 3))) + grain(views)
    return image.round().clamp(0, 255).to(torch.uint8), slots


def pixel_filter(light: Tensor) -> Tensor:
    """The pixel filter of the original renderer: a weighted mean with the neighbours, [V,H,W,3] -> [V,H,W,3]."""
    side = (1 - FILTER_CENTRE) / 2
    for dim in (1, 2):
        size = light.shape[dim]
        first, last = light.narrow(dim, 0, 1), light.narrow(dim, size - 1, 1)
        padded = torch.cat([first, light, last], dim)
        light = side * (padded.narrow(dim, 0, size) + padded.narrow(dim, 2, size)) + FILTER_CENTRE * light
    return light


def grain(views: Views) -> Tensor:
    """Sampling noise of the original renderer, [V,HEIGHT,WIDTH,1] in levels of 255, seeded by the camera position."""
    layers = []
    for eye in views.eye.double():
        generator = torch.Generator().manual_seed(int((eye * 1e5).round().long().abs().sum()))
        layers.append(torch.randn(HEIGHT, WIDTH, 1, generator=generator))
    return GRAIN * torch.stack(layers)


def contrast(level: Tensor) -> Tensor:
    """(Maximum - minimum) / maximum over each cell and its neighbours: [V,h,w] -> [V,h,w]."""
    most, least = (
        sign * F.max_pool2d(F.pad(sign * level[:, None], (1, 1, 1, 1), mode="replicate"), 3, 1)[:, 0]
        for sign in (1, -1)
    )
    return (most - least) / most.clamp(min=1e-6)


def outlines(slots: Tensor) -> Tensor:
    """Pixels with a neighbour of another slot: bool [V,H,W]."""
    padded = F.pad(slots[:, None].float(), (1, 1, 1, 1), mode="replicate")
    return (F.max_pool2d(padded, 3, 1) != -F.max_pool2d(-padded, 3, 1))[:, 0]

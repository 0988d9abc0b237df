"""Rasteriser: the nearest triangle of every pixel by a depth buffer, and the light that reaches points past others.

Compiled by numba where it is installed.
"""

from __future__ import annotations

import math

import numpy as np

try:
    from numba import njit
except ImportError:  # plain Python draws the same pixels about 100 times slower

    def njit(**_options):
        return lambda function: function


@njit(cache=True)
def rasterise(corners, width, height, behind):
    """Draws triangles over each other.

    corners: float64 [T, 3, 3]: x and y in pixels (the centre of the first pixel is 0.5), and a depth that is linear on
    the screen and grows away from the viewer (-1 / distance). behind: float64 [height, width]: only points with a
    greater depth are drawn. Returns int32 [height, width], the index of the triangle or -1; float64 [height, width, 2],
    the weights of the second and third corner on the screen; and float64 [height, width], the depth, inf without one.
    """
    index = np.full((height, width), -1, np.int32)
    weights = np.zeros((height, width, 2))
    depth = np.full((height, width), np.inf)
    for t in range(corners.shape[0]):
        ax, ay, az = corners[t, 0]
        bx, by, bz = corners[t, 1]
        cx, cy, cz = corners[t, 2]
        area = (bx - ax) * (cy - ay) - (cx - ax) * (by - ay)
        if area == 0.0:
            continue
        x0 = max(0, int(math.floor(min(ax, bx, cx) - 0.5)))
        x1 = min(width - 1, int(math.ceil(max(ax, bx, cx) - 0.5)))
        y0 = max(0, int(math.floor(min(ay, by, cy) - 0.5)))
        y1 = min(height - 1, int(math.ceil(max(ay, by, cy) - 0.5)))
        for y in range(y0, y1 + 1):
            for x in range(x0, x1 + 1):
                px, py = x + 0.5 - ax, y + 0.5 - ay
                v = (px * (cy - ay) - (cx - ax) * py) / area
                w = ((bx - ax) * py - px * (by - ay)) / area
                if v < 0.0 or w < 0.0 or v + w > 1.0:
                    continue
                z = az + v * (bz - az) + w * (cz - az)
                if behind[y, x] < z < depth[y, x]:
                    depth[y, x] = z
                    index[y, x] = t
                    weights[y, x, 0] = v
                    weights[y, x, 1] = w
    return index, weights, depth


@njit(cache=True)
def received_light(points, normals, directions, depths, axes, scale, bias):
    """Light of several directions that reaches points of a surface, of which other parts stand in the way.

    points, normals: float64 [n, 3]; points relative to the middle of the depth maps. directions: float64 [d, 3], unit
    vectors to the light. depths: float64 [d, m, m], the model seen from each direction (inf: nothing); axes: float64
    [d, 2, 3], of the maps; scale: pixels per metre; bias: metres. Returns float64 [n]: the sum of the cosines.
    """
    light = np.zeros(points.shape[0])
    size = depths.shape[1]
    for i in range(points.shape[0]):
        px, py, pz = points[i]
        for d in range(directions.shape[0]):
            dx, dy, dz = directions[d]
            facing = normals[i, 0] * dx + normals[i, 1] * dy + normals[i, 2] * dz
            if facing <= 0.0:
                continue
            a = axes[d]
            x = int((px * a[0, 0] + py * a[0, 1] + pz * a[0, 2]) * scale + size / 2)
            y = int((px * a[1, 0] + py * a[1, 1] + pz * a[1, 2]) * scale + size / 2)
            x, y = min(max(x, 0), size - 1), min(max(y, 0), size - 1)
            if -(px * dx + py * dy + pz * dz) < depths[d, y, x] + bias:
                light[i] += facing
    return light

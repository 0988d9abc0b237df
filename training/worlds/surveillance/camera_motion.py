"""Camera motion between the two frames, as a homography from the canvas to the frame."""

from __future__ import annotations

import math

import cv2
import numpy as np

MARGIN = {"still": 0, "small": 0, "medium": 20, "large": 48}  # canvas pixels around the frame, per size of the motion
# Largest shift in pixels, roll in degrees and relative zoom, per size of the motion.
MAX_MOTION = {"still": (0, 0, 0), "small": (3, 0.25, 0.004), "medium": (13, 1.5, 0.03), "large": (40, 5, 0.10)}
VISIBLE_MOTION_PX = 3.0  # mean displacement of the frame's corners from which the pair is labelled `camera_moved`


def draw_motion(rng: np.random.Generator, strong: bool) -> str:
    """Size of the camera motion, a key of MARGIN. It is drawn before the view, which needs the margin."""
    if strong:
        return str(rng.choice(["medium", "large"], p=[0.6, 0.4]))
    return str(rng.choice(["still", "small", "medium"], p=[0.5, 0.42, 0.08]))


def shift(x: float, y: float) -> np.ndarray:
    return np.array([[1, 0, x], [0, 1, y], [0, 0, 1]], np.float64)


def draw_homography(rng: np.random.Generator, motion: str, width: int, height: int) -> np.ndarray:
    """Random homography [3, 3] about the frame's centre: shift, roll, zoom and the slight keystone of a pan."""
    max_shift, max_roll, max_zoom = MAX_MOTION[motion]
    if motion == "still":
        return np.eye(3)
    distance, direction = max_shift * rng.uniform(0.1, 1.0), rng.uniform(0, 2 * math.pi)
    angle = math.radians(max_roll * rng.uniform(-1, 1))
    scale = 1 + max_zoom * rng.uniform(-1, 1)
    c, s = scale * math.cos(angle), scale * math.sin(angle)
    turn = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    pan = distance / 640 / 640
    turn[2, :2] = rng.uniform(-pan, pan, 2)
    centre = shift(width / 2, height / 2)
    moved = shift(distance * math.cos(direction), distance * math.sin(direction) * 0.6)
    return moved @ centre @ turn @ np.linalg.inv(centre)


def corner_displacement(homography: np.ndarray, width: int, height: int) -> float:
    """Mean displacement of the frame's four corners in pixels."""
    corners = np.float64([[[0, 0], [width, 0], [0, height], [width, height]]])
    return float(np.linalg.norm(cv2.perspectiveTransform(corners, homography) - corners, axis=2).mean())


def warp(canvas: np.ndarray, homography: np.ndarray, size: tuple[int, int], mirror_border: bool = True) -> np.ndarray:
    """The canvas (an image or a mask) in frame pixels; `size` is (width, height).

    Beyond the canvas an image is mirrored (`mirror_border`) and a mask is 0. A shift by whole pixels is a crop.
    """
    if (
        np.allclose(homography[:2, :2], np.eye(2))
        and np.allclose(homography[2], [0, 0, 1])
        and np.allclose(homography[:2, 2], np.round(homography[:2, 2]))
    ):
        x, y = (-np.round(homography[:2, 2])).astype(int)
        if x >= 0 and y >= 0 and x + size[0] <= canvas.shape[1] and y + size[1] <= canvas.shape[0]:
            return canvas[y : y + size[1], x : x + size[0]]
    border = cv2.BORDER_REFLECT_101 if mirror_border else cv2.BORDER_CONSTANT
    return cv2.warpPerspective(canvas, homography, size, flags=cv2.INTER_LINEAR, borderMode=border)

"""One composed frame of a pair, with the visible pixels of its changed figures."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np

from training.contract import MASK_STRIDE
from training.worlds.surveillance.camera_motion import warp
from training.worlds.surveillance.effects import FrameEffects, apply_effects
from training.worlds.surveillance.exposure import Exposure, make_layer
from training.worlds.surveillance.layers import RenderedLayer, render
from training.worlds.surveillance.placement import PlacedFigure, RejectedSample
from training.worlds.surveillance.view import View

MIN_VISIBLE_SHARE = 0.4  # of a changed figure's pixels; a caption cannot name a figure that is hidden more
MIN_VISIBLE_PX = 60
MIN_CONTRAST = 7.0  # mean absolute difference of a changed figure to the background, levels of 255
VISIBLE_ALPHA = 0.35  # alpha from which a pixel counts as showing the figure


class ComposedFrame:
    """A frame before its effects are applied. `changed` are the figures that only this frame shows."""

    def __init__(
        self,
        view: View,
        exposure: Exposure,
        effects: FrameEffects,
        background: np.ndarray,
        context: list[PlacedFigure],
        changed: list[PlacedFigure],
        seed: int,
    ):
        self.view, self.effects, self.background, self.changed = view, effects, background, changed
        figures = sorted([*context, *changed], key=lambda placed: placed.y)  # far to near
        self.canvas, rendered = render(background, [make_layer(f, view, exposure, seed) for f in figures])
        self._layers = {id(f): layer for f, layer in zip(figures, rendered)}
        self._alphas = {id(f): self._alpha_in_frame(self._layers[id(f)]) for f in changed}

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of the frame in pixels."""
        return self.view.width, self.view.height

    def visible_box(self, figure: PlacedFigure) -> list[float]:
        """Box [x, y, w, h] of a changed figure's visible pixels. Raises RejectedSample if too few are visible."""
        alpha, layer = self._alphas[id(figure)], self._layers[id(figure)]
        visible = alpha > VISIBLE_ALPHA
        if visible.sum() < MIN_VISIBLE_PX or alpha.sum() < MIN_VISIBLE_SHARE * layer.total:
            raise RejectedSample
        rows, columns = np.flatnonzero(visible.any(axis=1)), np.flatnonzero(visible.any(axis=0))
        x, y = columns[0], rows[0]
        return [float(x), float(y), float(columns[-1] + 1 - x), float(rows[-1] + 1 - y)]

    def mean_level(self, figure: PlacedFigure) -> float:
        """Mean level (0..255) of a changed figure's visible pixels. Raises RejectedSample if its contrast is low."""
        layer = self._layers[id(figure)]
        h, w = layer.visible.shape
        visible = layer.visible > VISIBLE_ALPHA
        pixels = self.canvas[layer.y : layer.y + h, layer.x : layer.x + w][visible].astype(np.float32)
        background = self.background[layer.y : layer.y + h, layer.x : layer.x + w][visible]
        if not visible.any() or np.abs(pixels - background).mean() < MIN_CONTRAST + self.effects.noise / 3:
            raise RejectedSample
        return float(pixels.mean())

    def mask(self) -> np.ndarray:
        """float32 [H / 8, W / 8], 0..1: the share of each cell that changed figures cover."""
        width, height = self.size
        union = np.zeros((height, width), np.float32)
        for alpha in self._alphas.values():
            np.maximum(union, alpha, out=union)
        cells = (width // MASK_STRIDE, height // MASK_STRIDE)
        return cv2.resize(union, cells, interpolation=cv2.INTER_AREA)

    def finish(self) -> np.ndarray:
        """The frame with its effects: uint8 [H, W, 3], RGB."""
        return np.ascontiguousarray(apply_effects(self.canvas, self.effects, self.size))

    def _alpha_in_frame(self, layer: RenderedLayer) -> np.ndarray:
        """float32 [H, W]: visible alpha of a layer in the frame of the (moved) camera."""
        h, w = layer.visible.shape
        alpha = np.zeros(self.canvas.shape[:2], np.float32)
        alpha[layer.y : layer.y + h, layer.x : layer.x + w] = layer.visible
        return warp(alpha, self.effects.homography, self.size, mirror_border=False)


def adjust_exposure(frames: tuple[ComposedFrame, ComposedFrame], rng: np.random.Generator) -> None:
    """Automatic exposure: a frame with a large changed figure becomes brighter or darker as a whole."""
    for frame in frames:
        if not frame.changed:
            continue
        share = float(frame.mask().mean())
        factor = float(np.exp(rng.normal(0, 0.05) + np.sign(rng.normal()) * min(share, 0.3) * 0.6))
        frame.effects = replace(frame.effects, gain=tuple(g * factor for g in frame.effects.gain))

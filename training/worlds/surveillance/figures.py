"""Figures: what can be placed in a scene. A sprite, a rider on a two-wheeler (two sprites) or a drawn vehicle."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from training.worlds.surveillance.drawn_vehicles import draw_vehicle
from training.worlds.surveillance.sprite_augment import augment_sprite, repaint
from training.worlds.surveillance.sprites import Sprite, sprite_pixels

DRAWN_WARP = 0.004  # `warp` of augment_sprite for drawn vehicles: their proportions differ and their edges are straight
CYCLIST_LENGTH_M = 1.7
RIDER_LIFT_M = 0.32  # the seat of a sitting person's sprite is at the height of a chair


@dataclass(frozen=True, eq=False)
class Figure:
    """Pixels of one thing, the position of its ground contact in them, and its labels."""

    pixels: np.ndarray  # uint8 [h, w, 4], RGBA, not premultiplied
    anchor: tuple[float, float]  # pixel of the footprint's centre
    footprint: np.ndarray  # [4, 2]: pixels of its corners on the ground
    px_per_m: float
    elevation: int  # degrees that the camera looks down
    noun: str
    hypernym: str
    colour: str
    upright: bool  # a person or a cyclist
    azimuth: float  # degrees; 0 faces the camera
    sunlit: bool
    height_m: float
    sprites: tuple[Sprite, ...]  # empty for a drawn vehicle
    augment_seed: int  # of the augmentation or the drawing, so that the same individual can be made again
    drawn_kind: str | None = None  # of drawn_vehicles.NOUN; None for sprites
    count: int = 1  # of the persons that it shows

    @property
    def models(self) -> list[str]:
        return [f"drawn_{self.drawn_kind}"] if self.drawn_kind else [s.model for s in self.sprites]


def figure_of_sprite(sprite: Sprite, augment_seed: int) -> Figure:
    noun = "suv" if sprite.noun == "car" and sprite.subtype == "SUV" else sprite.noun
    noun = "minivan" if sprite.noun == "car" and sprite.subtype == "minivan" else noun
    colour = sprite.colours[0] if sprite.colours else "grey"
    person = sprite.hypernym == "person"
    pixels = sprite_pixels(sprite.path)
    if sprite.hypernym == "vehicle" and sprite.pose is None:
        pixels, colour = repaint(pixels, colour, augment_seed)
    return Figure(
        pixels=augment_sprite(pixels, augment_seed, cloth=colour if person else None),
        anchor=sprite.anchor,
        footprint=sprite.footprint,
        px_per_m=sprite.px_per_m,
        elevation=sprite.elevation,
        noun=noun,
        hypernym=sprite.hypernym,
        colour=colour,
        upright=person,
        azimuth=sprite.azimuth,
        sunlit=sprite.sunlit,
        height_m=sprite.height_m,
        sprites=(sprite,),
        augment_seed=augment_seed,
        count=sprite.count,
    )


def figure_with_rider(mount: Sprite, rider: Sprite, noun: str, augment_seed: int) -> Figure:
    """A rider on a two-wheeler. A `cyclist` is a person in the rider's colour; other nouns are vehicles."""
    pixels, anchor, footprint, px_per_m = _draw_rider(mount, rider)
    cyclist = noun == "cyclist"
    colours = rider.colours if cyclist else mount.colours
    return Figure(
        pixels=augment_sprite(pixels, augment_seed),
        anchor=anchor,
        footprint=footprint,
        px_per_m=px_per_m,
        elevation=mount.elevation,
        noun=noun,
        hypernym="person" if cyclist else "vehicle",
        colour=colours[0] if colours else "grey",
        upright=cyclist,
        azimuth=mount.azimuth,
        sunlit=mount.sunlit,
        height_m=mount.height_m,
        sprites=(mount, rider),
        augment_seed=augment_seed,
    )


def figure_of_drawn_vehicle(
    kind: str, noun: str, elevation: float, azimuth: float, sunlit: bool, augment_seed: int
) -> Figure:
    elevation, azimuth = int(round(elevation)), azimuth % 360
    drawing, colour, height_m = draw_vehicle(kind, elevation, azimuth, sunlit, augment_seed)
    return Figure(
        pixels=augment_sprite(drawing.pixels, augment_seed, warp=DRAWN_WARP),
        anchor=drawing.anchor,
        footprint=drawing.footprint,
        px_per_m=drawing.px_per_m,
        elevation=elevation,
        noun=noun,
        hypernym="vehicle",
        colour=colour,
        upright=False,
        azimuth=azimuth,
        sunlit=sunlit,
        height_m=height_m,
        sprites=(),
        augment_seed=augment_seed,
        drawn_kind=kind,
    )


def _draw_rider(mount: Sprite, rider: Sprite) -> tuple[np.ndarray, tuple[float, float], np.ndarray, float]:
    """The mount drawn over the rider's legs: pixels, anchor, footprint and scale, as in Figure."""
    below, above = sprite_pixels(mount.path), sprite_pixels(rider.path)
    px_per_m = mount.px_per_m
    if mount.noun == "bicycle":  # some bicycle sprites are of children's size
        px_per_m /= CYCLIST_LENGTH_M / mount.length_m
    zoom = px_per_m / rider.px_per_m
    above = cv2.resize(above, None, fx=zoom, fy=zoom, interpolation=cv2.INTER_AREA if zoom < 1 else cv2.INTER_LINEAR)
    lift = RIDER_LIFT_M * px_per_m * np.cos(np.radians(mount.elevation))
    # Upper left corner of the rider in the mount's pixels.
    left = int(round(mount.anchor[0] - rider.anchor[0] * zoom))
    top = int(round(mount.anchor[1] - rider.anchor[1] * zoom - lift))
    x0, y0 = min(0, left), min(0, top)
    x1 = max(below.shape[1], left + above.shape[1])
    y1 = max(below.shape[0], top + above.shape[0])
    canvas = np.zeros((y1 - y0, x1 - x0, 4), np.float32)
    for pixels, x, y in ((above, left, top), (below, 0, 0)):
        h, w = pixels.shape[:2]
        window = canvas[y - y0 : y - y0 + h, x - x0 : x - x0 + w]
        alpha = pixels[..., 3:] / np.float32(255)
        colour = window[..., :3] * window[..., 3:] * (1 - alpha) + pixels[..., :3] * alpha
        total = window[..., 3:] * (1 - alpha) + alpha
        window[..., :3] = colour / np.maximum(total, 1e-6)
        window[..., 3:] = total
    canvas[..., 3] *= 255
    anchor = (mount.anchor[0] - x0, mount.anchor[1] - y0)
    return np.uint8(np.clip(canvas + 0.5, 0, 255)), anchor, mount.footprint - np.float32([x0, y0]), px_per_m

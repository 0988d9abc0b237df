"""Who appears: sprites by noun, colour and viewing direction, figures made of two sprites (cyclists, riders), drawn vehicles."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import cv2
import numpy as np

from training.worlds.surveillance.assets import SCENERY_INDOORS, SCENERY_OUTDOORS, Sprite, sprite_pixels
from training.worlds.surveillance.drawn_vehicles import draw_vehicle, kind_of
from training.worlds.surveillance.sprite_augment import one_of, repainted, varied
from training.worlds.surveillance.vehicle_parts import OTHER_COLOUR, VEHICLE_COLOUR

PERSONS = ("man", "woman", "boy", "girl")
TWO_WHEELERS = ("bicycle", "motorcycle", "scooter", "cyclist")
# What fixed cameras see, in percent; the rest of the nouns share what is left.
NOUN_WEIGHT = {
    "man": 16.0,
    "woman": 15.0,
    "boy": 3.5,
    "girl": 3.5,
    "car": 31.0,
    "truck": 9.0,
    "van": 6.0,
    "bus": 2.0,
    "motorcycle": 2.0,
    "bicycle": 2.0,
    "scooter": 1.0,
    "cyclist": 5.0,
    "dog": 1.3,
    "suitcase": 1.0,
    "backpack": 0.8,
    "box": 1.2,
    "bag": 0.5,
    "chair": 0.9,
    "trash can": 0.8,
    "traffic cone": 0.8,
    "stroller": 0.5,
    "bench": 0.4,
    "table": 0.3,
    "barrier": 0.3,
    "cat": 0.3,
}
OTHER_WEIGHT = 0.12
UNUSUAL_OUTDOORS = frozenset(("sofa", "television", "stool", "table", "fire extinguisher", "basket"))
UNUSUAL_INDOORS = frozenset(("horse", "tent", "container", "barrier", "traffic cone", "wheelbarrow"))
PERSON_COLOUR = {"black": 5.0, "dark blue": 2.0, "grey": 2.5, "white": 2.2, "blue": 1.6, "red": 1.4, "brown": 1.2}
LEGS_COLOUR = {"black": 3.0, "dark blue": 3.0, "blue": 2.0, "grey": 1.5}  # of trousers and skirts, beside OTHER_LEGS
OTHER_LEGS = 1.0
# How often a figure of a noun is drawn and not a sprite, and as what.
DRAWN_SHARE = {
    "truck": {"truck": 0.65},
    "van": {"van": 0.75},
    "bus": {"bus": 0.3},
    "car": {"suv": 0.15, "minivan": 0.03},
}
DRAWN_STRAY = 0.004  # of their outlines, see `varied`: their proportions differ anyway, and boxes have straight edges
# How often a model is taken, relative to the others of its noun; what is not listed: 1.
POSE_WEIGHT = {"sitting on the ground": 0.05, "sitting on a bench": 0.12, "sitting on a chair": 0.12}
SUBTYPE_WEIGHT = {"semi truck": 0.35, "beetle": 0.5, "convertible": 0.5, "sports car": 0.6, "coach": 0.6}
CYCLIST_LENGTH_M, RIDER_LIFT_M = 1.7, 0.32  # a sprite's sitting figure has its seat at chair height


@dataclass(frozen=True, eq=False)
class Figure:
    """Something to place: pixels (RGBA, not premultiplied), where it stands in them, and what people call it."""

    pixels: np.ndarray  # uint8 [h, w, 4]
    anchor: tuple[float, float]
    footprint: np.ndarray  # [4, 2]
    px_per_m: float
    elevation: int
    noun: str
    hypernym: str
    colour: str
    upright: bool
    azimuth: float
    sunlit: bool
    height_m: float
    sprites: tuple[Sprite, ...]  # none of a drawn vehicle
    variation: int  # seed of what makes this one differ from the others of its model
    drawn: str | None = None  # kind of a drawn vehicle

    @property
    def models(self) -> list[str]:
        return [f"drawn_{self.drawn}"] if self.drawn else [s.model for s in self.sprites]


class Cast:
    """All sprites of a split, ready to be asked for one of a noun that is seen from about here.

    drawn: whether some vehicles are drawn instead, which are no model of any split.
    """

    def __init__(self, sprites: list[Sprite], scenery: list[Sprite], drawn: bool = False):
        self._drawn = drawn
        self._by_noun: dict[str, dict[str, list[Sprite]]] = defaultdict(lambda: defaultdict(list))
        self._views: dict[tuple[str, tuple[str, ...]], list[Sprite]] = defaultdict(list)
        self._riders: dict[str, list[Sprite]] = defaultdict(list)
        for sprite in sprites:
            self._views[sprite.model, sprite.colours].append(sprite)
            if sprite.needs_seat:
                self._riders[sprite.model].append(sprite)
            else:
                self._by_noun[sprite.noun][sprite.model].append(sprite)
        self._scenery: dict[bool, dict[str, list[Sprite]]] = {True: defaultdict(list), False: defaultdict(list)}
        for sprite in scenery:
            for indoor, nouns in ((True, SCENERY_INDOORS), (False, SCENERY_OUTDOORS)):
                if sprite.noun in nouns:
                    self._scenery[indoor][sprite.model].append(sprite)
                    self._views[sprite.model, sprite.colours].append(sprite)
        self.nouns = sorted(self._by_noun)
        if self._riders and "bicycle" in self._by_noun:
            self.nouns.append("cyclist")

    def draw(self, noun: str, elevation: float, azimuth: float | None, sunny: bool, rng: np.random.Generator) -> Figure:
        """A figure of the noun, seen from `elevation` (degrees) and, where given, the nearest azimuth there is."""
        if azimuth is None:
            azimuth = float(rng.uniform(0, 360))
        if noun == "cyclist":
            return self._ridden("bicycle", "cyclist", elevation, azimuth, sunny, rng)
        if noun in ("motorcycle", "scooter") and self._riders and rng.random() < 0.6:
            return self._ridden(noun, noun, elevation, azimuth, sunny, rng)
        word = self._drawn_noun(noun, rng) if self._drawn else None
        if word:
            seed = _another(rng)
            return _drawn(kind_of(word, seed), word, elevation, azimuth, sunny, seed)
        return _single(self._pick(self._by_noun[noun], elevation, azimuth, sunny, rng), _another(rng))

    @staticmethod
    def _drawn_noun(noun: str, rng: np.random.Generator) -> str | None:
        """What to draw for the noun; None where it is to be a sprite."""
        if noun not in DRAWN_SHARE:
            return None
        return one_of(DRAWN_SHARE[noun], rng.random())

    def has_scenery(self, indoor: bool) -> bool:
        return bool(self._scenery[indoor])

    def scenery(self, indoor: bool, elevation: float, sunny: bool, rng: np.random.Generator) -> Figure:
        """Something that only stands there; see `has_scenery`."""
        return _single(
            self._pick(self._scenery[indoor], elevation, float(rng.uniform(0, 360)), sunny, rng), _another(rng)
        )

    def turned(self, figure: Figure, azimuth: float) -> Figure:
        """The same figure from another side."""
        if figure.drawn:
            return _drawn(figure.drawn, figure.noun, figure.elevation, azimuth, figure.sunlit, figure.variation)
        sprites = [
            self._nearest(self._views[s.model, s.colours], figure.elevation, azimuth, s.sunlit) for s in figure.sprites
        ]
        if len(sprites) == 1:
            return _single(sprites[0], figure.variation)
        return _compose(sprites[0], sprites[1], figure.noun, figure.variation)

    def _ridden(
        self, mount: str, noun: str, elevation: float, azimuth: float, sunny: bool, rng: np.random.Generator
    ) -> Figure:
        below = self._pick(self._by_noun[mount], elevation, azimuth, sunny, rng)
        rider = self._pick(self._riders, below.elevation, below.azimuth, sunny, rng)
        return _compose(below, rider, noun, _another(rng))

    def _pick(
        self, models: dict[str, list[Sprite]], elevation: float, azimuth: float, sunny: bool, rng: np.random.Generator
    ) -> Sprite:
        names = sorted(models)
        shares = np.array([_model_weight(models[n][0]) for n in names])
        variants = models[names[int(rng.choice(len(names), p=shares / shares.sum()))]]
        palettes = sorted({s.colours for s in variants})
        weights = np.array([_palette_weight(variants[0].hypernym, c) for c in palettes])
        palette = palettes[int(rng.choice(len(palettes), p=weights / weights.sum()))]
        return self._nearest([s for s in variants if s.colours == palette], elevation, azimuth, sunny)

    @staticmethod
    def _nearest(variants: list[Sprite], elevation: float, azimuth: float, sunny: bool) -> Sprite:
        def distance(sprite: Sprite) -> tuple[float, float, bool, str]:
            turn = abs((sprite.azimuth - azimuth + 180) % 360 - 180)
            return abs(sprite.elevation - elevation), turn, sprite.sunlit != sunny, sprite.path.name

        return min(variants, key=distance)


def _model_weight(sprite: Sprite) -> float:
    return POSE_WEIGHT.get(sprite.pose or "", 1.0) * SUBTYPE_WEIGHT.get(sprite.subtype or "", 1.0)


def _palette_weight(hypernym: str, colours: tuple[str, ...]) -> float:
    """colours: the main one first; of people then that of the legs."""
    main = colours[0] if colours else "grey"
    if hypernym == "vehicle":
        return VEHICLE_COLOUR.get(main, OTHER_COLOUR)
    if hypernym != "person":
        return 1.0
    return PERSON_COLOUR.get(main, OTHER_COLOUR) * (
        LEGS_COLOUR.get(colours[1], OTHER_LEGS) if len(colours) > 1 else OTHER_LEGS
    )


def _another(rng: np.random.Generator) -> int:
    return int(rng.integers(2**31))


def _single(sprite: Sprite, variation: int) -> Figure:
    noun = "suv" if sprite.noun == "car" and sprite.subtype == "SUV" else sprite.noun
    noun = "minivan" if sprite.noun == "car" and sprite.subtype == "minivan" else noun
    colour = sprite.colours[0] if sprite.colours else "grey"
    person = sprite.hypernym == "person"
    pixels = sprite_pixels(sprite.path)
    if sprite.hypernym == "vehicle":
        pixels, colour = repainted(pixels, colour, variation)
    pixels = varied(pixels, variation, cloth=colour if person else None)
    return Figure(
        pixels,
        sprite.anchor,
        sprite.footprint,
        sprite.px_per_m,
        sprite.elevation,
        noun,
        sprite.hypernym,
        colour,
        person,
        sprite.azimuth,
        sprite.sunlit,
        sprite.height_m,
        (sprite,),
        variation,
    )


def _compose(mount: Sprite, rider: Sprite, noun: str, variation: int) -> Figure:
    pixels, anchor, footprint, px_per_m = _mounted(mount, rider)
    cyclist = noun == "cyclist"
    colours = rider.colours if cyclist else mount.colours
    return Figure(
        varied(pixels, variation),
        anchor,
        footprint,
        px_per_m,
        mount.elevation,
        noun,
        "person" if cyclist else "vehicle",
        colours[0] if colours else "grey",
        cyclist,
        mount.azimuth,
        mount.sunlit,
        mount.height_m,
        (mount, rider),
        variation,
    )


def _drawn(kind: str, noun: str, elevation: float, azimuth: float, sunny: bool, seed: int) -> Figure:
    elevation, azimuth = int(round(elevation)), azimuth % 360
    drawing, colour, height_m = draw_vehicle(kind, elevation, azimuth, sunny, seed)
    return Figure(
        varied(drawing.pixels, seed, stray=DRAWN_STRAY),
        drawing.anchor,
        drawing.footprint,
        drawing.px_per_m,
        elevation,
        noun,
        "vehicle",
        colour,
        False,
        azimuth,
        sunny,
        height_m,
        (),
        seed,
        kind,
    )


def _mounted(mount: Sprite, rider: Sprite) -> tuple[np.ndarray, tuple[float, float], np.ndarray, float]:
    """A rider behind and above a mount, in the mount's pixels: the mount is drawn over the rider's legs."""
    below, above = sprite_pixels(mount.path), sprite_pixels(rider.path)
    px_per_m = mount.px_per_m
    if mount.noun == "bicycle":  # children's bicycles among the sprites: as long as a grown-up's
        px_per_m /= CYCLIST_LENGTH_M / mount.length_m
    zoom = px_per_m / rider.px_per_m
    above = cv2.resize(above, None, fx=zoom, fy=zoom, interpolation=cv2.INTER_AREA if zoom < 1 else cv2.INTER_LINEAR)
    lift = RIDER_LIFT_M * px_per_m * np.cos(np.radians(mount.elevation))
    # Corner of the rider in the mount's pixels.
    left = int(round(mount.anchor[0] - rider.anchor[0] * zoom))
    top = int(round(mount.anchor[1] - rider.anchor[1] * zoom - lift))
    x0, y0 = min(0, left), min(0, top)
    x1 = max(below.shape[1], left + above.shape[1])
    y1 = max(below.shape[0], top + above.shape[0])
    canvas = np.zeros((y1 - y0, x1 - x0, 4), np.float32)
    for picture, x, y in ((above, left, top), (below, 0, 0)):
        h, w = picture.shape[:2]
        window = canvas[y - y0 : y - y0 + h, x - x0 : x - x0 + w]
        alpha = picture[..., 3:] / np.float32(255)
        colour = window[..., :3] * window[..., 3:] * (1 - alpha) + picture[..., :3] * alpha
        total = window[..., 3:] * (1 - alpha) + alpha
        window[..., :3] = colour / np.maximum(total, 1e-6)
        window[..., 3:] = total
    canvas[..., 3] *= 255
    anchor = (mount.anchor[0] - x0, mount.anchor[1] - y0)
    return np.uint8(np.clip(canvas + 0.5, 0, 255)), anchor, mount.footprint - np.float32([x0, y0]), px_per_m

"""Sampler of figures: draws a sprite (or a drawn vehicle) of a noun, seen from about the camera's elevation."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from training.worlds.surveillance.drawn_vehicles import draw_kind
from training.worlds.surveillance.figures import Figure, figure_of_drawn_vehicle, figure_of_sprite, figure_with_rider
from training.worlds.surveillance.sprite_augment import choose_by_share
from training.worlds.surveillance.sprite_nouns import SCENERY_INDOORS, SCENERY_OUTDOORS
from training.worlds.surveillance.sprites import Sprite
from training.worlds.surveillance.vehicle_paint import OTHER_COLOUR, VEHICLE_COLOUR

# Relative frequency of a person's main colour, and of the colour of trousers and skirts.
PERSON_COLOUR = {"black": 5.0, "dark blue": 2.0, "grey": 2.5, "white": 2.2, "blue": 1.6, "red": 1.4, "brown": 1.2}
LEGS_COLOUR = {"black": 3.0, "dark blue": 3.0, "blue": 2.0, "grey": 1.5}
OTHER_LEGS_COLOUR = 1.0
# Noun -> noun of the drawn vehicle that replaces the sprite, and the share of the draws that are replaced.
DRAWN_SHARE = {
    "truck": {"truck": 0.65},
    "van": {"van": 0.75},
    "bus": {"bus": 0.3},
    "car": {"suv": 0.15, "minivan": 0.03},
}
RIDDEN_SHARE = 0.6  # of motorcycles and scooters
WHOLE_RIDER_SHARE = 0.6  # of riders: one sprite of rider and vehicle, the others are composed of two
RIDDEN = ("cyclist", "motorcycle", "scooter")  # nouns that name a rider too
# Relative frequency of a model among those of its noun; 1 for poses and subtypes that are not listed.
POSE_WEIGHT = {"sitting on the ground": 0.05, "sitting on a bench": 0.12, "sitting on a chair": 0.12}
SUBTYPE_WEIGHT = {"semi truck": 0.35, "beetle": 0.5, "convertible": 0.5, "sports car": 0.6, "coach": 0.6}

NEAR = 20.0  # degrees between a camera's elevation and a view that may stand for it

SpritesByModel = dict[str, list[Sprite]]


class SpriteSampler:
    """All sprites of a split, indexed by noun and model.

    `drawn`: whether DRAWN_SHARE applies. Drawn vehicles belong to no split, so only the train split uses them.
    """

    def __init__(self, sprites: list[Sprite], scenery: list[Sprite], drawn: bool = False):
        self._drawn = drawn
        self._by_noun: dict[str, SpritesByModel] = defaultdict(lambda: defaultdict(list))
        self._views: dict[tuple[str, tuple[str, ...]], list[Sprite]] = defaultdict(list)
        self._riders: SpritesByModel = defaultdict(list)  # seated persons without a seat
        self._ridden: dict[str, SpritesByModel] = defaultdict(lambda: defaultdict(list))  # rider and vehicle in one
        for sprite in sprites:
            self._views[sprite.model, sprite.colours].append(sprite)
            if sprite.needs_seat:
                self._riders[sprite.model].append(sprite)
            elif sprite.noun in RIDDEN and (sprite.pose or "").startswith("riding"):
                self._ridden[sprite.noun][sprite.model].append(sprite)
            else:
                self._by_noun[sprite.noun][sprite.model].append(sprite)
        self._scenery: dict[bool, SpritesByModel] = {True: defaultdict(list), False: defaultdict(list)}
        for sprite in scenery:
            for indoor, nouns in ((True, SCENERY_INDOORS), (False, SCENERY_OUTDOORS)):
                if sprite.noun in nouns:
                    self._scenery[indoor][sprite.model].append(sprite)
                    self._views[sprite.model, sprite.colours].append(sprite)
        self.nouns = sorted(self._by_noun)
        if self._ridden["cyclist"] or (self._riders and "bicycle" in self._by_noun):
            self.nouns = sorted({*self.nouns, "cyclist"})

    def sample(
        self, noun: str, elevation: float, azimuth: float | None, sunny: bool, rng: np.random.Generator
    ) -> Figure:
        """A figure of the noun with the nearest elevation (degrees) and azimuth (degrees; None: any) that exist."""
        if azimuth is None:
            azimuth = float(rng.uniform(0, 360))
        if noun == "cyclist" or (noun in RIDDEN and rng.random() < RIDDEN_SHARE):
            rider = self._sample_rider(noun, elevation, azimuth, sunny, rng)
            if rider:
                return rider
        drawn_noun = self._choose_drawn_noun(noun, rng)
        if drawn_noun:
            seed = _draw_seed(rng)
            return figure_of_drawn_vehicle(draw_kind(drawn_noun, seed), drawn_noun, elevation, azimuth, sunny, seed)
        return figure_of_sprite(
            self._sample_sprite(self._by_noun[noun], elevation, azimuth, sunny, rng), _draw_seed(rng)
        )

    def has_scenery(self, indoor: bool) -> bool:
        return bool(self._scenery[indoor])

    def sample_scenery(self, indoor: bool, elevation: float, sunny: bool, rng: np.random.Generator) -> Figure:
        """A figure of scenery. Requires `has_scenery(indoor)`."""
        azimuth = float(rng.uniform(0, 360))
        return figure_of_sprite(
            self._sample_sprite(self._scenery[indoor], elevation, azimuth, sunny, rng), _draw_seed(rng)
        )

    def turned(self, figure: Figure, azimuth: float) -> Figure:
        """The same individual at the nearest azimuth (degrees) that exists."""
        if figure.drawn_kind:
            return figure_of_drawn_vehicle(
                figure.drawn_kind, figure.noun, figure.elevation, azimuth, figure.sunlit, figure.augment_seed
            )
        sprites = [
            _nearest_view(self._views[s.model, s.colours], figure.elevation, azimuth, s.sunlit) for s in figure.sprites
        ]
        if len(sprites) == 1:
            return figure_of_sprite(sprites[0], figure.augment_seed)
        return figure_with_rider(sprites[0], sprites[1], figure.noun, figure.augment_seed)

    def _choose_drawn_noun(self, noun: str, rng: np.random.Generator) -> str | None:
        """Noun of the vehicle to draw, or None if a sprite is to be used."""
        if not self._drawn or noun not in DRAWN_SHARE:
            return None
        return choose_by_share(DRAWN_SHARE[noun], rng.random())

    def _sample_rider(
        self, noun: str, elevation: float, azimuth: float, sunny: bool, rng: np.random.Generator
    ) -> Figure | None:
        """A rider and a vehicle; None if there are no sprites for one."""
        mount_noun = "bicycle" if noun == "cyclist" else noun
        composes = bool(self._riders and self._by_noun[mount_noun])
        if self._ridden[noun] and (not composes or rng.random() < WHOLE_RIDER_SHARE):
            ridden = self._sample_sprite(self._ridden[noun], elevation, azimuth, sunny, rng)
            return figure_of_sprite(ridden, _draw_seed(rng))
        return self._sample_with_rider(mount_noun, noun, elevation, azimuth, sunny, rng) if composes else None

    def _sample_with_rider(
        self, mount_noun: str, noun: str, elevation: float, azimuth: float, sunny: bool, rng: np.random.Generator
    ) -> Figure:
        mount = self._sample_sprite(self._by_noun[mount_noun], elevation, azimuth, sunny, rng)
        rider = self._sample_sprite(self._riders, mount.elevation, mount.azimuth, sunny, rng)
        return figure_with_rider(mount, rider, noun, _draw_seed(rng))

    @staticmethod
    def _sample_sprite(
        models: SpritesByModel, elevation: float, azimuth: float, sunny: bool, rng: np.random.Generator
    ) -> Sprite:
        near = {name for name, views in models.items() if any(abs(s.elevation - elevation) <= NEAR for s in views)}
        names = sorted(near or models)
        shares = np.array([_model_weight(models[n][0]) for n in names])
        variants = models[names[int(rng.choice(len(names), p=shares / shares.sum()))]]
        palettes = sorted({s.colours for s in variants})
        weights = np.array([_palette_weight(variants[0].hypernym, c) for c in palettes])
        palette = palettes[int(rng.choice(len(palettes), p=weights / weights.sum()))]
        return _nearest_view([s for s in variants if s.colours == palette], elevation, azimuth, sunny)


def _nearest_view(variants: list[Sprite], elevation: float, azimuth: float, sunny: bool) -> Sprite:
    """The sprite nearest in elevation, then in azimuth, then in lighting; the file name breaks ties."""

    def distance(sprite: Sprite) -> tuple[float, float, bool, str]:
        turn = abs((sprite.azimuth - azimuth + 180) % 360 - 180)
        return abs(sprite.elevation - elevation), turn, sprite.sunlit != sunny, sprite.path.name

    return min(variants, key=distance)


def _model_weight(sprite: Sprite) -> float:
    return POSE_WEIGHT.get(sprite.pose or "", 1.0) * SUBTYPE_WEIGHT.get(sprite.subtype or "", 1.0)


def _palette_weight(hypernym: str, colours: tuple[str, ...]) -> float:
    """Relative frequency of a colouring. `colours`: the main one first; a person's second one is that of the legs."""
    main = colours[0] if colours else "grey"
    if hypernym == "vehicle":
        return VEHICLE_COLOUR.get(main, OTHER_COLOUR)
    if hypernym != "person":
        return 1.0
    legs = LEGS_COLOUR.get(colours[1], OTHER_LEGS_COLOUR) if len(colours) > 1 else OTHER_LEGS_COLOUR
    return PERSON_COLOUR.get(main, OTHER_COLOUR) * legs


def _draw_seed(rng: np.random.Generator) -> int:
    return int(rng.integers(2**31))

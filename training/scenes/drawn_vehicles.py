"""Vehicles that are drawn, not rendered from models: there are too few models of trucks and vans, and no pickup at all.

Every seed is a vehicle of its own proportions, colours and fittings; it looks the same from any side.
"""

from __future__ import annotations

import math

import numpy as np

from .solids import GLASS, LAMP, MATT, Decal, Drawing, Lighting, Material, Solid, draw_solids

# Kind -> what people call it; per noun, how often a kind is taken.
NOUN = {"pickup": "truck", "box_truck": "truck", "flatbed": "truck", "tipper": "truck", "van": "van", "minivan": "minivan",
        "suv": "suv", "jeep": "suv", "bus": "bus"}
KIND_WEIGHT = {"pickup": 0.36, "box_truck": 0.28, "flatbed": 0.2, "tipper": 0.16, "suv": 0.5, "jeep": 0.5}
# Streets are not as colourful as the sprites, which come evenly spread.
VEHICLE_COLOUR = {"white": 5.0, "black": 4.5, "grey": 3.0, "silver": 4.0, "blue": 1.5, "dark blue": 1.2, "red": 1.7}
OTHER_COLOUR = 0.6
WORKING_WHITE = 7.0  # weight of white for trucks, vans and buses, on top
# Name -> darkest and lightest paint that people call so, 0..1.
PAINT_RANGE = {
    "white": ((.86, .86, .84), (1.0, 1.0, 1.0)), "black": ((.06, .06, .065), (.16, .16, .17)),
    "grey": ((.30, .31, .32), (.48, .49, .50)), "silver": ((.62, .63, .65), (.76, .77, .79)),
    "blue": ((.08, .24, .58), (.22, .42, .85)), "dark blue": ((.05, .08, .24), (.11, .17, .40)),
    "light blue": ((.42, .62, .78), (.56, .76, .92)), "red": ((.62, .06, .06), (.92, .14, .13)),
    "dark red": ((.32, .04, .06), (.44, .09, .10)), "green": ((.08, .32, .14), (.25, .52, .28)),
    "yellow": ((.85, .66, .06), (.98, .82, .20)), "orange": ((.88, .38, .04), (.98, .52, .14)),
    "brown": ((.30, .18, .10), (.42, .27, .17)), "beige": ((.72, .65, .48), (.86, .78, .62)),
}
RUBBER, UNDER, TRIM = Material((.07, .07, .075), MATT), Material((.05, .05, .05), MATT), Material((.12, .12, .125), MATT)
ARCH, SEAM = Material((.03, .03, .03), MATT), Material((.10, .10, .11), MATT)
HEADLAMP, TAIL_LAMP, AMBER = Material((.82, .82, .78), LAMP), Material((.75, .06, .05), LAMP), Material((.9, .5, .1), LAMP)
NUMBER_PLATE = Material((.9, .9, .82), MATT)
LOADS = ((.45, .33, .2), (.55, .5, .42), (.35, .36, .38), (.62, .45, .25), (.2, .35, .5), (.8, .8, .78))
WHEEL_SIDES = 16
TALLEST_PANE_M = 0.68


def kind_of(noun: str, seed: int) -> str:
    """A kind of vehicle that is called by the noun."""
    kinds = [k for k, n in NOUN.items() if n == noun]
    weights = np.array([KIND_WEIGHT.get(k, 1.0) for k in kinds])
    return str(np.random.default_rng([seed, 1]).choice(kinds, p=weights / weights.sum()))


def draw_vehicle(kind: str, elevation: float, azimuth: float, sunny: bool, seed: int) -> tuple[Drawing, str, float]:
    """The picture, the name of its colour and the height in metres. The same seed is the same vehicle from every side."""
    vehicle = _Vehicle(kind, np.random.default_rng([seed, 2]))
    rng = np.random.default_rng([seed, 3])
    sun = None
    turn, rise = math.radians(rng.uniform(-120, 120)), math.radians(rng.uniform(30, 60))
    if sunny:
        sun = (math.sin(turn) * math.cos(rise), math.cos(turn) * math.cos(rise), math.sin(rise))
    lighting = Lighting(sun, float(rng.uniform(0.25, 1.0)))
    size = vehicle.length, vehicle.width, vehicle.height
    drawing = draw_solids([vehicle.below, vehicle.solids], vehicle.wheels, size, elevation, azimuth, lighting, rng)
    return drawing, vehicle.colour, vehicle.height


class _Vehicle:
    """Proportions and paint; `below` is drawn before the body, `wheels` after it."""

    def __init__(self, kind: str, rng: np.random.Generator):
        self.rng = rng
        self.solids: list[Solid] = []
        self.below: list[Solid] = []
        self.wheels: list[Solid] = []
        self.colour, self.paint = self._paint(working=NOUN[kind] in ("truck", "van", "bus"))
        shade = rng.uniform(0.03, 0.11)
        self.glass = Material((shade, shade * 1.08, shade * 1.15), GLASS)
        self.bumper = self.paint if rng.random() < 0.4 else TRIM
        self.hub = Material((float(rng.uniform(0.2, 0.65)),) * 3, MATT)
        getattr(self, "_" + kind)()

    def _paint(self, working: bool) -> tuple[str, Material]:
        names = list(PAINT_RANGE)
        weights = np.array([VEHICLE_COLOUR.get(n, OTHER_COLOUR) + (WORKING_WHITE if working and n == "white" else 0) for n in names])
        name = names[int(self.rng.choice(len(names), p=weights / weights.sum()))]
        return name, self._painted(name)

    def _painted(self, name: str) -> Material:
        low, high = np.array(PAINT_RANGE[name])
        mixed = low + (high - low) * np.clip(self.rng.random() + self.rng.uniform(-0.15, 0.15, 3), 0, 1)
        if np.ptp(low) < 0.04:  # what has no hue must not get one
            mixed = low + (high - low) * self.rng.random()
        return Material(tuple(float(v) for v in mixed))

    def _between(self, low: float, high: float) -> float:
        return float(self.rng.uniform(low, high))

    def _size(self, length: tuple[float, float], width: tuple[float, float], height: tuple[float, float]) -> None:
        self.length, self.width, self.height = (self._between(*v) for v in (length, width, height))

    def _box(self, x: tuple[float, float], y: tuple[float, float], z: tuple[float, float], material: Material,
             *decals: Decal) -> None:
        """Edges of its profile: 0 below, 1 front, 2 top, 3 rear (that one runs downwards)."""
        profile = ((x[0], z[0]), (x[1], z[0]), (x[1], z[1]), (x[0], z[1]))
        self.solids.append(Solid(profile, y, y, material, decals))

    def _wheels(self, radius: float, axles: tuple[float, ...], sill: float) -> None:
        """Tyres below the body, discs and arches on its flanks, and a dark floor."""
        outer, half = self.width / 2, self.length / 2
        angles = np.linspace(0, 2 * np.pi, WHEEL_SIDES, endpoint=False)
        for x in axles:
            ring = [tuple((float(x + r * np.cos(a)), float(radius + r * np.sin(a))) for a in angles)
                    for r in (radius, 0.62 * radius, 0.25 * radius)]
            arch = tuple((float(x + 1.2 * radius * np.cos(a)), float(max(sill, radius + 1.2 * radius * np.sin(a)))) for a in angles)
            discs = [Decal("sides", ring[0], RUBBER), Decal("sides", ring[1], self.hub), Decal("sides", ring[2], TRIM)]
            for side in (-1, 1):
                tyre = sorted((side * (outer - 0.26), side * (outer - 0.02)))
                self.below.append(Solid(ring[0][::2], tuple(tyre), tuple(tyre), RUBBER))
                flat = sorted((side * outer, side * (outer + 0.001)))
                self.wheels.append(Solid(arch, tuple(flat), tuple(flat), ARCH, tuple(discs)))
        self.below.append(Solid(((-half + .2, .55 * radius), (half - .2, .55 * radius), (half - .2, sill + .02), (-half + .2, sill + .02)),
                                (-outer + .3, outer - .3), (-outer + .3, outer - .3), UNDER))

    # -- parts ------------------------------------------------------------------------------------------------------

    def _front(self, face: int, lamps: float, grille: tuple[float, float]) -> list[Decal]:
        """Lamps, grille, bumper and number plate on a face whose second coordinate runs upwards."""
        wide = self._between(0.13, 0.2)
        g0, g1 = grille
        return [Decal(face, _rect(0, 1, 0, 0.26), self.bumper), Decal(face, _rect(wide + .06, 1 - wide - .06, g0, g1), TRIM),
                Decal(face, _rect(.03, wide, lamps - .12, lamps + .1), HEADLAMP),
                Decal(face, _rect(1 - wide, .97, lamps - .12, lamps + .1), HEADLAMP),
                Decal(face, _rect(.38, .62, .08, .2), NUMBER_PLATE)]

    def _rear(self, face: int = 3, lamps: tuple[float, float] = (.2, .5), doors: bool = False) -> list[Decal]:
        """The same for the rear; the second coordinate runs downwards."""
        wide = self._between(0.07, 0.14)
        seam = [Decal(face, _rect(.495, .505, 0, .8), SEAM)] if doors else []
        return [*seam, Decal(face, _rect(0, 1, .78, 1), self.bumper), Decal(face, _rect(.02, wide, *lamps), TAIL_LAMP),
                Decal(face, _rect(1 - wide, .98, *lamps), TAIL_LAMP), Decal(face, _rect(.38, .62, .6, .72), NUMBER_PLATE)]

    def _cabin(self, x: tuple[float, float], z: tuple[float, float], rake: tuple[float, float], narrow: float,
               windows: tuple[tuple[float, float], ...], rear_glass: bool) -> None:
        """The part with windows: `rake` is how far the roof is shorter at the rear and at the front; `windows` in shares of the length."""
        (xr, xf), (z0, z1), (back, front) = x, z, rake
        profile = ((xr, z0), (xf, z0), (xf - front, z1), (xr + back, z1))

        def at(u: float, v: float) -> tuple[float, float]:
            low, high = xr + u * (xf - xr), xr + back + u * (xf - front - xr - back)
            return low + v * (high - low), z0 + v * (z1 - z0)

        top = min(.86, .1 + TALLEST_PANE_M / (z1 - z0))
        decals = [Decal("sides", (at(a, .1), at(b, .1), at(b, top), at(a, top)), self.glass) for a, b in windows]
        decals.append(Decal(1, _rect(.05, .95, .06, .9), self.glass))
        if rear_glass:
            decals.append(Decal(3, _rect(.1, .9, .14, .85), self.glass))
        half = self.width / 2
        self.solids.append(Solid(profile, (-half, half), (-half * narrow, half * narrow), self.paint, tuple(decals)))

    def _nose(self, x: tuple[float, float], sill: float, edge: float, belt: float) -> None:
        """A bonnet, higher at the windscreen than above the grille."""
        half = self.width / 2
        profile = ((x[0], sill), (x[1], sill), (x[1], edge), (x[0], belt))
        seams = [Decal(2, _rect(.08, .09, 0, 1), SEAM), Decal(2, _rect(.91, .92, 0, 1), SEAM)]
        self.solids.append(Solid(profile, (-half, half), (-half, half), self.paint,
                                 (*self._front(1, .68, (.42, .8)), *seams)))

    def _mirrors(self, x: float, z: float, tall: float) -> None:
        half = self.width / 2
        for y in ((-half - .2, -half - .01), (half + .01, half + .2)):
            self._box((x - .1, x), y, (z, z + tall), self.paint if self.rng.random() < .3 and tall < .25 else TRIM)

    def _seams(self, xs: list[float], z0: float, z1: float) -> list[Decal]:
        return [Decal("sides", _rect(x, x + .025, z0, z1), SEAM) for x in xs]

    # -- kinds ------------------------------------------------------------------------------------------------------

    def _pickup(self) -> None:
        self._size((4.9, 5.8), (1.78, 2.05), (1.68, 1.95))
        half, side, sill = self.length / 2, self.width / 2, self._between(.38, .55)
        belt = self._between(1.05, 1.2) + (sill - .4) * .5
        nose, bed = self._between(1.1, 1.4), self._between(1.35, 2.1)
        cab = (-half + bed, half - nose)
        self._nose((cab[1], half), sill, belt - self._between(.05, .16), belt)
        double = cab[1] - cab[0] > 1.9
        self._box(cab, (-side, side), (sill, belt), self.paint,
                  *self._seams([cab[0] + .05, cab[1] - .1] + ([sum(cab) / 2] if double else []), sill + .1, belt))
        windows = ((.06, .46), (.52, .93)) if double else ((.1, .92),)
        self._cabin(cab, (belt, self.height), (self._between(.05, .25), self._between(.45, .75)), .84, windows, True)
        self._tray((-half, cab[0]), sill, sill + .32, belt + self._between(-.05, .05), self.paint, self._rear(lamps=(.05, .55)))
        self._mirrors(cab[1] - .25, belt, .18)
        self._wheels(self._between(.36, .43), (-half + bed * .52, half - nose * .62), sill)

    def _tray(self, x: tuple[float, float], under: float, floor: float, top: float, material: Material, rear: list[Decal],
              ribs: int = 0) -> None:
        """An open bed, sometimes with a load."""
        side, wall = self.width / 2, .07
        inside = Material(tuple(.55 * v for v in material.rgb), MATT) if self.rng.random() < .5 else TRIM
        self._box(x, (-side, side), (under, floor), material)
        marks = [Decal("sides", _rect(a, a + .08, floor, top), Material(tuple(.7 * v for v in material.rgb)))
                 for a in np.linspace(x[0] + .1, x[1] - .2, ribs)] if ribs else []
        if top - floor > .1:
            dark = [Decal("sides", _rect(*x, floor, top), inside)]
            for y in (-side, side - wall):
                # The inner side is the one that looks to the middle; a wall is two skins, so that it may have its own colour.
                inner = (y + wall - .01, y + wall) if y < 0 else (y, y + .01)
                outer = (y, y + wall - .01) if y < 0 else (y + .01, y + wall)
                self._box(x, inner, (floor, top), inside, *dark)
                self._box(x, outer, (floor, top), material, *marks)
            within = (-side + wall, side - wall)
            self._box((x[0], x[0] + wall), within, (floor, top), material, *rear, Decal(1, _rect(0, 1, 0, 1), inside))
            self._box((x[1] - wall, x[1]), within, (floor, top), material, Decal(3, _rect(0, 1, 0, 1), inside))
        self._box((x[0] + wall, x[1] - wall), (-side + wall, side - wall), (floor, floor + .01), inside)
        if self.rng.random() < .4:
            start = x[0] + wall + .05
            while start < x[1] - .6:
                end = min(start + self._between(.5, 1.6), x[1] - wall - .05)
                colour = LOADS[int(self.rng.integers(len(LOADS)))]
                across = side - wall - self._between(.03, .3)
                self._box((start, end), (-across, across), (floor + .02, floor + self._between(.25, .9)), Material(colour, MATT))
                start = end + self._between(.02, .8)

    def _lorry(self, cab: float, belt: float, roof: float, sill: float) -> float:
        """A cab-over cab with its frame and mirrors; the x of its rear wall."""
        half, side = self.length / 2, self.width / 2
        rear = half - cab
        self._box((rear, half), (-side, side), (sill, belt), self.paint, *self._front(1, .5, (.5, .85)),
                  *self._seams([half - .2, rear + cab * .3], sill + .1, belt), Decal(1, _rect(.02, .1, .3, .36), AMBER))
        self._cabin((rear, half), (belt, roof), (self._between(0, .08), self._between(.12, .4)), .93, ((.34, .92),), self.rng.random() < .4)
        self._mirrors(half - .15, belt + .15, .45)
        return rear

    def _frame(self, rear: float, z: tuple[float, float]) -> None:
        self._box((-self.length / 2, rear - .02), (-self.width / 2 + .3, self.width / 2 - .3), z, UNDER,
                  Decal(3, _rect(.02, .16, .1, .6), TAIL_LAMP), Decal(3, _rect(.84, .98, .1, .6), TAIL_LAMP))

    def _axles(self, radius: float, sill: float) -> None:
        half = self.length / 2
        rear = (-half + self.length * .2,)
        if self.length > 8:
            rear += (-half + self.length * .2 + 2.3 * radius,)
        self._wheels(radius, (*rear, half - self._between(.75, 1.1)), sill)

    def _box_truck(self) -> None:
        self._size((5.8, 9.0), (2.05, 2.5), (2.7, 3.5))
        sill, floor = self._between(.42, .55), self._between(.85, 1.1)
        rear = self._lorry(self._between(1.5, 2.0), self._between(1.25, 1.5), self.height * self._between(.68, .86), sill)
        self._frame(rear, (sill + .1, floor))
        body, side, half = self.paint, self.width / 2, self.length / 2
        if self.rng.random() < .3:  # more of it is seen than of the cab
            self.colour = str(self.rng.choice(["white", "silver", "grey"], p=[.65, .2, .15]))
            body = self._painted(self.colour)
        x = (-half, rear - self._between(.06, .2))
        decals = [Decal(3, _rect(.495, .505, 0, 1), SEAM), Decal("sides", _rect(*x, floor, floor + .1), TRIM),
                  Decal(3, _rect(0, 1, .94, 1), TRIM)]
        if self.rng.random() < .35:  # lettering
            colour = PAINT_RANGE[str(self.rng.choice(list(PAINT_RANGE)))][0]
            a, z = self._between(.1, .4), floor + (self.height - floor) * self._between(.4, .6)
            length = x[1] - x[0]
            decals.append(Decal("sides", _rect(x[0] + a * length, x[0] + (a + .45) * length, z, z + self._between(.2, .5)), Material(colour)))
        self._box(x, (-side, side), (floor, self.height), body, *decals)
        self._axles(self._between(.4, .5), sill + .3)

    def _flatbed(self) -> None:
        self._size((5.2, 8.5), (1.95, 2.45), (2.1, 2.7))
        sill, floor = self._between(.4, .5), self._between(.8, 1.05)
        rear = self._lorry(self._between(1.45, 1.9), self._between(1.15, 1.35), self.height, sill)
        self._frame(rear, (sill + .1, floor - .12))
        bed = self.paint if self.rng.random() < .4 else self._painted(str(self.rng.choice(["grey", "silver", "brown"])))
        self._tray((-self.length / 2, rear - .1), floor - .12, floor, floor + self._between(0, .55), bed, [])
        self._axles(self._between(.36, .46), sill + .25)

    def _tipper(self) -> None:
        self._size((6.0, 8.6), (2.3, 2.55), (2.6, 3.1))
        sill, floor = self._between(.48, .6), self._between(1.05, 1.25)
        rear = self._lorry(self._between(1.6, 2.1), self._between(1.4, 1.6), self.height, sill)
        self._frame(rear, (sill + .1, floor - .15))
        bed = self.paint if self.rng.random() < .55 else self._painted(str(self.rng.choice(["grey", "silver"])))
        self._tray((-self.length / 2, rear - .12), floor - .15, floor, floor + self._between(.7, 1.3), bed, [], ribs=int(self.rng.integers(4, 9)))
        self._axles(self._between(.46, .54), sill + .35)

    def _wagon(self, nose: float, sill: float, edge: float, belt: float, rake: tuple[float, float], narrow: float,
               windows: tuple[tuple[float, float], ...], rear_glass: bool, seams: tuple[float, ...], wheel: float) -> None:
        """One body behind a bonnet."""
        half, side = self.length / 2, self.width / 2
        x = (-half, half - nose)
        length = x[1] - x[0]
        self._nose((x[1], half), sill, edge, belt)
        self._box(x, (-side, side), (sill, belt), self.paint, *self._rear(lamps=(.02, .45), doors=not rear_glass or self.height > 2.1),
                  *self._seams([x[0] + s * length for s in seams], sill + .1, belt))
        self._cabin(x, (belt, self.height), rake, narrow, windows, rear_glass)
        self._mirrors(x[1] - .35, belt, .2)
        self._wheels(wheel, (-half + self.length * self._between(.17, .21), half - max(.55 * nose, .75)), sill)

    def _van(self) -> None:
        self._size((4.7, 6.2), (1.85, 2.1), (1.9, 2.7))
        belt = self._between(1.05, 1.25)
        door = 1 - 1.15 / self.length
        windows = [(door - .08, .93)]
        if self.rng.random() < .35:  # for people, not for parcels
            windows += [(.04, .36), (.39, door - .12)]
        self._wagon(self._between(.6, 1.0), self._between(.25, .38), belt - self._between(.15, .3), belt,
                    (self._between(0, .12), self._between(.6, 1.0)), .9, tuple(windows), self.rng.random() < .6,
                    (door - .1, door - .36, .96), self._between(.31, .37))

    def _minivan(self) -> None:
        self._size((4.3, 5.1), (1.75, 2.0), (1.62, 1.82))
        belt = self._between(.92, 1.02)
        self._wagon(self._between(.75, 1.0), self._between(.24, .32), belt - self._between(.15, .25), belt,
                    (self._between(.15, .4), self._between(.85, 1.2)), .83, ((.04, .3), (.33, .62), (.65, .94)), True, (.35, .65, .97),
                    self._between(.31, .35))

    def _suv(self) -> None:
        self._size((4.3, 5.0), (1.78, 2.02), (1.66, 1.9))
        belt = self._between(1.0, 1.12)
        self._wagon(self._between(1.0, 1.3), self._between(.3, .42), belt - self._between(.1, .2), belt,
                    (self._between(.12, .4), self._between(.5, .75)), .84, ((.04, .27), (.31, .6), (.64, .93)), True, (.33, .63, .97),
                    self._between(.35, .4))
        if self.rng.random() < .5:
            for y in (-.62, .58):  # roof rails
                self._box((-self.length * .35, self.length * .08), (y, y + .05), (self.height, self.height + .05), TRIM)

    def _jeep(self) -> None:
        self._size((3.7, 4.6), (1.65, 1.9), (1.72, 2.0))
        belt = self._between(1.08, 1.2)
        self._wagon(self._between(1.05, 1.35), self._between(.42, .55), belt - self._between(.02, .08), belt,
                    (self._between(0, .08), self._between(.1, .3)), .92, ((.05, .4), (.46, .92)), True, (.43, .95), self._between(.37, .43))
        if self.rng.random() < .6:
            x, z, radius = -self.length / 2, self._between(.9, 1.05), .36
            self._box((x - .22, x - .01), (-radius, radius), (z - .7 * radius, z + radius), RUBBER,
                      Decal(3, tuple((.5 + .32 * math.cos(a), .5 + .32 * math.sin(a)) for a in np.linspace(0, 5.5, 8)), self.hub))

    def _bus(self) -> None:
        self._size((8.5, 12.2), (2.4, 2.55), (2.8, 3.3))
        half, side, sill, belt = self.length / 2, self.width / 2, self._between(.3, .4), self._between(1.2, 1.45)
        stripe = Decal("sides", _rect(-half, half, sill + .3, sill + .3 + self._between(.1, .35)), self._painted(str(self.rng.choice(list(PAINT_RANGE)))))
        doors = [Decal("sides", _rect(x, x + 1.1, sill + .08, belt), self.glass) for x in (half - 1.6, -.3)]
        self._box((-half, half), (-side, side), (sill, belt), self.paint, *([stripe] if self.rng.random() < .5 else []), *doors,
                  *self._front(1, .5, (.4, .5)), *self._rear(lamps=(.2, .5)))
        count = int(self.rng.integers(5, 9))
        panes = tuple(((i + .04) / count * .96 + .02, (i + .96) / count * .96 + .02) for i in range(count))
        self._cabin((-half, half), (belt, self.height), (self._between(0, .15), self._between(.05, .4)), .97, panes, True)
        if self.rng.random() < .6:
            self._box((-half * .5, -half * .1), (-.7, .7), (self.height, self.height + .2), self.paint)
        self._mirrors(half - .1, self.height - .9, .4)
        self._wheels(self._between(.46, .52), (-half + self.length * .25, half - self.length * .22), sill)


def _rect(u0: float, u1: float, v0: float, v1: float) -> tuple[tuple[float, float], ...]:
    return (u0, v0), (u1, v0), (u1, v1), (u0, v1)

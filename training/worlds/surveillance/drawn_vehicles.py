"""Drawn vehicles: random trucks, vans, SUVs and buses made of solids.

The sprites have few models of trucks and vans and no pickup. Every seed is another vehicle, with its own proportions,
colours and fittings, which is the same from every azimuth.
"""

from __future__ import annotations

import math

import numpy as np

from training.worlds.surveillance.solids import Decal, Drawing, Lighting, Material, draw_solids
from training.worlds.surveillance.vehicle_paint import PAINT_RANGE, RUBBER, SEAM, TRIM
from training.worlds.surveillance.vehicle_parts import VehicleParts, rect

# Kind of vehicle -> noun in a caption.
NOUN = {
    "pickup": "truck",
    "box_truck": "truck",
    "flatbed": "truck",
    "tipper": "truck",
    "van": "van",
    "minivan": "minivan",
    "suv": "suv",
    "jeep": "suv",
    "bus": "bus",
}
# Relative frequency of a kind among those of its noun; 1 for kinds that are not listed.
KIND_WEIGHT = {"pickup": 0.36, "box_truck": 0.28, "flatbed": 0.2, "tipper": 0.16, "suv": 0.5, "jeep": 0.5}


def draw_kind(noun: str, seed: int) -> str:
    """A random kind of vehicle with that noun."""
    kinds = [k for k, n in NOUN.items() if n == noun]
    weights = np.array([KIND_WEIGHT.get(k, 1.0) for k in kinds])
    return str(np.random.default_rng([seed, 1]).choice(kinds, p=weights / weights.sum()))


def draw_vehicle(kind: str, elevation: float, azimuth: float, sunny: bool, seed: int) -> tuple[Drawing, str, float]:
    """The drawing, the name of its colour and its height in metres; angles are in degrees as in Sprite."""
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


class _Vehicle(VehicleParts):
    """One method per kind, which draws the sizes and adds the parts."""

    def __init__(self, kind: str, rng: np.random.Generator):
        super().__init__(NOUN[kind] in ("truck", "van", "bus") and kind != "pickup", rng)
        getattr(self, "_" + kind)()

    def _pickup(self) -> None:
        self._draw_size((4.9, 5.8), (1.78, 2.05), (1.68, 1.95))
        half, side, sill = self.length / 2, self.width / 2, self._uniform(0.38, 0.55)
        belt = self._uniform(1.05, 1.2) + (sill - 0.4) * 0.5
        nose, bed = self._uniform(1.1, 1.4), self._uniform(1.35, 2.1)
        cab = (-half + bed, half - nose)
        self._bonnet((cab[1], half), sill, belt - self._uniform(0.05, 0.16), belt)
        double = cab[1] - cab[0] > 1.9
        self._box(
            cab,
            (-side, side),
            (sill, belt),
            self.paint,
            *self._seams([cab[0] + 0.05, cab[1] - 0.1] + ([sum(cab) / 2] if double else []), sill + 0.1, belt),
        )
        windows = ((0.06, 0.46), (0.52, 0.93)) if double else ((0.1, 0.92),)
        self._cabin(
            cab, (belt, self.height), (self._uniform(0.05, 0.25), self._uniform(0.45, 0.75)), 0.84, windows, True
        )
        self._open_bed(
            (-half, cab[0]),
            sill,
            sill + 0.32,
            belt + self._uniform(-0.05, 0.05),
            self.paint,
            self._rear(lamps=(0.05, 0.55)),
        )
        self._mirrors(cab[1] - 0.25, belt, 0.18)
        self._wheels(self._uniform(0.36, 0.43), (-half + bed * 0.52, half - nose * 0.62), sill)

    def _box_truck(self) -> None:
        self._draw_size((5.8, 9.0), (2.05, 2.5), (2.7, 3.5))
        sill, floor = self._uniform(0.42, 0.55), self._uniform(0.85, 1.1)
        rear = self._truck_cab(
            self._uniform(1.5, 2.0), self._uniform(1.25, 1.5), self.height * self._uniform(0.68, 0.86), sill
        )
        self._chassis(rear, (sill + 0.1, floor))
        body, side, half = self.paint, self.width / 2, self.length / 2
        if self.rng.random() < 0.3:  # the colour of the box is named, because it is larger than the cab
            self.colour = str(self.rng.choice(["white", "silver", "grey"], p=[0.65, 0.2, 0.15]))
            body = self._paint_of(self.colour)
        x = (-half, rear - self._uniform(0.06, 0.2))
        decals = [
            Decal(3, rect(0.495, 0.505, 0, 1), SEAM),
            Decal("sides", rect(*x, floor, floor + 0.1), TRIM),
            Decal(3, rect(0, 1, 0.94, 1), TRIM),
        ]
        if self.rng.random() < 0.35:  # lettering
            colour = PAINT_RANGE[str(self.rng.choice(list(PAINT_RANGE)))][0]
            a, z = self._uniform(0.1, 0.4), floor + (self.height - floor) * self._uniform(0.4, 0.6)
            length = x[1] - x[0]
            words = rect(x[0] + a * length, x[0] + (a + 0.45) * length, z, z + self._uniform(0.2, 0.5))
            decals.append(Decal("sides", words, Material(colour)))
        self._box(x, (-side, side), (floor, self.height), body, *decals)
        self._truck_axles(self._uniform(0.4, 0.5), sill + 0.3)

    def _flatbed(self) -> None:
        self._draw_size((5.2, 8.5), (1.95, 2.45), (2.1, 2.7))
        sill, floor = self._uniform(0.4, 0.5), self._uniform(0.8, 1.05)
        rear = self._truck_cab(self._uniform(1.45, 1.9), self._uniform(1.15, 1.35), self.height, sill)
        self._chassis(rear, (sill + 0.1, floor - 0.12))
        bed = (
            self.paint if self.rng.random() < 0.4 else self._paint_of(str(self.rng.choice(["grey", "silver", "brown"])))
        )
        self._open_bed((-self.length / 2, rear - 0.1), floor - 0.12, floor, floor + self._uniform(0, 0.55), bed, [])
        self._truck_axles(self._uniform(0.36, 0.46), sill + 0.25)

    def _tipper(self) -> None:
        self._draw_size((6.0, 8.6), (2.3, 2.55), (2.6, 3.1))
        sill, floor = self._uniform(0.48, 0.6), self._uniform(1.05, 1.25)
        rear = self._truck_cab(self._uniform(1.6, 2.1), self._uniform(1.4, 1.6), self.height, sill)
        self._chassis(rear, (sill + 0.1, floor - 0.15))
        bed = self.paint if self.rng.random() < 0.55 else self._paint_of(str(self.rng.choice(["grey", "silver"])))
        top, ribs = floor + self._uniform(0.7, 1.3), int(self.rng.integers(4, 9))
        self._open_bed((-self.length / 2, rear - 0.12), floor - 0.15, floor, top, bed, [], ribs)
        self._truck_axles(self._uniform(0.46, 0.54), sill + 0.35)

    def _wagon(
        self,
        nose: float,
        sill: float,
        edge: float,
        belt: float,
        rake: tuple[float, float],
        narrow: float,
        windows: tuple[tuple[float, float], ...],
        rear_glass: bool,
        seams: tuple[float, ...],
        wheel: float,
    ) -> None:
        """A body with windows behind a bonnet: the parameters of _bonnet and _cabin.

        `nose`: length of the bonnet. `seams`: door seams as fractions of the length. `wheel`: radius.
        """
        half, side = self.length / 2, self.width / 2
        x = (-half, half - nose)
        length = x[1] - x[0]
        self._bonnet((x[1], half), sill, edge, belt)
        self._box(
            x,
            (-side, side),
            (sill, belt),
            self.paint,
            *self._rear(lamps=(0.02, 0.45), doors=not rear_glass or self.height > 2.1),
            *self._seams([x[0] + s * length for s in seams], sill + 0.1, belt),
        )
        self._cabin(x, (belt, self.height), rake, narrow, windows, rear_glass)
        self._mirrors(x[1] - 0.35, belt, 0.2)
        self._wheels(wheel, (-half + self.length * self._uniform(0.17, 0.21), half - max(0.55 * nose, 0.75)), sill)

    def _van(self) -> None:
        self._draw_size((4.7, 6.2), (1.85, 2.1), (2.0, 2.7))
        belt = self._uniform(1.05, 1.25)
        door = 1 - 1.15 / self.length
        windows = [(door - 0.08, 0.93)]
        if self.rng.random() < 0.35:  # a passenger van
            windows += [(0.04, 0.36), (0.39, door - 0.12)]
        self._wagon(
            self._uniform(0.6, 1.0),
            self._uniform(0.25, 0.38),
            belt - self._uniform(0.2, 0.38),
            belt,
            (self._uniform(0, 0.12), self._uniform(0.6, 1.0)),
            0.9,
            tuple(windows),
            self.rng.random() < 0.6,
            (door - 0.1, door - 0.36, 0.96),
            self._uniform(0.31, 0.37),
        )

    def _minivan(self) -> None:
        self._draw_size((4.3, 5.1), (1.75, 2.0), (1.62, 1.82))
        belt = self._uniform(0.92, 1.02)
        self._wagon(
            self._uniform(0.75, 1.0),
            self._uniform(0.24, 0.32),
            belt - self._uniform(0.15, 0.25),
            belt,
            (self._uniform(0.15, 0.4), self._uniform(0.85, 1.2)),
            0.83,
            ((0.04, 0.3), (0.33, 0.62), (0.65, 0.94)),
            True,
            (0.35, 0.65, 0.97),
            self._uniform(0.31, 0.35),
        )

    def _suv(self) -> None:
        self._draw_size((4.3, 5.0), (1.78, 2.02), (1.66, 1.9))
        belt = self._uniform(1.0, 1.12)
        self._wagon(
            self._uniform(1.0, 1.3),
            self._uniform(0.3, 0.42),
            belt - self._uniform(0.1, 0.2),
            belt,
            (self._uniform(0.12, 0.4), self._uniform(0.5, 0.75)),
            0.84,
            ((0.04, 0.27), (0.31, 0.6), (0.64, 0.93)),
            True,
            (0.33, 0.63, 0.97),
            self._uniform(0.35, 0.4),
        )
        if self.rng.random() < 0.5:
            for y in (-0.62, 0.58):  # roof rails
                self._box(
                    (-self.length * 0.35, self.length * 0.08), (y, y + 0.05), (self.height, self.height + 0.05), TRIM
                )

    def _jeep(self) -> None:
        self._draw_size((3.7, 4.6), (1.65, 1.9), (1.72, 2.0))
        belt = self._uniform(1.08, 1.2)
        self._wagon(
            self._uniform(1.05, 1.35),
            self._uniform(0.42, 0.55),
            belt - self._uniform(0.02, 0.08),
            belt,
            (self._uniform(0, 0.08), self._uniform(0.1, 0.3)),
            0.92,
            ((0.05, 0.4), (0.46, 0.92)),
            True,
            (0.43, 0.95),
            self._uniform(0.37, 0.43),
        )
        if self.rng.random() < 0.6:
            x, z, radius = -self.length / 2, self._uniform(0.9, 1.05), 0.36
            self._box(
                (x - 0.22, x - 0.01),
                (-radius, radius),
                (z - 0.7 * radius, z + radius),
                RUBBER,
                Decal(
                    3,
                    tuple((0.5 + 0.32 * math.cos(a), 0.5 + 0.32 * math.sin(a)) for a in np.linspace(0, 5.5, 8)),
                    self.hub,
                ),
            )

    def _bus(self) -> None:
        self._draw_size((8.5, 12.2), (2.4, 2.55), (2.8, 3.3))
        half, side, sill, belt = self.length / 2, self.width / 2, self._uniform(0.3, 0.4), self._uniform(1.2, 1.45)
        colour = self._paint_of(str(self.rng.choice(list(PAINT_RANGE))))
        stripe = Decal("sides", rect(-half, half, sill + 0.3, sill + 0.3 + self._uniform(0.1, 0.35)), colour)
        doors = [Decal("sides", rect(x, x + 1.1, sill + 0.08, belt), self.glass) for x in (half - 1.6, -0.3)]
        self._box(
            (-half, half),
            (-side, side),
            (sill, belt),
            self.paint,
            *([stripe] if self.rng.random() < 0.5 else []),
            *doors,
            *self._front(1, 0.5, (0.4, 0.5)),
            *self._rear(lamps=(0.2, 0.5)),
        )
        count = int(self.rng.integers(5, 9))
        panes = tuple(((i + 0.04) / count * 0.96 + 0.02, (i + 0.96) / count * 0.96 + 0.02) for i in range(count))
        self._cabin(
            (-half, half), (belt, self.height), (self._uniform(0, 0.15), self._uniform(0.05, 0.4)), 0.97, panes, True
        )
        if self.rng.random() < 0.6:
            self._box((-half * 0.5, -half * 0.1), (-0.7, 0.7), (self.height, self.height + 0.2), self.paint)
        self._mirrors(half - 0.1, self.height - 0.9, 0.4)
        self._wheels(self._uniform(0.46, 0.52), (-half + self.length * 0.25, half - self.length * 0.22), sill)

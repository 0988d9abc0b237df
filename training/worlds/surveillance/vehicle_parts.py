"""Parts of drawn vehicles: bonnets, cabins, truck cabs, open beds and wheels, as convex solids."""

from __future__ import annotations

import numpy as np

from training.worlds.surveillance.solids import GLASS, MATT, Decal, Material, Solid
from training.worlds.surveillance.vehicle_paint import (
    ARCH,
    COMMERCIAL_FACTOR,
    HEADLAMP,
    INDICATOR,
    LOAD_COLOURS,
    NUMBER_PLATE,
    OTHER_COLOUR,
    PAINT_RANGE,
    RUBBER,
    SEAM,
    TAIL_LAMP,
    TRIM,
    UNDERSIDE,
    VEHICLE_COLOUR,
)

WHEEL_SIDES = 16  # corners of the polygon that stands for a wheel
MAX_PANE_M = 0.68  # height of a side window
BED_WALL_M = 0.07  # thickness of the walls of an open bed


class VehicleParts:
    """Solids of one vehicle, and methods that add its parts. All lengths are in metres, axes as in solids.py.

    `below` is drawn before `solids`, `wheels` after them. In all methods x, y and z are (low, high) ranges; `sill` is
    the height of the lower edge of the body, `belt` that of the lower edge of the windows.
    """

    def __init__(self, commercial: bool, rng: np.random.Generator):
        self.rng = rng
        self.length = self.width = self.height = 0.0
        self.solids: list[Solid] = []
        self.below: list[Solid] = []
        self.wheels: list[Solid] = []
        self.colour, self.paint = self._draw_paint(commercial)
        shade = rng.uniform(0.03, 0.11)
        self.glass = Material((shade, shade * 1.08, shade * 1.15), GLASS)
        self.bumper = self.paint if rng.random() < 0.4 else TRIM
        self.hub = Material((float(rng.uniform(0.2, 0.65)),) * 3, MATT)

    def _draw_paint(self, commercial: bool) -> tuple[str, Material]:
        names = list(PAINT_RANGE)
        weights = np.array(
            [
                VEHICLE_COLOUR.get(n, OTHER_COLOUR) * (COMMERCIAL_FACTOR.get(n, 1.0) if commercial else 1.0)
                for n in names
            ]
        )
        name = names[int(self.rng.choice(len(names), p=weights / weights.sum()))]
        return name, self._paint_of(name)

    def _paint_of(self, name: str) -> Material:
        """A random paint of that colour name."""
        low, high = np.array(PAINT_RANGE[name])
        mixed = low + (high - low) * np.clip(self.rng.random() + self.rng.uniform(-0.15, 0.15, 3), 0, 1)
        if np.ptp(low) < 0.04:  # a paint without hue stays without hue
            mixed = low + (high - low) * self.rng.random()
        return Material(tuple(float(v) for v in mixed))

    def _uniform(self, low: float, high: float) -> float:
        return float(self.rng.uniform(low, high))

    def _draw_size(self, length: tuple[float, float], width: tuple[float, float], height: tuple[float, float]) -> None:
        self.length, self.width, self.height = (self._uniform(*v) for v in (length, width, height))

    def _box(
        self, x: tuple[float, float], y: tuple[float, float], z: tuple[float, float], material: Material, *decals: Decal
    ) -> None:
        """A box. The edges of its profile are 0 bottom, 1 front, 2 top and 3 rear, which runs downwards."""
        profile = ((x[0], z[0]), (x[1], z[0]), (x[1], z[1]), (x[0], z[1]))
        self.solids.append(Solid(profile, y, y, material, decals))

    def _wheels(self, radius: float, axles: tuple[float, ...], sill: float) -> None:
        """Tyres, with discs and arches on the flanks, at the x positions `axles`; and the underside."""
        outer, half = self.width / 2, self.length / 2
        angles = np.linspace(0, 2 * np.pi, WHEEL_SIDES, endpoint=False)
        for x in axles:
            ring = [
                tuple((float(x + r * np.cos(a)), float(radius + r * np.sin(a))) for a in angles)
                for r in (radius, 0.62 * radius, 0.25 * radius)
            ]
            arch = tuple(
                (float(x + 1.2 * radius * np.cos(a)), float(max(sill, radius + 1.2 * radius * np.sin(a))))
                for a in angles
            )
            discs = [Decal("sides", ring[0], RUBBER), Decal("sides", ring[1], self.hub), Decal("sides", ring[2], TRIM)]
            for side in (-1, 1):
                tyre = sorted((side * (outer - 0.26), side * (outer - 0.02)))
                self.below.append(Solid(ring[0][::2], tuple(tyre), tuple(tyre), RUBBER))
                flat = sorted((side * outer, side * (outer + 0.001)))
                self.wheels.append(Solid(arch, tuple(flat), tuple(flat), ARCH, tuple(discs)))
        self.below.append(
            Solid(
                (
                    (-half + 0.2, 0.55 * radius),
                    (half - 0.2, 0.55 * radius),
                    (half - 0.2, sill + 0.02),
                    (-half + 0.2, sill + 0.02),
                ),
                (-outer + 0.3, outer - 0.3),
                (-outer + 0.3, outer - 0.3),
                UNDERSIDE,
            )
        )

    def _front(self, face: int, lamps: float, grille: tuple[float, float]) -> list[Decal]:
        """Lamps, grille, bumper and number plate on a face whose second coordinate runs upwards."""
        wide = self._uniform(0.13, 0.2)
        g0, g1 = grille
        return [
            Decal(face, rect(0, 1, 0, 0.26), self.bumper),
            Decal(face, rect(wide + 0.06, 1 - wide - 0.06, g0, g1), TRIM),
            Decal(face, rect(0.03, wide, lamps - 0.12, lamps + 0.1), HEADLAMP),
            Decal(face, rect(1 - wide, 0.97, lamps - 0.12, lamps + 0.1), HEADLAMP),
            Decal(face, rect(0.38, 0.62, 0.08, 0.2), NUMBER_PLATE),
        ]

    def _rear(self, face: int = 3, lamps: tuple[float, float] = (0.2, 0.5), doors: bool = False) -> list[Decal]:
        """Lamps, bumper and number plate of the rear, where the second coordinate runs downwards."""
        wide = self._uniform(0.07, 0.14)
        seam = [Decal(face, rect(0.495, 0.505, 0, 0.8), SEAM)] if doors else []
        return [
            *seam,
            Decal(face, rect(0, 1, 0.78, 1), self.bumper),
            Decal(face, rect(0.02, wide, *lamps), TAIL_LAMP),
            Decal(face, rect(1 - wide, 0.98, *lamps), TAIL_LAMP),
            Decal(face, rect(0.38, 0.62, 0.6, 0.72), NUMBER_PLATE),
        ]

    def _cabin(
        self,
        x: tuple[float, float],
        z: tuple[float, float],
        rake: tuple[float, float],
        narrow: float,
        windows: tuple[tuple[float, float], ...],
        rear_glass: bool,
    ) -> None:
        """The part with windows.

        `rake`: by how much the roof is shorter at the rear and at the front. `narrow`: width of the roof over that of
        the body. `windows`: start and end of each side window as fractions of the length.
        """
        (xr, xf), (z0, roof), (back, front) = x, z, rake
        z1 = roof - min(0.13, 0.16 * (roof - z0))
        profile = ((xr, z0), (xf, z0), (xf - front, z1), (xr + back, z1))

        def at(u: float, v: float) -> tuple[float, float]:
            low, high = xr + u * (xf - xr), xr + back + u * (xf - front - xr - back)
            return low + v * (high - low), z0 + v * (z1 - z0)

        top = min(0.86, 0.1 + MAX_PANE_M / (z1 - z0))
        decals = [Decal("sides", (at(a, 0.1), at(b, 0.1), at(b, top), at(a, top)), self.glass) for a, b in windows]
        decals.append(Decal(1, rect(0.05, 0.95, 0.06, 0.9), self.glass))
        if rear_glass:
            decals.append(Decal(3, rect(0.1, 0.9, 0.14, 0.85), self.glass))
        half = self.width / 2
        self.solids.append(Solid(profile, (-half, half), (-half * narrow, half * narrow), self.paint, tuple(decals)))
        # The roof is a flat cap with slanted sides, because sheet metal has no sharp edges.
        cap = ((xr + back, z1), (xf - front, z1), (xf - front - 0.22, roof), (xr + back + 0.1, roof))
        wide, flat = half * narrow, half * narrow - 0.12
        self.solids.append(Solid(cap, (-wide, wide), (-flat, flat), self.paint))

    def _bonnet(self, x: tuple[float, float], sill: float, edge: float, belt: float) -> None:
        """A bonnet, which is higher at the windscreen (`belt`) than above the grille (`edge`)."""
        half = self.width / 2
        round_off = self._uniform(0.05, 0.14)
        profile = ((x[0], sill), (x[1], sill), (x[1], edge - round_off), (x[1] - 1.5 * round_off, edge), (x[0], belt))
        seams = [Decal(3, rect(0.08, 0.09, 0, 1), SEAM), Decal(3, rect(0.91, 0.92, 0, 1), SEAM)]
        self.solids.append(
            Solid(profile, (-half, half), (-half, half), self.paint, (*self._front(1, 0.68, (0.42, 0.8)), *seams))
        )

    def _mirrors(self, x: float, z: float, height: float) -> None:
        half = self.width / 2
        for y in ((-half - 0.2, -half - 0.01), (half + 0.01, half + 0.2)):
            self._box(
                (x - 0.1, x), y, (z, z + height), self.paint if self.rng.random() < 0.3 and height < 0.25 else TRIM
            )

    def _seams(self, xs: list[float], z0: float, z1: float) -> list[Decal]:
        return [Decal("sides", rect(x, x + 0.025, z0, z1), SEAM) for x in xs]

    def _open_bed(
        self,
        x: tuple[float, float],
        under: float,
        floor: float,
        top: float,
        material: Material,
        rear: list[Decal],
        ribs: int = 0,
    ) -> None:
        """An open bed with its floor at `floor` and walls up to `top`, sometimes with a load. `ribs`: on each side."""
        side, wall = self.width / 2, BED_WALL_M
        inside = Material(tuple(0.55 * v for v in material.rgb), MATT) if self.rng.random() < 0.5 else TRIM
        self._box(x, (-side, side), (under, floor), material)
        marks = (
            [
                Decal("sides", rect(a, a + 0.08, floor, top), Material(tuple(0.7 * v for v in material.rgb)))
                for a in np.linspace(x[0] + 0.1, x[1] - 0.2, ribs)
            ]
            if ribs
            else []
        )
        if top - floor > 0.1:
            dark = [Decal("sides", rect(*x, floor, top), inside)]
            for y in (-side, side - wall):
                # A wall is two skins, so that the inner one can have another colour.
                inner = (y + wall - 0.01, y + wall) if y < 0 else (y, y + 0.01)
                outer = (y, y + wall - 0.01) if y < 0 else (y + 0.01, y + wall)
                self._box(x, inner, (floor, top), inside, *dark)
                self._box(x, outer, (floor, top), material, *marks)
            within = (-side + wall, side - wall)
            self._box((x[0], x[0] + wall), within, (floor, top), material, *rear, Decal(1, rect(0, 1, 0, 1), inside))
            self._box((x[1] - wall, x[1]), within, (floor, top), material, Decal(3, rect(0, 1, 0, 1), inside))
        self._box((x[0] + wall, x[1] - wall), (-side + wall, side - wall), (floor, floor + 0.01), inside)
        if self.rng.random() < 0.4:
            start = x[0] + wall + 0.05
            while start < x[1] - 0.6:
                end = min(start + self._uniform(0.5, 1.6), x[1] - wall - 0.05)
                colour = LOAD_COLOURS[int(self.rng.integers(len(LOAD_COLOURS)))]
                across = side - wall - self._uniform(0.03, 0.3)
                self._box(
                    (start, end),
                    (-across, across),
                    (floor + 0.02, floor + self._uniform(0.25, 0.9)),
                    Material(colour, MATT),
                )
                start = end + self._uniform(0.02, 0.8)

    def _truck_cab(self, length: float, belt: float, roof: float, sill: float) -> float:
        """A cab-over cab with mirrors. Returns the x of its rear wall."""
        half, side = self.length / 2, self.width / 2
        rear = half - length
        self._box(
            (rear, half),
            (-side, side),
            (sill, belt),
            self.paint,
            *self._front(1, 0.5, (0.5, 0.85)),
            *self._seams([half - 0.2, rear + length * 0.3], sill + 0.1, belt),
            Decal(1, rect(0.02, 0.1, 0.3, 0.36), INDICATOR),
        )
        self._cabin(
            (rear, half),
            (belt, roof),
            (self._uniform(0, 0.08), self._uniform(0.12, 0.4)),
            0.93,
            ((0.34, 0.92),),
            self.rng.random() < 0.4,
        )
        self._mirrors(half - 0.15, belt + 0.15, 0.45)
        return rear

    def _chassis(self, front: float, z: tuple[float, float]) -> None:
        """The chassis from the rear of the vehicle to x = `front`, with tail lamps."""
        self._box(
            (-self.length / 2, front - 0.02),
            (-self.width / 2 + 0.3, self.width / 2 - 0.3),
            z,
            UNDERSIDE,
            Decal(3, rect(0.02, 0.16, 0.1, 0.6), TAIL_LAMP),
            Decal(3, rect(0.84, 0.98, 0.1, 0.6), TAIL_LAMP),
        )

    def _truck_axles(self, radius: float, sill: float) -> None:
        """Wheels of a truck; a long one has two rear axles."""
        half = self.length / 2
        rear = (-half + self.length * 0.2,)
        if self.length > 8:
            rear += (-half + self.length * 0.2 + 2.3 * radius,)
        self._wheels(radius, (*rear, half - self._uniform(0.75, 1.1)), sill)


def rect(u0: float, u1: float, v0: float, v1: float) -> tuple[tuple[float, float], ...]:
    """Corners of a rectangle, as the points of a Decal."""
    return (u0, v0), (u1, v0), (u1, v1), (u0, v1)

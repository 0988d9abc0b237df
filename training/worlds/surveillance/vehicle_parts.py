"""What drawn vehicles are made of: paint, noses, cabins, lorries' cabs, open beds and wheels."""

from __future__ import annotations

import numpy as np

from training.worlds.surveillance.solids import GLASS, LAMP, MATT, Decal, Material, Solid

# Streets are not as colourful as the sprites, which come evenly spread.
VEHICLE_COLOUR = {"white": 5.0, "black": 4.5, "grey": 3.0, "silver": 4.0, "blue": 1.5, "dark blue": 1.2, "red": 1.7}
OTHER_COLOUR = 0.6
WORKING_COLOUR = {"white": 2.4, "black": 0.25}  # of what carries goods or passengers, times the above
# Name -> darkest and lightest paint that people call so, 0..1.
PAINT_RANGE = {
    "white": ((0.86, 0.86, 0.84), (1.0, 1.0, 1.0)),
    "black": ((0.06, 0.06, 0.065), (0.16, 0.16, 0.17)),
    "grey": ((0.30, 0.31, 0.32), (0.48, 0.49, 0.50)),
    "silver": ((0.54, 0.55, 0.57), (0.68, 0.69, 0.71)),
    "blue": ((0.08, 0.24, 0.58), (0.22, 0.42, 0.85)),
    "dark blue": ((0.05, 0.08, 0.24), (0.11, 0.17, 0.40)),
    "light blue": ((0.42, 0.62, 0.78), (0.56, 0.76, 0.92)),
    "red": ((0.62, 0.06, 0.06), (0.92, 0.14, 0.13)),
    "dark red": ((0.32, 0.04, 0.06), (0.44, 0.09, 0.10)),
    "green": ((0.08, 0.32, 0.14), (0.25, 0.52, 0.28)),
    "yellow": ((0.85, 0.66, 0.06), (0.98, 0.82, 0.20)),
    "orange": ((0.88, 0.38, 0.04), (0.98, 0.52, 0.14)),
    "brown": ((0.30, 0.18, 0.10), (0.42, 0.27, 0.17)),
    "beige": ((0.72, 0.65, 0.48), (0.86, 0.78, 0.62)),
}
RUBBER, UNDER, TRIM = (
    Material((0.07, 0.07, 0.075), MATT),
    Material((0.05, 0.05, 0.05), MATT),
    Material((0.12, 0.12, 0.125), MATT),
)
ARCH, SEAM = Material((0.03, 0.03, 0.03), MATT), Material((0.10, 0.10, 0.11), MATT)
HEADLAMP, TAIL_LAMP, AMBER = (
    Material((0.82, 0.82, 0.78), LAMP),
    Material((0.75, 0.06, 0.05), LAMP),
    Material((0.9, 0.5, 0.1), LAMP),
)
NUMBER_PLATE = Material((0.9, 0.9, 0.82), MATT)
LOADS = (
    (0.45, 0.33, 0.2),
    (0.55, 0.5, 0.42),
    (0.35, 0.36, 0.38),
    (0.62, 0.45, 0.25),
    (0.2, 0.35, 0.5),
    (0.8, 0.8, 0.78),
)
WHEEL_SIDES = 16
TALLEST_PANE_M = 0.68


class Parts:
    """Solids of one vehicle; `below` is drawn before them, `wheels` after them."""

    def __init__(self, working: bool, rng: np.random.Generator):
        self.rng = rng
        self.length = self.width = self.height = 0.0
        self.solids: list[Solid] = []
        self.below: list[Solid] = []
        self.wheels: list[Solid] = []
        self.colour, self.paint = self._paint(working)
        shade = rng.uniform(0.03, 0.11)
        self.glass = Material((shade, shade * 1.08, shade * 1.15), GLASS)
        self.bumper = self.paint if rng.random() < 0.4 else TRIM
        self.hub = Material((float(rng.uniform(0.2, 0.65)),) * 3, MATT)

    def _paint(self, working: bool) -> tuple[str, Material]:
        names = list(PAINT_RANGE)
        weights = np.array(
            [VEHICLE_COLOUR.get(n, OTHER_COLOUR) * (WORKING_COLOUR.get(n, 1.0) if working else 1.0) for n in names]
        )
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

    def _box(
        self, x: tuple[float, float], y: tuple[float, float], z: tuple[float, float], material: Material, *decals: Decal
    ) -> None:
        """Edges of its profile: 0 below, 1 front, 2 top, 3 rear (that one runs downwards)."""
        profile = ((x[0], z[0]), (x[1], z[0]), (x[1], z[1]), (x[0], z[1]))
        self.solids.append(Solid(profile, y, y, material, decals))

    def _wheels(self, radius: float, axles: tuple[float, ...], sill: float) -> None:
        """Tyres below the body, discs and arches on its flanks, and a dark floor."""
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
                UNDER,
            )
        )

    # -- parts ------------------------------------------------------------------------------------------------------

    def _front(self, face: int, lamps: float, grille: tuple[float, float]) -> list[Decal]:
        """Lamps, grille, bumper and number plate on a face whose second coordinate runs upwards."""
        wide = self._between(0.13, 0.2)
        g0, g1 = grille
        return [
            Decal(face, rect(0, 1, 0, 0.26), self.bumper),
            Decal(face, rect(wide + 0.06, 1 - wide - 0.06, g0, g1), TRIM),
            Decal(face, rect(0.03, wide, lamps - 0.12, lamps + 0.1), HEADLAMP),
            Decal(face, rect(1 - wide, 0.97, lamps - 0.12, lamps + 0.1), HEADLAMP),
            Decal(face, rect(0.38, 0.62, 0.08, 0.2), NUMBER_PLATE),
        ]

    def _rear(self, face: int = 3, lamps: tuple[float, float] = (0.2, 0.5), doors: bool = False) -> list[Decal]:
        """The same for the rear; the second coordinate runs downwards."""
        wide = self._between(0.07, 0.14)
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
        """The part with windows: `rake` is how far the roof is shorter at the rear and at the front; `windows` in shares of the length."""
        (xr, xf), (z0, roof), (back, front) = x, z, rake
        z1 = roof - min(0.13, 0.16 * (roof - z0))
        profile = ((xr, z0), (xf, z0), (xf - front, z1), (xr + back, z1))

        def at(u: float, v: float) -> tuple[float, float]:
            low, high = xr + u * (xf - xr), xr + back + u * (xf - front - xr - back)
            return low + v * (high - low), z0 + v * (z1 - z0)

        top = min(0.86, 0.1 + TALLEST_PANE_M / (z1 - z0))
        decals = [Decal("sides", (at(a, 0.1), at(b, 0.1), at(b, top), at(a, top)), self.glass) for a, b in windows]
        decals.append(Decal(1, rect(0.05, 0.95, 0.06, 0.9), self.glass))
        if rear_glass:
            decals.append(Decal(3, rect(0.1, 0.9, 0.14, 0.85), self.glass))
        half = self.width / 2
        self.solids.append(Solid(profile, (-half, half), (-half * narrow, half * narrow), self.paint, tuple(decals)))
        # Sheet metal has no sharp edges: the roof is a flat cap with slanted sides.
        cap = ((xr + back, z1), (xf - front, z1), (xf - front - 0.22, roof), (xr + back + 0.1, roof))
        wide, flat = half * narrow, half * narrow - 0.12
        self.solids.append(Solid(cap, (-wide, wide), (-flat, flat), self.paint))

    def _nose(self, x: tuple[float, float], sill: float, edge: float, belt: float) -> None:
        """A bonnet, higher at the windscreen than above the grille."""
        half = self.width / 2
        round_off = self._between(0.05, 0.14)
        profile = ((x[0], sill), (x[1], sill), (x[1], edge - round_off), (x[1] - 1.5 * round_off, edge), (x[0], belt))
        seams = [Decal(3, rect(0.08, 0.09, 0, 1), SEAM), Decal(3, rect(0.91, 0.92, 0, 1), SEAM)]
        self.solids.append(
            Solid(profile, (-half, half), (-half, half), self.paint, (*self._front(1, 0.68, (0.42, 0.8)), *seams))
        )

    def _mirrors(self, x: float, z: float, tall: float) -> None:
        half = self.width / 2
        for y in ((-half - 0.2, -half - 0.01), (half + 0.01, half + 0.2)):
            self._box((x - 0.1, x), y, (z, z + tall), self.paint if self.rng.random() < 0.3 and tall < 0.25 else TRIM)

    def _seams(self, xs: list[float], z0: float, z1: float) -> list[Decal]:
        return [Decal("sides", rect(x, x + 0.025, z0, z1), SEAM) for x in xs]

    def _tray(
        self,
        x: tuple[float, float],
        under: float,
        floor: float,
        top: float,
        material: Material,
        rear: list[Decal],
        ribs: int = 0,
    ) -> None:
        """An open bed, sometimes with a load."""
        side, wall = self.width / 2, 0.07
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
                # The inner side is the one that looks to the middle; a wall is two skins, so that it may have its own colour.
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
                end = min(start + self._between(0.5, 1.6), x[1] - wall - 0.05)
                colour = LOADS[int(self.rng.integers(len(LOADS)))]
                across = side - wall - self._between(0.03, 0.3)
                self._box(
                    (start, end),
                    (-across, across),
                    (floor + 0.02, floor + self._between(0.25, 0.9)),
                    Material(colour, MATT),
                )
                start = end + self._between(0.02, 0.8)

    def _lorry(self, cab: float, belt: float, roof: float, sill: float) -> float:
        """A cab-over cab with its frame and mirrors; the x of its rear wall."""
        half, side = self.length / 2, self.width / 2
        rear = half - cab
        self._box(
            (rear, half),
            (-side, side),
            (sill, belt),
            self.paint,
            *self._front(1, 0.5, (0.5, 0.85)),
            *self._seams([half - 0.2, rear + cab * 0.3], sill + 0.1, belt),
            Decal(1, rect(0.02, 0.1, 0.3, 0.36), AMBER),
        )
        self._cabin(
            (rear, half),
            (belt, roof),
            (self._between(0, 0.08), self._between(0.12, 0.4)),
            0.93,
            ((0.34, 0.92),),
            self.rng.random() < 0.4,
        )
        self._mirrors(half - 0.15, belt + 0.15, 0.45)
        return rear

    def _frame(self, rear: float, z: tuple[float, float]) -> None:
        self._box(
            (-self.length / 2, rear - 0.02),
            (-self.width / 2 + 0.3, self.width / 2 - 0.3),
            z,
            UNDER,
            Decal(3, rect(0.02, 0.16, 0.1, 0.6), TAIL_LAMP),
            Decal(3, rect(0.84, 0.98, 0.1, 0.6), TAIL_LAMP),
        )

    def _axles(self, radius: float, sill: float) -> None:
        half = self.length / 2
        rear = (-half + self.length * 0.2,)
        if self.length > 8:
            rear += (-half + self.length * 0.2 + 2.3 * radius,)
        self._wheels(radius, (*rear, half - self._between(0.75, 1.1)), sill)


def rect(u0: float, u1: float, v0: float, v1: float) -> tuple[tuple[float, float], ...]:
    return (u0, v0), (u1, v0), (u1, v1), (u0, v1)

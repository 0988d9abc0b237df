"""Colours and materials of vehicles: how frequent a paint is, its range of RGB values, and unpainted materials."""

from __future__ import annotations

from training.worlds.surveillance.solids import LAMP, MATT, Material

# Relative frequency of a vehicle's colour in real traffic. The sprites have all colours equally often.
VEHICLE_COLOUR = {"white": 5.0, "black": 4.5, "grey": 3.0, "silver": 4.0, "blue": 1.5, "dark blue": 1.2, "red": 1.7}
OTHER_COLOUR = 0.6
COMMERCIAL_FACTOR = {"white": 2.4, "black": 0.25}  # multiplies the above for vehicles of goods or passengers
# Colour name -> darkest and lightest paint of that name, RGB in 0..1.
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
RUBBER = Material((0.07, 0.07, 0.075), MATT)
UNDERSIDE = Material((0.05, 0.05, 0.05), MATT)
TRIM = Material((0.12, 0.12, 0.125), MATT)
ARCH = Material((0.03, 0.03, 0.03), MATT)
SEAM = Material((0.10, 0.10, 0.11), MATT)
NUMBER_PLATE = Material((0.9, 0.9, 0.82), MATT)
HEADLAMP = Material((0.82, 0.82, 0.78), LAMP)
TAIL_LAMP = Material((0.75, 0.06, 0.05), LAMP)
INDICATOR = Material((0.9, 0.5, 0.1), LAMP)
# fmt: off
LOAD_COLOURS = (
    (0.45, 0.33, 0.2), (0.55, 0.5, 0.42), (0.35, 0.36, 0.38), (0.62, 0.45, 0.25), (0.2, 0.35, 0.5), (0.8, 0.8, 0.78),
)
# fmt: on

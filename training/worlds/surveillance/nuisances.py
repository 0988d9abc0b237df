"""What differs between two frames without anything having changed: camera, light, weather, optics, sensor, coding.

`draw_looks` decides (all randomness that matters for the truth), `finish` applies a look to a composed canvas.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, field, replace

import cv2
import numpy as np

STRONG = ("lighting", "ir_switch", "shadow", "weather", "compression", "noise", "camera_moved", "defocus", "foliage")
OUTDOOR_ONLY = ("weather", "shadow", "foliage")
MARGIN = {"still": 0, "small": 0, "medium": 20, "large": 48}  # canvas pixels around the frame, by camera motion
CAMERA_MOVED_PX = 3.0  # mean displacement of the corners from which a viewer sees it


@dataclass(frozen=True)
class Look:
    """Everything that turns a composed canvas into one frame. Sigmas are in pixels or in levels of 0..255."""

    homography: np.ndarray  # [3, 3], canvas pixel -> frame pixel
    sway: float = 0.0  # largest displacement of foliage, pixels
    shadow: float = 0.0  # 0..1, depth of soft moving shadows
    shadow_cells: int = 10
    weather: str | None = None  # fog | rain | snow
    weather_amount: float = 0.0
    defocus: float = 0.0
    motion: tuple[float, float] = (0.0, 0.0)  # length, angle in degrees
    gain: tuple[float, float, float] = (1.0, 1.0, 1.0)
    gamma: float = 1.0
    saturation: float = 1.0
    grey: bool = False
    vignette: float = 0.0
    noise: float = 2.0
    noise_soft: bool = True  # neighbouring pixels share noise, as after a camera's own denoising
    overlay: tuple[str, int, int, float] | None = None  # text, x, y, size
    rescale: float = 1.0
    quality: int = 85
    seed: int = 0


@dataclass
class Looks:
    before: Look
    after: Look
    names: list[str] = field(default_factory=list)


def draw_motion(rng: np.random.Generator, strong: bool) -> str:
    """How far the camera moved between the frames; decides the margin that a view needs."""
    return str(
        rng.choice(["medium", "large"], p=[0.6, 0.4])
        if strong
        else rng.choice(["still", "small", "medium"], p=[0.5, 0.42, 0.08])
    )


def draw_strong(rng: np.random.Generator, indoor: bool, changed: bool) -> list[str]:
    """Which nuisances are strong in this pair: often none, seldom three."""
    count = int(rng.choice(4, p=[0.5, 0.32, 0.14, 0.04] if changed else [0.3, 0.4, 0.22, 0.08]))
    names = [n for n in STRONG if not (indoor and n in OUTDOOR_ONLY)]
    weights = np.array([{"lighting": 2.5, "camera_moved": 2.0, "ir_switch": 0.7}.get(n, 1.0) for n in names])
    return [str(n) for n in rng.choice(names, size=count, replace=False, p=weights / weights.sum())]


def draw_looks(
    rng: np.random.Generator,
    size: tuple[int, int],
    motion: str,
    strong: list[str],
    time: str,
    indoor: bool,
    identical: bool,
) -> Looks:
    """Looks of both frames and the names of the nuisances that a viewer would notice. `size`: W, H of the frame."""
    width, height = size
    margin = MARGIN[motion]
    base = Look(
        homography=_shift(-margin, -margin),
        gain=_gain(rng, 0.06, 0.025),
        gamma=float(np.exp(rng.normal(0, 0.08))),
        saturation=float(rng.uniform(0.4, 1.1)),
        noise=float(rng.uniform(0.8, 4.5) if time == "day" else rng.uniform(2, 7)),
        noise_soft=rng.random() < 0.6,
        defocus=float(max(0.0, rng.normal(0.2, 0.3))),
        quality=int(rng.integers(55, 96)),
        rescale=float(rng.choice([1.0, rng.uniform(0.6, 1.0)])),
        grey=rng.random() < (0.03 if time == "day" else 0.2),
        seed=int(rng.integers(2**31)),
    )
    if base.grey:
        base = replace(base, vignette=float(rng.uniform(0.1, 0.5)))
    overlay = _overlay(rng, width, height) if rng.random() < 0.3 else None
    if overlay:
        base = replace(base, overlay=overlay)
    if identical:
        return Looks(base, replace(base, quality=int(rng.integers(60, 96))))

    frames = [
        base,
        replace(
            base, seed=int(rng.integers(2**31)), quality=int(np.clip(base.quality + rng.integers(-10, 11), 15, 95))
        ),
    ]
    names: list[str] = []
    if overlay:
        frames[1] = replace(frames[1], overlay=(_clock(rng), *overlay[1:]))
        names.append("overlay")
    mild = _gain(rng, 0.03, 0.01)
    frames[1] = replace(frames[1], gain=tuple(a * b for a, b in zip(frames[1].gain, mild)))
    which = int(rng.integers(2))  # the frame that a one-sided nuisance falls on

    def put(index: int, **changes) -> None:
        frames[index] = replace(frames[index], **changes)

    jitter = _jitter(rng, motion, width, height)
    put(which, homography=jitter @ base.homography)
    if _corner_motion(jitter, width, height) > CAMERA_MOVED_PX:
        names.append("camera_moved")
    if not indoor:  # a breath of wind is no nuisance yet, but leaves do differ
        put(1, sway=float(rng.choice([0.0, rng.uniform(0.2, 0.8)])))
    for name in strong:
        if name == "lighting":
            factor = float(np.exp(rng.choice([-1, 1]) * rng.uniform(0.15, 0.6)))
            tint = _gain(rng, 0.0, 0.06)
            put(
                which,
                gain=tuple(g * t * factor for g, t in zip(frames[which].gain, tint)),
                gamma=frames[which].gamma * float(np.exp(rng.normal(0, 0.2))),
            )
        elif name == "ir_switch":
            put(
                which,
                grey=True,
                vignette=float(rng.uniform(0.2, 0.7)),
                noise=float(rng.uniform(3, 9)),
                gamma=float(np.exp(rng.normal(0, 0.25))),
            )
            put(1 - which, grey=False, vignette=0.0)
        elif name == "shadow":
            cells, depth = int(rng.choice([4, 7, 18, 36])), float(rng.uniform(0.25, 0.6))
            put(which, shadow=depth, shadow_cells=cells)
            if rng.random() < 0.5:
                put(1 - which, shadow=depth, shadow_cells=cells)
        elif name == "weather":
            kind, amount = str(rng.choice(["fog", "rain", "snow"])), float(rng.uniform(0.3, 1.0))
            put(which, weather=kind, weather_amount=amount)
            if rng.random() < 0.3:
                put(1 - which, weather=kind, weather_amount=amount * float(rng.uniform(0.5, 1.2)))
        elif name == "compression":
            for index in {which, int(rng.integers(2))}:
                put(index, quality=int(rng.integers(15, 34)), rescale=float(rng.uniform(0.5, 0.9)))
        elif name == "noise":
            for index in {which, int(rng.integers(2))}:
                put(index, noise=float(rng.uniform(7, 16)))
        elif name == "defocus":
            if rng.random() < 0.5:
                put(which, defocus=float(rng.uniform(1.5, 3.5)))
            else:
                put(which, motion=(float(rng.uniform(4, 11)), float(rng.uniform(0, 180))))
        elif name == "foliage":
            put(1, sway=float(rng.uniform(1.2, 4.0)))
        if name != "camera_moved":  # named above, by how far the corners really moved
            names.append(name)
    return Looks(frames[0], frames[1], names)


def sway(background: np.ndarray, look: Look) -> np.ndarray:
    """Foliage in wind: smooth local displacements where the background is textured and roughly green or dark."""
    if look.sway <= 0:
        return background
    rng = np.random.default_rng(look.seed)
    h, w = background.shape[:2]
    small = cv2.resize(background, (w // 4, h // 4), interpolation=cv2.INTER_AREA)
    grey = cv2.cvtColor(small, cv2.COLOR_RGB2GRAY).astype(np.float32)
    texture = cv2.GaussianBlur(np.abs(cv2.Laplacian(grey, cv2.CV_32F)), (0, 0), 5)
    greenish = (small[..., 1] >= small[..., 2].astype(np.int16) - 2).astype(np.float32)
    weight = cv2.GaussianBlur(np.clip((texture - 8) / 12, 0, 1) * greenish, (0, 0), 2)
    shape = (h // 4, w // 4)
    shifts = []
    for _ in range(2):
        coarse = rng.standard_normal((max(2, h // 24), max(2, w // 24))).astype(np.float32)
        shifts.append(cv2.resize(coarse, shape[::-1], interpolation=cv2.INTER_CUBIC) * weight * look.sway)
    dx, dy = (cv2.resize(s, (w, h), interpolation=cv2.INTER_LINEAR) for s in shifts)
    columns, rows = np.meshgrid(np.arange(w, dtype=np.float32), np.arange(h, dtype=np.float32))
    return cv2.remap(background, columns + dx, rows + dy, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REFLECT_101)


def finish(canvas: np.ndarray, look: Look, size: tuple[int, int]) -> np.ndarray:
    """The frame, uint8 [H, W, 3] RGB, that a camera with this look delivers of the canvas. `size`: W, H."""
    width, height = size
    rng = np.random.default_rng(look.seed + 1)
    if look.shadow > 0:
        canvas = _multiply(canvas, _soft_shadow(rng, canvas.shape, look))
    frame = warp(canvas, look.homography, size)
    if look.weather:
        frame = _weather(rng, frame, look)
    if look.defocus > 0.25:
        frame = cv2.GaussianBlur(frame, (0, 0), look.defocus)
    if look.motion[0] > 1:
        frame = cv2.filter2D(frame, -1, _motion_kernel(*look.motion))
    frame = _light(frame, look)
    if look.vignette > 0:
        frame = _multiply(frame, _vignette(width, height, look.vignette))
    if look.noise > 0:
        frame = _noise(rng, frame, look)
    if look.overlay:
        frame = np.ascontiguousarray(frame)
        text, x, y, scale = look.overlay
        for colour, thickness in (((10, 10, 10), 3), ((240, 240, 240), 1)):
            cv2.putText(frame, text, (x, y), cv2.FONT_HERSHEY_SIMPLEX, scale, colour, thickness, cv2.LINE_AA)
    if look.rescale < 0.97:
        reduced = (max(8, int(width * look.rescale)), max(8, int(height * look.rescale)))
        frame = cv2.resize(
            cv2.resize(frame, reduced, interpolation=cv2.INTER_AREA), size, interpolation=cv2.INTER_LINEAR
        )
    _, coded = cv2.imencode(".jpg", cv2.cvtColor(frame, cv2.COLOR_RGB2BGR), [cv2.IMWRITE_JPEG_QUALITY, look.quality])
    return cv2.cvtColor(cv2.imdecode(coded, cv2.IMREAD_COLOR), cv2.COLOR_BGR2RGB)


def warp(picture: np.ndarray, homography: np.ndarray, size: tuple[int, int], fill: bool = True) -> np.ndarray:
    """Canvas -> frame. Beyond the canvas pictures are mirrored (`fill`), masks are empty."""
    matrix = homography
    if (
        np.allclose(matrix[:2, :2], np.eye(2))
        and np.allclose(matrix[2], [0, 0, 1])
        and np.allclose(matrix[:2, 2], np.round(matrix[:2, 2]))
    ):
        x, y = (-np.round(matrix[:2, 2])).astype(int)
        if x >= 0 and y >= 0 and x + size[0] <= picture.shape[1] and y + size[1] <= picture.shape[0]:
            return picture[y : y + size[1], x : x + size[0]]
    border = cv2.BORDER_REFLECT_101 if fill else cv2.BORDER_CONSTANT
    return cv2.warpPerspective(picture, matrix, size, flags=cv2.INTER_LINEAR, borderMode=border)


def _shift(x: float, y: float) -> np.ndarray:
    return np.array([[1, 0, x], [0, 1, y], [0, 0, 1]], np.float64)


def _jitter(rng: np.random.Generator, motion: str, width: int, height: int) -> np.ndarray:
    """A homography about the frame's centre: shift, roll, zoom and the slight keystone of a pan."""
    shift, roll, zoom = {
        "still": (0, 0, 0),
        "small": (3, 0.25, 0.004),
        "medium": (13, 1.5, 0.03),
        "large": (40, 5, 0.10),
    }[motion]
    if motion == "still":
        return np.eye(3)
    distance, direction = shift * rng.uniform(0.1, 1.0), rng.uniform(0, 2 * math.pi)
    angle = math.radians(roll * rng.uniform(-1, 1))
    scale = 1 + zoom * rng.uniform(-1, 1)
    c, s = scale * math.cos(angle), scale * math.sin(angle)
    turn = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    pan = distance / 640 / 640
    turn[2, :2] = rng.uniform(-pan, pan, 2)
    centre = _shift(width / 2, height / 2)
    moved = _shift(distance * math.cos(direction), distance * math.sin(direction) * 0.6)
    return moved @ centre @ turn @ np.linalg.inv(centre)


def _corner_motion(matrix: np.ndarray, width: int, height: int) -> float:
    corners = np.float64([[[0, 0], [width, 0], [0, height], [width, height]]])
    return float(np.linalg.norm(cv2.perspectiveTransform(corners, matrix) - corners, axis=2).mean())


def _gain(rng: np.random.Generator, overall: float, tint: float) -> tuple[float, float, float]:
    common = rng.normal(0, overall)
    return tuple(float(np.exp(common + rng.normal(0, tint))) for _ in range(3))


def _clock(rng: np.random.Generator) -> str:
    return (
        f"{rng.integers(2019, 2027)}-{rng.integers(1, 13):02d}-{rng.integers(1, 29):02d} "
        f"{rng.integers(24):02d}:{rng.integers(60):02d}:{rng.integers(60):02d}"
    )


def _overlay(rng: np.random.Generator, width: int, height: int) -> tuple[str, int, int, float]:
    size = float(rng.uniform(0.4, 0.7))
    x = int(rng.choice([8, width - int(380 * size)]))
    y = int(rng.choice([8 + int(24 * size), height - 10]))
    return _clock(rng), x, y, size


def _multiply(picture: np.ndarray, factor: np.ndarray) -> np.ndarray:
    return np.clip(picture * factor[..., None] + 0.5, 0, 255).astype(np.uint8)


def _soft_shadow(rng: np.random.Generator, shape: tuple[int, ...], look: Look) -> np.ndarray:
    h, w = shape[:2]
    cells = look.shadow_cells
    coarse = rng.standard_normal((max(3, cells * h // w), cells)).astype(np.float32)
    smooth = cv2.resize(coarse, (w // 4, h // 4), interpolation=cv2.INTER_CUBIC)
    # Fine shadows are those of a tree and fall on a part of the ground; coarse ones are clouds.
    region = rng.standard_normal((3, 4)).astype(np.float32)
    here = cv2.resize(region, (w // 4, h // 4), interpolation=cv2.INTER_CUBIC) if cells > 10 else np.ones_like(smooth)
    depth = look.shadow / (1 + np.exp(-(smooth - 0.2) * 4)) / (1 + np.exp(-(here - 0.4) * 8))
    return 1.0 - cv2.resize(depth, (w, h), interpolation=cv2.INTER_LINEAR)


def _weather(rng: np.random.Generator, frame: np.ndarray, look: Look) -> np.ndarray:
    h, w = frame.shape[:2]
    amount = look.weather_amount
    if look.weather == "fog":
        # Denser towards the top, which is further away.
        depth = np.linspace(1.0, 0.35, h, dtype=np.float32) * (0.25 + 0.5 * amount)
        veil = np.float32(rng.uniform(150, 215) * np.array([1.0, 1.0, 1.02]))
        return np.clip(frame * (1 - depth[:, None, None]) + veil * depth[:, None, None], 0, 255).astype(np.uint8)
    particles = np.zeros((h, w), np.float32)
    count = int(w * h * (0.0015 if look.weather == "rain" else 0.002) * amount)
    particles[rng.integers(0, h, count), rng.integers(0, w, count)] = rng.uniform(0.4, 1.0, count)
    if look.weather == "rain":
        length = rng.uniform(9, 24)
        particles = cv2.filter2D(particles, -1, _motion_kernel(length, 90 + rng.uniform(-20, 20)) * length * 0.35)
        veil = 190.0
    else:
        particles = cv2.GaussianBlur(particles, (0, 0), rng.uniform(0.8, 1.6)) * 7
        veil = 235.0
    alpha = np.clip(particles, 0, 0.75)[..., None]
    return np.clip(frame * (1 - alpha) + veil * alpha, 0, 255).astype(np.uint8)


def _motion_kernel(length: float, angle: float) -> np.ndarray:
    size = int(length) | 1
    kernel = np.zeros((size, size), np.float32)
    half, centre = length / 2, size // 2
    dx, dy = half * math.cos(math.radians(angle)), half * math.sin(math.radians(angle))
    cv2.line(
        kernel,
        (int(round(centre - dx)), int(round(centre - dy))),
        (int(round(centre + dx)), int(round(centre + dy))),
        1.0,
    )
    return kernel / kernel.sum()


def _light(frame: np.ndarray, look: Look) -> np.ndarray:
    if look.grey:
        # Silicon sees more red and near infrared than the eye does.
        frame = cv2.cvtColor(cv2.transform(frame, np.float32([[0.45, 0.42, 0.13]])), cv2.COLOR_GRAY2RGB)
    elif abs(look.saturation - 1) > 0.05:
        luma = np.float32([[0.299, 0.587, 0.114]] * 3)
        frame = cv2.transform(frame, look.saturation * np.eye(3, dtype=np.float32) + (1 - look.saturation) * luma)
    levels = np.arange(256, dtype=np.float32) / 255
    gain = (float(np.mean(look.gain)),) * 3 if look.grey else look.gain
    table = np.stack([np.power(np.clip(levels * g, 0, 1), look.gamma) for g in gain], axis=1)
    return cv2.LUT(frame, np.uint8(np.clip(table * 255 + 0.5, 0, 255))[None])


@functools.lru_cache(maxsize=16)
def _radius(width: int, height: int) -> np.ndarray:
    y, x = np.mgrid[0:height, 0:width].astype(np.float32)
    return ((x / width - 0.5) ** 2 + (y / height - 0.5) ** 2) * 2


def _vignette(width: int, height: int, depth: float) -> np.ndarray:
    return 1.0 - depth * _radius(width, height)


@functools.lru_cache(maxsize=2)
def _noise_bank(soft: bool) -> np.ndarray:
    """Unit noise, float32 [1024, 1280, 3], cut at random places: drawing it afresh would cost more than all else."""
    bank = np.random.default_rng(0).standard_normal((1024, 1280, 3), dtype=np.float32)
    if soft:
        bank = cv2.GaussianBlur(bank, (0, 0), 0.8)
        bank /= bank.std()
    return bank


def _noise(rng: np.random.Generator, frame: np.ndarray, look: Look) -> np.ndarray:
    h, w = frame.shape[:2]
    bank = _noise_bank(look.noise_soft)
    y, x = int(rng.integers(bank.shape[0] - h)), int(rng.integers(bank.shape[1] - w))
    unit = bank[y : y + h, x : x + w]
    if look.grey:
        unit = np.repeat(unit[..., :1], 3, axis=2)
    return np.clip(frame + unit * look.noise + 0.5, 0, 255).astype(np.uint8)

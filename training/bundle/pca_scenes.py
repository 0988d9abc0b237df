"""Quick images for fitting the feature projections: plates with sprites pasted anywhere, at any scale.

They use the train split alone, and only assets whose licence allows a released bundle: held-out plates and models must
be new to the features too. The captioner trains on `training.worlds.surveillance`, which places and shades its sprites.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from torch import Tensor

from training.contract import Box
from training.data.preprocess import CROP_SIZE, LARGEST_FULL_FRAME, crop_square, resize
from training.worlds.surveillance.plates import load_plates
from training.worlds.surveillance.sprites import Sprite, load_scenery, load_sprites


class PastedScenes:
    """Draws images; every random choice comes from `rng`."""

    def __init__(self, data: Path, rng: np.random.Generator):
        self.rng = rng
        self.plates = load_plates(data, "train")
        self.sprites = [*load_sprites(data, "train"), *load_scenery(data, "train")]

    def picture(self, pasted: int) -> tuple[np.ndarray, list[tuple[Sprite, Box]]]:
        """uint8 [h,w,3] 640 wide, and each pasted sprite and its box (x, y, width, height)."""
        rng = self.rng
        plate = Image.open(self.plates[rng.integers(len(self.plates))].path).convert("RGB")
        plate = plate.resize((640, round(640 * plate.height / plate.width)), Image.BILINEAR)
        if rng.random() < 0.5:
            plate = plate.transpose(Image.FLIP_LEFT_RIGHT)
        objects = []
        for _ in range(pasted):
            pick = self.sprites[rng.integers(len(self.sprites))]
            sprite = Image.open(pick.path).convert("RGBA")
            side = np.exp(rng.uniform(np.log(12), np.log(200)))  # of the longer side, pixels: far to near
            scale = min(side / max(sprite.size), plate.height / sprite.height)
            sprite = sprite.resize([max(2, round(n * scale)) for n in sprite.size], Image.BILINEAR)
            x = int(rng.integers(0, plate.width - sprite.width + 1))
            y = int(rng.integers(0, plate.height - sprite.height + 1))
            plate.paste(sprite, (x, y), sprite)
            objects.append((pick, (x, y, sprite.width, sprite.height)))
        pixels = np.asarray(plate, dtype=np.float32) * rng.uniform(0.5, 1.3)  # dusk to glare
        if rng.random() < 0.15:  # infrared
            pixels = np.repeat(pixels.mean(axis=2, keepdims=True), 3, axis=2)
        pixels += rng.normal(0, rng.uniform(0, 8), pixels.shape)
        return np.clip(pixels, 0, 255).astype(np.uint8), objects


def pasted_batches(data: Path, frames: int, crops: int, seed: int) -> Iterator[Tensor]:
    """About `frames` full frames [4,3,256,384] and `crops` region crops [8,3,112,112], RGB 0..1."""
    scenes = PastedScenes(data, np.random.default_rng(seed))
    for _ in range(frames // 4):
        images = [resize(scenes.picture(pasted=6)[0], *LARGEST_FULL_FRAME) for _ in range(4)]
        yield torch.from_numpy(np.stack(images))
    for _ in range(crops // 8):
        picture, objects = scenes.picture(pasted=6)
        height, width, _ = picture.shape
        boxes = [box for _, box in objects]
        for _ in range(2):  # and two of the background
            side = scenes.rng.uniform(36, 150)
            boxes.append((scenes.rng.uniform(0, width - side), scenes.rng.uniform(0, height - side), side, side))
        squares = [resize(picture, CROP_SIZE, CROP_SIZE, crop_square(box, width, height)) for box in boxes]
        yield torch.from_numpy(np.stack(squares))

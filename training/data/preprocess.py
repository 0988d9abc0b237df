"""From frames to network input: the resampler, and the square of a region crop.

The service has its own resampler; golden tensors compare the two.
"""

import numpy as np
from PIL import Image

from training.contract import Box

LARGEST_FULL_FRAME = (384, 256)  # width and height, over all worlds (`World.full_frame`); aspect ratios are not kept
CROP_SIZE = 112  # pixels per side of a region crop
CROP_MARGIN = 1.35  # side of the crop per longer side of the object: context identifies a small object
CROP_MIN_SIDE = 48 / 640  # of the frame's width; smaller crops show only blur and noise


def resize(image: np.ndarray, width: int, height: int, box: Box | None = None) -> np.ndarray:
    """image uint8 [h,w,3] -> float32 [3,height,width] in 0..1; `box` is (x, y, width, height) in pixels, may be
    fractional.

    Pillow's antialiased triangle filter, separable; it rounds to uint8 after each pass. The server's resampler gives
    the same bits.
    """
    if image.dtype != np.uint8 or image.ndim != 3 or image.shape[2] != 3:
        raise ValueError(f"expected uint8 [h,w,3], got {image.dtype} {list(image.shape)}")
    corners = None
    if box is not None:
        x, y, box_width, box_height = box
        image_height, image_width, _ = image.shape
        # x + box_width may pass the edge by a rounding error, which Pillow refuses; more is an error of the caller.
        right, bottom = (
            size if size < edge < size + 1e-6 else edge
            for edge, size in ((x + box_width, image_width), (y + box_height, image_height))
        )
        corners = (x, y, right, bottom)
    resized = Image.fromarray(image).resize((width, height), Image.BILINEAR, box=corners)
    return np.asarray(resized, dtype=np.float32).transpose(2, 0, 1) / 255


def in_pixels(box: Box, width: int, height: int) -> Box:
    """A box in fractions of a frame of width x height, in pixels."""
    x, y, box_width, box_height = box
    return x * width, y * height, box_width * width, box_height * height


def crop_square(box: Box, frame_width: int, frame_height: int) -> Box:
    """The square to crop for an object's box, both in pixels: the object with some context, inside the frame."""
    x, y, width, height = box
    side = max(max(width, height) * CROP_MARGIN, CROP_MIN_SIDE * frame_width)
    side = min(side, frame_width, frame_height)
    left = min(max(x + width / 2 - side / 2, 0), frame_width - side)
    top = min(max(y + height / 2 - side / 2, 0), frame_height - side)
    return left, top, side, side


def resize_by_area(values: np.ndarray, width: int, height: int) -> np.ndarray:
    """float [h,w] -> float32 [height,width]: each cell is the exact mean of its area, so the overall mean is kept."""
    rows, columns = (_area_weights(n, m) for n, m in zip(values.shape, (height, width)))
    return (rows @ values @ columns.T).astype(np.float32)


def _area_weights(source: int, target: int) -> np.ndarray:
    """[target,source]: fraction of each target cell that each source cell covers; rows sum to 1."""
    edges = np.arange(target + 1) * (source / target)
    cells = np.arange(source)
    overlap = np.minimum(edges[1:, None], cells + 1) - np.maximum(edges[:-1, None], cells)
    return np.clip(overlap, 0, None) * (target / source)

"""From frames to network input: the one resampler, and where a glance looks.

The server does the same with its own resampler; golden tensors compare the two.
"""

import numpy as np
from PIL import Image

LARGEST_FULL_FRAME = (384, 256)  # width and height, over all worlds (`World.full_frame`); aspect ratios are not kept
COARSE_STRIDE, FINE_STRIDE = 16, 8  # pixels a side of a cell of the features
GLANCE_SIZE = 112  # square crop of a changed place
GLANCE_MARGIN = 1.35  # side of the crop per longer side of the object: some context tells what a far object is
GLANCE_MIN_SIDE = 48 / 640  # of the frame's width: below it, enlarging shows only blur and noise

Box = tuple[float, float, float, float]  # x, y, width, height


def resize(image: np.ndarray, width: int, height: int, box: Box | None = None) -> np.ndarray:
    """image uint8 [h,w,3] -> float32 [3,height,width] in 0..1; `box` is (x, y, width, height) in pixels, may be fractional.

    Pillow's antialiased triangle filter, separable; it rounds to uint8 after each pass. The server's resampler gives the same bits.
    """
    if image.dtype != np.uint8 or image.ndim != 3 or image.shape[2] != 3:
        raise ValueError(f"expected uint8 [h,w,3], got {image.dtype} {list(image.shape)}")
    corners = None
    if box is not None:
        x, y, box_width, box_height = box
        image_height, image_width, _ = image.shape
        # x + box_width may pass the edge by a rounding error, which Pillow refuses; more is the caller's mistake.
        right, bottom = (
            size if size < edge < size + 1e-6 else edge
            for edge, size in ((x + box_width, image_width), (y + box_height, image_height))
        )
        corners = (x, y, right, bottom)
    resized = Image.fromarray(image).resize((width, height), Image.BILINEAR, box=corners)
    return np.asarray(resized, dtype=np.float32).transpose(2, 0, 1) / 255


def in_pixels(box: Box, width: int, height: int) -> Box:
    """A box given as shares of a frame of width x height."""
    x, y, box_width, box_height = box
    return x * width, y * height, box_width * width, box_height * height


def glance_box(box: Box, frame_width: int, frame_height: int) -> Box:
    """The square to crop for an object's box (pixels): the object with some context, inside the frame."""
    x, y, width, height = box
    side = max(max(width, height) * GLANCE_MARGIN, GLANCE_MIN_SIDE * frame_width)
    side = min(side, frame_width, frame_height)
    left = min(max(x + width / 2 - side / 2, 0), frame_width - side)
    top = min(max(y + height / 2 - side / 2, 0), frame_height - side)
    return left, top, side, side


def resize_by_area(values: np.ndarray, width: int, height: int) -> np.ndarray:
    """float [h,w] -> float32 [height,width]: each cell is the exact mean of what it covers, so the overall mean is kept."""
    rows, columns = (_area_weights(n, m) for n, m in zip(values.shape, (height, width)))
    return (rows @ values @ columns.T).astype(np.float32)


def _area_weights(source: int, target: int) -> np.ndarray:
    """[target,source]: share of each target cell that each source cell covers; rows sum to 1."""
    edges = np.arange(target + 1) * (source / target)
    cells = np.arange(source)
    overlap = np.minimum(edges[1:, None], cells + 1) - np.maximum(edges[:-1, None], cells)
    return np.clip(overlap, 0, None) * (target / source)

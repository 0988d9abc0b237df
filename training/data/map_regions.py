"""Regions of the change maps, and the boxes of the region crops. src/model/regions.ts has the same rule in the service.

The cases of `test/fixtures/glances.json` test both.
"""

from dataclasses import dataclass

import cv2
import numpy as np

from training.contract import Box
from training.data.regions import area, iou, overlap, union

REGION_THRESHOLD = 0.5
REGION_MIN_CELLS = 2
REGION_STRONG = 0.7  # mean from which a region of fewer cells counts: a bag that is far away covers one cell
SAME_CROP_IOU = 0.1
INSIDE_SHARE = 0.8  # share of a box inside a stronger one, from which it gets no crop of its own


@dataclass
class MapRegion:
    side: str  # before or after
    box: Box  # fractions of the frame
    score: float  # mean of the map inside
    area: float  # fraction of the frame that its cells cover, not its box

    @property
    def strength(self) -> float:
        return self.score * self.area**0.5


def map_regions(heat: np.ndarray, side: str) -> list[MapRegion]:
    """Connected components (4-neighbourhood) of the cells at or above REGION_THRESHOLD. heat: [h,w] in 0..1."""
    fired = (heat >= REGION_THRESHOLD).astype(np.uint8)
    count, labels, stats, _ = cv2.connectedComponentsWithStats(fired, connectivity=4)
    h, w = heat.shape
    found = []
    for i in range(1, count):
        x, y, width, height, cells = (int(v) for v in stats[i])
        score = float(heat[labels == i].mean())
        if cells >= REGION_MIN_CELLS or score >= REGION_STRONG:
            box = (x / w, y / h, width / w, height / h)
            found.append(MapRegion(side, box, score, cells / heat.size))
    return found


def crop_boxes(regions: list[MapRegion], limit: int) -> list[Box]:
    """Boxes of the region crops, strongest first, at most `limit`.

    Overlapping regions of the two sides give one box; a box that lies inside a stronger one gives none.
    """
    places: list[tuple[Box, float]] = []
    free = sorted(regions, key=lambda r: r.strength, reverse=True)
    while free:
        region = free.pop(0)
        twin = max((r for r in free if r.side != region.side), key=lambda r: iou(region.box, r.box), default=None)
        if twin is not None and iou(region.box, twin.box) > SAME_CROP_IOU:
            free.remove(twin)
            places.append((union(region.box, twin.box), max(region.strength, twin.strength)))
        else:
            places.append((region.box, region.strength))
    boxes = [box for box, _ in sorted(places, key=lambda place: place[1], reverse=True)]
    kept = []
    for i, box in enumerate(boxes):
        if not any(overlap(box, other) > INSIDE_SHARE * area(box) for other in boxes[:i]):
            kept.append(box)
    return kept[:limit]

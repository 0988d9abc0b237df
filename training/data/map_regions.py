"""Which places of a pair the server glances at: where the maps fire. src/model/regions.ts is the same rule in the product."""

from dataclasses import dataclass

import cv2
import numpy as np

from training.data.regions import area, iou, overlap, union

REGION_THRESHOLD = 0.5
REGION_MIN_CELLS = 2
SAME_GLANCE_IOU = 0.1
PART_OF = 0.8  # of a box, inside a stronger one


@dataclass
class MapRegion:
    side: str
    box: tuple[float, float, float, float]  # x, y, width, height as shares of the frame
    score: float  # mean of the map inside
    area: float  # share of the frame that its cells cover, not its box

    @property
    def strength(self) -> float:
        return self.score * self.area**0.5


def map_regions(heat: np.ndarray, side: str) -> list[MapRegion]:
    """Connected components (4-neighbourhood) of the cells at or above REGION_THRESHOLD."""
    count, labels, stats, _ = cv2.connectedComponentsWithStats(
        (heat >= REGION_THRESHOLD).astype(np.uint8), connectivity=4
    )
    h, w = heat.shape
    found = []
    for i in range(1, count):
        x, y, width, height, cells = (int(v) for v in stats[i])
        if cells >= REGION_MIN_CELLS:
            found.append(
                MapRegion(
                    side, (x / w, y / h, width / w, height / h), float(heat[labels == i].mean()), cells / heat.size
                )
            )
    return found


def glance_regions(regions: list[MapRegion], limit: int) -> list[tuple[float, float, float, float]]:
    """Boxes to look at again, as src/model/regions.ts chooses them (test/fixtures/glances.json holds both to it): overlapping regions of the two
    sides are one, parts of a stronger place are none; the strongest first."""
    places: list[tuple[tuple[float, float, float, float], float]] = []
    free = sorted(regions, key=lambda r: r.strength, reverse=True)
    while free:
        region = free.pop(0)
        twin = max((r for r in free if r.side != region.side), key=lambda r: iou(region.box, r.box), default=None)
        if twin is not None and iou(region.box, twin.box) > SAME_GLANCE_IOU:
            free.remove(twin)
            places.append((union(region.box, twin.box), max(region.strength, twin.strength)))
        else:
            places.append((region.box, region.strength))
    places.sort(key=lambda place: place[1], reverse=True)
    boxes = [box for box, _ in places]
    return [
        box for i, box in enumerate(boxes) if not any(overlap(box, other) > PART_OF * area(box) for other in boxes[:i])
    ][:limit]

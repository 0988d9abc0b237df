"""Scenarios: which pairs the world renders. The usual mixture trains; the others make pairs of one case to measure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from training.contract import USUAL
from training.worlds.surveillance.sprite_nouns import CARRIED, PERSONS, TWO_WHEELERS

# In two of five real changed pairs several things change. `multi` stands for such pairs, of one kind or of several.
KIND_SHARE = {"none": 0.36, "appear": 0.14, "disappear": 0.14, "move": 0.09, "replace": 0.05, "multi": 0.22}
# How several changes are combined in a pair of kind `multi`; see ChangeSampler._draw_several.
COMBINATION_SHARE = {"group": 0.13, "traffic": 0.17, "swap": 0.3, "mixed": 0.12, "crowd": 0.13, "left": 0.15}


@dataclass(frozen=True)
class Scenario:
    """Shares add up to 1. `nouns`: of the main change; None = by their frequency. `strong`: the strong nuisances;
    None = drawn. `outdoor`: no rooms. `longer_side`: pixels of the box of a changed object; None = any."""

    kind_share: Mapping[str, float] = field(default_factory=lambda: KIND_SHARE)
    combination_share: Mapping[str, float] = field(default_factory=lambda: COMBINATION_SHARE)
    nouns: tuple[str, ...] | None = None
    strong: tuple[str, ...] | None = None
    low_sun: bool = False  # every pair with shadows has those of a low sun
    outdoor: bool = False
    longer_side: tuple[float, float] | None = None

    def accepts(self, objects: list[dict]) -> bool:
        """Whether a changed object of `hypernym` object is as large as it should be."""
        if self.longer_side is None:
            return True
        least, most = self.longer_side
        boxes = [thing["box_before"] or thing["box_after"] for thing in objects if thing["hypernym"] == "object"]
        return any(least <= max(box[2:]) <= most for box in boxes)


SCENARIOS: dict[str, Scenario] = {
    USUAL: Scenario(),
    # A bag, box or case of 12 to 40 pixels is put down or taken, in half of the pairs beside a person.
    "left": Scenario(
        kind_share={"appear": 0.25, "disappear": 0.25, "multi": 0.5},
        combination_share={"left": 1.0},
        nouns=CARRIED,
        longer_side=(12, 40),
    ),
    # Hard shadows, one to four hours apart if both frames have them.
    "low-sun": Scenario(
        kind_share={"none": 0.5, "appear": 0.25, "disappear": 0.25}, strong=("shadow",), low_sun=True, outdoor=True
    ),
    # People from above and on the floor, and riders, as in the third pack of sprites.
    "postures": Scenario(
        kind_share={"appear": 0.3, "disappear": 0.3, "replace": 0.1, "multi": 0.3}, nouns=(*PERSONS, *TWO_WHEELERS)
    ),
}

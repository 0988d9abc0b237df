"""Sampler of changes: draws which figures appear, disappear, move or are replaced between the two frames."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from training.text.lexicon import hypernym
from training.worlds.surveillance.location_phrases import direction_phrases
from training.worlds.surveillance.placement import PlacedFigure, RejectedSample, ground_allows
from training.worlds.surveillance.placer import MAX_TRIES, Nearby, Placer
from training.worlds.surveillance.scenarios import COMBINATION_SHARE
from training.worlds.surveillance.sprite_nouns import CARRIED, NOUN_WEIGHT, OTHER_NOUN_WEIGHT, PERSONS

REACH_M = 3.0  # of a person from the thing that was put down or taken
TURNED_SHARE = 0.75  # of moved figures that also turn: without that they are too easy to recognise
VEHICLE_TURN = 35.0  # standard deviation in degrees, for most vehicles


@dataclass
class Change:
    """One figure, or one group of figures, that differs between the frames."""

    action: str  # appeared, disappeared, moved or replaced
    before: list[PlacedFigure]
    after: list[PlacedFigure]

    @property
    def figures(self) -> list[PlacedFigure]:
        return [*self.before, *self.after]


class ChangeSampler:
    """Draws changes on one view. `focus` is the noun of the main change. Raises RejectedSample as Placer does."""

    def __init__(self, placer: Placer, focus: str, combination_share: Mapping[str, float] = COMBINATION_SHARE):
        self.placer, self.focus, self.rng = placer, focus, placer.rng
        self.combination_share = combination_share

    def draw(self, kind: str, noun: str | None = None) -> list[Change]:
        """The changes of a pair of that kind. `noun` replaces the focus."""
        noun = noun or self.focus
        if kind == "none":
            return []
        if kind == "appear":
            return [Change("appeared", [], [self.placer.place(noun)])]
        if kind == "disappear":
            return [Change("disappeared", [self.placer.place(noun)], [])]
        if kind == "move":
            return [self._draw_move(noun)]
        if kind == "replace":
            return [self._draw_replacement(noun)]
        return self._draw_several()

    def _draw_several(self) -> list[Change]:
        """Two to five changes in one of these combinations.

        group: several figures close together appear or disappear. traffic: similar figures all appear, or all
        disappear, independently. crowd: similar figures appear, disappear and move, as in a busy street. swap: one
        figure disappears and a similar one appears elsewhere, which is no move. mixed: any independent changes. left: a
        thing that people carry appears or disappears beside a person who comes, leaves or moves.
        """
        remaining = int(self.rng.choice([2, 3, 4, 5], p=[0.45, 0.3, 0.15, 0.1]))
        combination = str(self.rng.choice(list(self.combination_share), p=list(self.combination_share.values())))
        changes: list[Change] = []
        if combination == "group":
            group = self._draw_group(min(remaining, int(self.rng.choice([2, 3, 4, 5], p=[0.6, 0.25, 0.1, 0.05]))))
            appeared = self.rng.random() < 0.5
            changes.append(Change("appeared", [], group) if appeared else Change("disappeared", group, []))
            remaining -= len(group)
        elif combination == "traffic":
            kind = str(self.rng.choice(["appear", "disappear"]))
            for i in range(remaining):
                changes += self.draw(kind, self.focus if i == 0 else self._similar_noun(self.focus))
            return changes
        elif combination == "crowd":
            for i in range(remaining + int(self.rng.integers(2))):
                kind = str(self.rng.choice(["appear", "disappear", "move"], p=[0.3, 0.3, 0.4]))
                changes += self.draw(kind, self._noun_of_same_hypernym(self.focus) if i else self.focus)
            return changes
        elif combination == "left":
            changes += self._draw_left_thing()
            remaining = max(0, remaining - 3)
        elif combination == "swap":
            sides = [self.draw("disappear", self.focus), self.draw("appear", self._similar_noun(self.focus))]
            changes += [c for side in (sides if self.rng.random() < 0.5 else sides[::-1]) for c in side]
            remaining = max(0, remaining - 2) if self.rng.random() < 0.5 else 0
        while remaining > 0 or not changes:
            kind = str(self.rng.choice(["appear", "disappear", "move"], p=[0.4, 0.4, 0.2]))
            changes += self.draw(kind, self.placer.draw_noun() if changes else self.focus)
            remaining -= 1
        return changes

    def _noun_of_same_hypernym(self, noun: str) -> str:
        """A noun of the same hypernym that the view accepts, by its frequency."""
        alike = [n for n in self.placer.nouns if hypernym(n) == hypernym(noun)] or [noun]
        weights = np.array([NOUN_WEIGHT.get(n, OTHER_NOUN_WEIGHT) for n in alike])
        return str(self.rng.choice(alike, p=weights / weights.sum()))

    def _similar_noun(self, noun: str) -> str:
        """Mostly the same noun, else mostly one of the same hypernym, else any noun that the view accepts."""
        if self.rng.random() < 0.6:
            return noun
        alike = [n for n in self.placer.nouns if hypernym(n) == hypernym(noun)]
        return str(self.rng.choice(alike)) if alike and self.rng.random() < 0.7 else self.placer.draw_noun()

    def _draw_group(self, count: int) -> list[PlacedFigure]:
        """Two to `count` persons or cars close together."""
        persons = self.rng.random() < {"person": 0.9, "vehicle": 0.1}.get(hypernym(self.focus), 0.6)
        pool = [n for n in self.placer.nouns if (n in PERSONS if persons else n == "car")]
        if not pool:
            raise RejectedSample
        members = [self.placer.place(str(self.rng.choice(pool)))]
        first = members[0]
        spacing_m = 1.6 if persons else 9.0
        for _ in range(12 * count):
            if len(members) == count:
                break
            near = (first.x, first.y, spacing_m * np.sqrt(count))
            try:
                members.append(self.placer.place(str(self.rng.choice(pool)), first.ground, near=near))
            except RejectedSample:
                continue
        if len(members) < 2:
            raise RejectedSample
        return members

    def _draw_left_thing(self) -> list[Change]:
        """A thing that was put down or taken, and the person beside it."""
        things = [noun for noun in CARRIED if noun in self.placer.nouns]
        persons = [noun for noun in PERSONS if noun in self.placer.nouns]
        if not things or not persons:
            raise RejectedSample
        noun = self.focus if self.focus in things else str(self.rng.choice(things))
        thing = self.draw(str(self.rng.choice(["appear", "disappear"])), noun)
        at = thing[0].figures[0]
        person, near = str(self.rng.choice(persons)), (at.x, at.y, REACH_M)
        action = str(self.rng.choice(["appeared", "disappeared", "moved"], p=[0.3, 0.3, 0.4]))
        if action == "moved":
            return [*thing, self._draw_move(person, near)]
        figures = [self.placer.place(person, near=near)]
        return [*thing, Change(action, *(([], figures) if action == "appeared" else (figures, [])))]

    def _draw_move(self, noun: str, start_near: Nearby | None = None) -> Change:
        """The same individual at two positions, far enough apart for a caption to name the direction."""
        start = self.placer.place(noun, near=start_near)
        self.placer.placed.remove(start)  # a figure may move by less than its own size
        figure = start.figure
        near = None
        if self.rng.random() < 0.6:
            far_m = self.rng.uniform(1, 4) if figure.hypernym != "vehicle" else self.rng.uniform(3, 12)
            near = (start.x, start.y, float(far_m))
        if self.rng.random() < TURNED_SHARE:
            sigma = VEHICLE_TURN if figure.hypernym == "vehicle" and self.rng.random() < 0.8 else 360.0
            figure = self.placer.sampler.turned(figure, figure.azimuth + float(self.rng.normal(0, sigma)))
        end = self.placer.place(noun, start.ground, figure, near)
        end.width_factor = start.width_factor
        self.placer.placed.append(start)
        if not direction_phrases(start.box, end.box, self.placer.view.width, start.px_per_metre, end.px_per_metre):
            raise RejectedSample
        return Change("moved", [start], [end])

    def _draw_replacement(self, noun: str) -> Change:
        """Two figures of the same hypernym at nearly the same place, which differ in noun or colour.

        A person at the place of a table, for example, stands in front of it and does not replace it.
        """
        placer = self.placer
        old = placer.place(noun)
        placer.placed.remove(old)
        for _ in range(MAX_TRIES):
            same = self.rng.random() < 0.4
            noun = old.figure.noun if same else self._noun_of_same_hypernym(old.figure.noun)
            noun = {"suv": "car", "minivan": "car"}.get(noun, noun)
            if not ground_allows(old.ground.allowed, noun, placer.view.plate.indoor):
                continue
            try:
                new = placer.place(noun, old.ground, near=(old.x, old.y, 0.5))
            except RejectedSample:
                continue
            if (new.figure.noun, new.figure.colour) != (old.figure.noun, old.figure.colour):
                placer.placed.append(old)
                return Change("replaced", [old], [new])
            placer.placed.remove(new)
        raise RejectedSample

"""The plug-in interface of a world: everything the training core knows about where pairs come from.

A world makes pairs of frames with exact truth and captions, and reads captions back. A training config
chooses one with `world = "NAME"`, see `load_world`. The core (cache, train, heldout,
calibrate, export) imports no world directly.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:  # rendering and the tests of CI do without torch
    from torch import Tensor, nn

    from training.contract import Pair


class PairSource(Protocol):
    """Renders pairs."""

    def sample(self, seed: int) -> Pair:
        """The pair of a seed; the same seed gives the same pair."""


@dataclass(frozen=True)
class Judgement:
    """Correctness of a caption, by its first clause. Each of action, noun and colour includes the one before it."""

    unchanged: bool  # the caption states that nothing changed
    action: bool  # the action happened
    noun: bool  # it happened to an object that may be called so
    colour: bool  # ... of that colour (CLEVR twin: everything stated is true)
    place: bool | None = None  # the place or direction is true; None: this world's captions are not judged by place
    first_noun: str | None = None  # noun of the first clause, None if there is none
    literal_noun: bool = False  # that noun, no wider and no narrower one, is true of what did the action


@dataclass(frozen=True)
class World:
    """Sizes in pixels. `meta` is a pair's line in meta.jsonl of a cache, `batch` and `outputs` map names to tensors."""

    name: str
    full_frame: tuple[int, int]  # width and height that the network's full frame is resized to
    # (data root, split, scenario="usual"); SystemExit if the data are incomplete or there is no such scenario
    open_source: Callable[..., PairSource]
    open_cache: Callable[..., Any]  # (folders, forward=False, only=None) -> training.data.batches.Shards
    make_difference: Callable[[Any], nn.Module]  # (ModelConfig) -> network with the interface of net.Difference
    judge: Callable[[str, dict], Judgement]  # (caption, meta)
    # (ModelConfig) -> difference and captioner with the interfaces of net.Difference and net.Captioner, in place of
    # those; the captioner also has `graph_parts() -> (EncodeMemory, Step)` with the signatures of bundle.graphs.
    make_networks: Callable[[Any], tuple[nn.Module, nn.Module]] | None = None
    extra_losses: Callable[[dict, dict[str, Tensor], Any], dict[str, Tensor]] = lambda outputs, batch, config: {}
    # Losses of single frames, for the first `train.read_first` steps: (difference, batch) -> terms.
    frame_losses: Callable[[nn.Module, dict[str, Tensor]], dict[str, Tensor]] | None = None
    # Sentences that are false of a changed pair: (meta, captions of other pairs, generator).
    false_captions: Callable[[dict, list[str], Any], list[str]] | None = None
    # The sentence of the first frames of two unrelated pairs as one pair: (cache, index, index).
    coupled_caption: Callable[[Any, int, int], str] | None = None
    wider_nouns: Mapping[str, str] = field(default_factory=dict)  # specific noun -> what to write if unsure
    event_words: Mapping[str, Sequence[str]] = field(default_factory=dict)  # event -> words that report it
    # A word in event_words that reports its event only directly after one of these words ("has left", "on the left").
    event_needs: Mapping[str, Sequence[str]] = field(default_factory=dict)


def load_world(name: str) -> World:
    """The world `name` of this folder, or the package of that dotted name, as "research.clevr".

    @raises SystemExit if there is none.
    """
    package = name if "." in name else f"training.worlds.{name}"
    try:
        return import_module(f"{package}.plugin").WORLD
    except ModuleNotFoundError as reason:
        if not f"{package}.plugin".startswith(reason.name):
            raise  # a package that the world imports
        raise SystemExit(f"there is no world {name!r}; known are surveillance, and packages with a plugin.py") from None

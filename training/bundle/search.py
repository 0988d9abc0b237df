"""Adds trained search vectors to a bundle: the graphs pair.onnx and text.onnx and the manifest's key `search`.

    python -m training.bundle install --part RUN/search.pt --bundle models/scorer-surveillance --version 0.9.0 \
        --heldout DIR --facts training/facts/scorer-surveillance.json [--world surveillance]

Both graphs are compared with PyTorch before the manifest is replaced; the figures in it are measured through them.
"""

import os
from pathlib import Path

import numpy as np
import onnx
import torch
from torch import Tensor, nn

from training.bundle.graphs import OPSET
from training.bundle.half import round_to_half, store_half_where_exact
from training.bundle.heads import HEAD_IN, MAPS_IN, export_with_evidence, head_arguments
from training.bundle.manifest import entries_of, replace_manifest
from training.bundle.parity import PARITY, worst
from training.contract import BUCKETS, END, FRAME_KIND, KINDS, MAX_WORDS, PAD, UNK
from training.data.search_figures import figures, vectors_of
from training.inputs import first_line, open_graph, read_json
from training.net.evidence_tokens import EvidenceSizes
from training.net.frame_search import FramePairVector
from training.net.search import DIMENSIONS, PAIR_NETWORKS, TEXT_WIDTH, PairVector, SearchVectors, TextVector
from training.text.search_words import GRAM_SIZES, GRAMS_PER_WORD, SearchWords
from training.world import search_of

GRAPHS = ("pair", "text")
FILES = tuple(f"{name}.onnx" for name in GRAPHS)
FRAME_IN = ("memory", FRAME_KIND, *MAPS_IN)
SIZES = {sizes.__name__: sizes for sizes in PAIR_NETWORKS}
FOUND_BY_NONSENSE = 0.05  # of meaningless queries may find something
EXAMPLES = ("A red Lorry!", "man gone at the gate", "", "Wer war im Hof?", "４ cafés")


class CropPairGraph(nn.Module):
    """The vector of a change from its region crops, with the tensors of the bundle format."""

    def __init__(self, pair: PairVector):
        super().__init__()
        self.pair = pair

    def forward(self, *inputs: Tensor) -> Tensor:
        """HEAD_IN -> [B,V]."""
        return self.pair(*head_arguments(*inputs))


class FramePairGraph(nn.Module):
    """The vector of a change from the full frame, with the tensors of the bundle format."""

    def __init__(self, pair: FramePairVector):
        super().__init__()
        self.pair = pair

    def forward(self, memory: Tensor, kind_logits: Tensor, map_before: Tensor, map_after: Tensor) -> Tensor:
        """FRAME_IN -> [B,V]."""
        return self.pair(memory, kind_logits, torch.stack([map_before, map_after], 1))


class BundleText:
    """text.onnx, called like the network that it was exported from."""

    def __init__(self, path: Path):
        self.graph = open_graph(path, "vector")

    def __call__(self, ids: Tensor, grams: Tensor) -> Tensor:
        return torch.from_numpy(self.graph.run(["vector"], {"ids": ids.numpy(), "grams": grams.numpy()})[0])


def load_search(path: Path) -> tuple[SearchVectors, dict]:
    """Both networks for inference and the file's content. @raises SystemExit naming the file if it holds none."""
    try:
        saved = torch.load(path, weights_only=True)
        # Files of before the bundles without crops state neither the evidence nor the width.
        sizes = SIZES[saved.get("evidence", EvidenceSizes.__name__)](**saved["sizes"])
        width = saved.get("text_width", TEXT_WIDTH)
        search = SearchVectors(sizes, len(saved["vocabulary"]), text_width=width)
        search.load_state_dict(saved["search"])
    except (KeyError, TypeError, RuntimeError) as reason:
        raise SystemExit(f"{path}: holds no search vectors of this version ({first_line(reason)})") from None
    return search.eval(), saved


def export_crop_pair(pair: PairVector, bundle: Path, map_shape: tuple[int, int], path: Path) -> float:
    free = {name: {0: "B"} for name in (*HEAD_IN, "vector")}
    return export_with_evidence(
        CropPairGraph(pair).eval(), bundle, path, map_shape, (2, 3), ({}, {}), ("vector",), free
    )


def export_frame_pair(pair: FramePairVector, bundle: Path, map_shape: tuple[int, int], path: Path) -> float:
    sizes, rng = pair.sizes, np.random.default_rng(0)
    shapes = [(sizes.grid[0] * sizes.grid[1], sizes.memory_width), (len(KINDS),), map_shape, map_shape]

    def example(batch: int) -> tuple[Tensor, ...]:
        return tuple(torch.from_numpy(rng.uniform(size=(batch, *shape)).astype(np.float32)) for shape in shapes)

    return export_vector(FramePairGraph(pair).eval(), FRAME_IN, "B", (example(2), example(3)), path)


# Per network the function that writes its graph, for change maps of `map_shape`. It returns the largest difference
# from PyTorch. @raises SystemExit if that exceeds PARITY
EXPORT_PAIR = {PairVector: export_crop_pair, FramePairVector: export_frame_pair}


def export_text(text: TextVector, words: SearchWords, path: Path) -> float:
    """Writes the graph. Returns the largest difference from PyTorch. @raises SystemExit if that exceeds PARITY"""
    first, other = (tuple(map(torch.from_numpy, words.batch(texts))) for texts in (EXAMPLES[:2], EXAMPLES))
    return export_vector(text.eval(), ("ids", "grams"), "Q", (first, other), path)


def export_vector(
    module: nn.Module, inputs: tuple[str, ...], rows: str, examples: tuple[tuple[Tensor, ...], ...], path: Path
) -> float:
    """Writes the graph inputs -> vector. rows: name of the free first axis; examples: inputs of the export, and of the
    comparison with PyTorch. Returns the largest difference. @raises SystemExit if that exceeds PARITY"""
    first, other = examples
    torch.onnx.export(
        module,
        first,
        str(path),
        input_names=list(inputs),
        output_names=["vector"],
        dynamic_axes={name: {0: rows} for name in (*inputs, "vector")},
        opset_version=OPSET,
        dynamo=False,
    )
    onnx.save(store_half_where_exact(onnx.load(path)), path)
    feed = {name: values.numpy() for name, values in zip(inputs, other)}
    with torch.no_grad():
        error = worst(module(*other), open_graph(path, "vector").run(["vector"], feed)[0])
    if not error <= PARITY:
        raise SystemExit(f"{path}: differs from PyTorch by {error}, expected at most {PARITY}")
    return error


def nonsense(words: SearchWords, count: int, rng: np.random.Generator) -> list[str]:
    """Meaningless queries: one to four invented words, or words of queries without a noun."""
    letters = np.array(list("abcdefghijklmnoprstuvwz"))
    invent = lambda: "".join(rng.choice(letters, rng.integers(3, 9)))
    return [" ".join(invent() for _ in range(rng.integers(1, 5))) for _ in range(count)]


def least_cosine(text, pairs: Tensor, words: SearchWords, count: int = 400) -> float:
    """The cosine that the best of all pairs exceeds for FOUND_BY_NONSENSE of meaningless queries only."""
    ids, grams = map(torch.from_numpy, words.batch(nonsense(words, count, np.random.default_rng(5))))
    best = (text(ids, grams) @ pairs.T).amax(1).numpy()
    return round(float(np.quantile(best, 1 - FOUND_BY_NONSENSE)), 4)


@torch.no_grad()
def add_search(
    search_file: Path, bundle: Path, version: str, world: str, heldout: Path, training_data: list[dict]
) -> float:
    """Adds both graphs to the bundle folder under a new version. Returns the largest difference from PyTorch.

    heldout: cache to measure on. training_data: replaces the manifest's list, because the vectors may have learned from
    more than the other graphs.
    """
    search, saved = load_search(search_file)
    words, plugin = SearchWords(saved["vocabulary"]), search_of(world)
    manifest = read_json(bundle / "manifest.json", "files", "graphs", "metrics")
    data = plugin.open_pairs([heldout], bundle, saved["seed"])
    outputs = {tensor["name"]: tensor["shape"] for tensor in manifest["graphs"]["difference"]["outputs"]}
    round_to_half(search)
    partial = {name: bundle / f".{name}" for name in FILES}
    try:
        export_pair = EXPORT_PAIR[type(search.pair)]
        error = max(
            export_pair(search.pair, bundle, tuple(outputs["map_before"][1:]), partial["pair.onnx"]),
            export_text(search.text, words, partial["text.onnx"]),
        )
        for name, path in partial.items():
            os.replace(path, bundle / name)
    finally:
        for path in partial.values():
            path.unlink(missing_ok=True)
    # The network of a change equals its graph within PARITY, and reads the evidence that the cache stores.
    text = BundleText(bundle / "text.onnx")
    encoded = [words.encode(example) for example in EXAMPLES]
    manifest |= {
        "version": version,
        **entries_of(bundle, manifest, *GRAPHS),
        "search": {
            "dimensions": DIMENSIONS,
            "vocabulary": saved["vocabulary"],
            "special": {"pad": PAD, "unk": UNK, "end": END},
            "max_words": MAX_WORDS,
            "buckets": BUCKETS,
            "grams_per_word": GRAMS_PER_WORD,
            "gram_sizes": list(GRAM_SIZES),
            "synonyms": dict(plugin.synonyms),
            "event_words": {event: list(of) for event, of in plugin.event_words.items()},
            "least_cosine": least_cosine(text, vectors_of(search.pair, data), words),
            "examples": [
                {"text": text, "ids": ids, "grams": [list(row) for row in grams]}
                for text, (ids, grams) in zip(EXAMPLES, encoded)
            ],
            "metrics": figures(text, search.pair, data, plugin.development_pairs),
            "seed": saved["seed"],
            "command": f"python -m training.search --world {world} --seed {saved['seed']} --steps {saved['steps']}",
            "cost": f"{saved['steps']} steps on {saved['pairs']} cached pairs, {saved['cost']}",
        },
        "training_data": training_data,
    }
    replace_manifest(bundle, manifest)
    return error

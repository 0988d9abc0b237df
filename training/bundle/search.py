"""Adds trained search vectors to a bundle: the graphs pair.onnx and text.onnx and the manifest's key `search`.

    python -m training.bundle install --part RUN/search.pt --bundle models/scorer-surveillance --version 0.9.0 \
        --heldout DIR --facts training/facts/scorer-surveillance.json

Both graphs are compared with PyTorch before the manifest is replaced; the figures in it are measured through them.
"""

from pathlib import Path

import numpy as np
import onnx
import torch
from torch import Tensor, nn

from training.bundle.graphs import OPSET
from training.bundle.half import round_to_half, store_half_where_exact
from training.bundle.heads import HEAD_IN, export_with_evidence, head_arguments, load_head
from training.bundle.manifest import entries_of, replace_manifest, replacing
from training.bundle.parity import within_parity, worst
from training.contract import BUCKETS, END, MAX_WORDS, PAD, UNK
from training.data.changes import Changes
from training.data.evidence_graph import evidence_graph
from training.data.search_figures import DEVELOPMENT_PAIRS, figures, vectors_of
from training.inputs import open_graph, read_json
from training.net.search import DIMENSIONS, PairVector, SearchVectors, TextVector
from training.text.queries import EVENT_WORDS, SYNONYMS
from training.text.search_words import GRAM_SIZES, GRAMS_PER_WORD, SearchWords

GRAPHS = ("pair", "text")
FOUND_BY_NONSENSE = 0.05  # of meaningless queries may find something
EXAMPLES = ("A red Lorry!", "man gone at the gate", "", "Wer war im Hof?", "４ cafés")


class PairGraph(nn.Module):
    """The vector of a change from its region crops, with the tensors of the bundle format."""

    def __init__(self, pair: PairVector):
        super().__init__()
        self.pair = pair

    def forward(self, *inputs: Tensor) -> Tensor:
        """HEAD_IN -> [B,V]."""
        return self.pair(*head_arguments(*inputs))


class BundleText:
    """text.onnx, called like the network that it was exported from."""

    def __init__(self, path: Path):
        self.graph = open_graph(path, "vector")

    def __call__(self, ids: Tensor, grams: Tensor) -> Tensor:
        return torch.from_numpy(self.graph.run(["vector"], {"ids": ids.numpy(), "grams": grams.numpy()})[0])


def export_pair(pair: PairVector, bundle: Path, map_shape: tuple[int, int], path: Path) -> float:
    free = {name: {0: "B"} for name in (*HEAD_IN, "vector")}
    evidence = evidence_graph(bundle)
    return export_with_evidence(PairGraph(pair).eval(), evidence, path, map_shape, (2, 3), ({}, {}), ("vector",), free)


def export_text(text: TextVector, words: SearchWords, path: Path) -> float:
    """Writes the graph. Returns the largest difference from PyTorch."""
    text.eval()
    first, other = (tuple(map(torch.from_numpy, words.batch(texts))) for texts in (EXAMPLES[:2], EXAMPLES))
    torch.onnx.export(
        text,
        first,
        str(path),
        input_names=["ids", "grams"],
        output_names=["vector"],
        dynamic_axes={name: {0: "Q"} for name in ("ids", "grams", "vector")},
        opset_version=OPSET,
        dynamo=False,
    )
    onnx.save(store_half_where_exact(onnx.load(path)), path)
    with torch.no_grad():
        return worst(text(*other), BundleText(path)(*other).numpy())


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
def add_search(search_file: Path, bundle: Path, version: str, heldout: Path, training_data: list[dict]) -> float:
    """Adds both graphs to the bundle folder under a new version. Returns the largest difference from PyTorch.

    heldout: cache to measure on. training_data: replaces the manifest's list, because the vectors may have learned from
    more than the other graphs.
    """
    search, saved = load_head(search_file, "search", SearchVectors)
    words = SearchWords(saved["vocabulary"])
    manifest = read_json(bundle / "manifest.json", "files", "graphs", "metrics")
    data = Changes.open([heldout], bundle, saved["seed"])
    outputs = {tensor["name"]: tensor["shape"] for tensor in manifest["graphs"]["difference"]["outputs"]}
    round_to_half(search)
    with replacing(bundle / "pair.onnx") as pair_file, replacing(bundle / "text.onnx") as text_file:
        maps = tuple(outputs["map_before"][1:])
        errors = {"pair": export_pair(search.pair, bundle, maps, pair_file)}
        errors |= {"text": export_text(search.text, words, text_file)}
        error = max(within_parity(errors, bundle).values())
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
            "synonyms": dict(SYNONYMS),
            "event_words": {event: list(of) for event, of in EVENT_WORDS.items()},
            "least_cosine": least_cosine(text, vectors_of(search.pair, data), words),
            "examples": [
                {"text": text, "ids": ids, "grams": [list(row) for row in grams]}
                for text, (ids, grams) in zip(EXAMPLES, encoded)
            ],
            "metrics": figures(text, search.pair, data, DEVELOPMENT_PAIRS),
            "seed": saved["seed"],
            "command": f"python -m training.search --seed {saved['seed']} --steps {saved['steps']}",
            "cost": f"{saved['steps']} steps on {saved['pairs']} cached pairs, {saved['cost']}",
        },
        "training_data": training_data,
    }
    replace_manifest(bundle, manifest)
    return error

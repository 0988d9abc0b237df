"""Correspondence as an output of a finished bundle: the attention of its cross-view layers, from its own graph.

The reconstruction of one frame from the other (Tu et al., ICCV 2023, Eq. 5) is an attention over the tokens of the
other frame; their Figure 8 shows its maxima. The graph of the bundle keeps it inside. Here it becomes an output, of a
copy in memory: neither the weights nor the file change.

Letters: N tokens of a frame, K of them that the graph keeps because they may show an object, H heads, L layers.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count, takewhile
from pathlib import Path

import numpy as np
import onnx
import onnxruntime

from training.data.preprocess import resize
from training.inputs import existing_file, open_graph, read_json

ATTENTION = "/difference/layers.{layer}/Softmax_output_0"  # of "before" to "after", [1,H,K,K]
KEPT = ("/difference/TopK_output_1", "/difference/TopK_1_output_1")  # tokens of "before" and "after", [1,K]
SHOWN = ("/difference/TopK_output_0", "/difference/TopK_1_output_0")  # logits that they show an object, [1,K]


@dataclass(frozen=True)
class Correspondence:
    """Attention of one pair. Tokens are numbered row by row over `grid`."""

    grid: tuple[int, int]  # rows, columns
    attention: np.ndarray  # float32 [L,H,K,K]: layer, head, kept token of "before", kept token of "after"
    kept_before: np.ndarray  # int [K]
    kept_after: np.ndarray  # int [K]
    shows_object: np.ndarray  # bool [K], of "before"
    features: tuple[np.ndarray, np.ndarray]  # float32 [N,C] of "before" and "after", before every layer

    def partners(self, layer: int, head: int | None = None) -> np.ndarray:
        """Per kept token of "before" the token of "after" with the most attention, int [K].

        layer, head: from 0; without a head the mean over heads.
        """
        weights = self.attention[layer]
        return self.kept_after[(weights.mean(0) if head is None else weights[head]).argmax(1)]

    def nearest_features(self) -> np.ndarray:
        """Per kept token of "before" the token of "after" whose features have the highest cosine, int [K]."""
        before, after = (f / np.linalg.norm(f, axis=1, keepdims=True) for f in self.features)
        return (before[self.kept_before] @ after.T).argmax(1)

    def entropy(self, layer: int) -> np.ndarray:
        """Entropy in nats of the attention of each kept token of "before", mean over heads first: float32 [K]."""
        weights = self.attention[layer].mean(0)
        return -(weights * np.log(weights + 1e-12)).sum(1)


class CorrespondenceGraph:
    """The graphs of a bundle with the attention as an output. @raises SystemExit if the bundle keeps none."""

    def __init__(self, bundle: Path):
        manifest = read_json(bundle / "manifest.json", "input.width", "input.height")
        if manifest.get("camera") != "moving":
            raise SystemExit(f"{bundle}: is a bundle of a fixed camera, expected one of a moving camera")
        self.size = manifest["input"]["width"], manifest["input"]["height"]
        self.features = open_graph(bundle / "features.onnx", "coarse", "fine")
        model = onnx.load(existing_file(str(bundle / "difference.onnx")))
        made = {name for node in model.graph.node for name in node.output}
        self.layers = list(takewhile(made.__contains__, (ATTENTION.format(layer=layer) for layer in count())))
        if not self.layers or not made.issuperset(KEPT + SHOWN):
            raise SystemExit(
                f"{bundle}: its graph has no attention between kept tokens; it was exported in another way"
            )
        self.outputs = [*self.layers, *KEPT, *SHOWN]
        model.graph.output.extend(onnx.ValueInfoProto(name=name) for name in self.outputs)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 3  # the added outputs have no declared shape, of which the runtime would warn
        self.difference = onnxruntime.InferenceSession(
            model.SerializeToString(), options, providers=["CPUExecutionProvider"]
        )

    def __call__(self, before: np.ndarray, after: np.ndarray) -> Correspondence:
        """Frames uint8 [h,w,3], RGB, of any size."""
        feed, tokens = {}, []
        for side, frame in (("before", before), ("after", after)):
            image = resize(frame, *self.size)[None]
            coarse, fine = self.features.run(["coarse", "fine"], {"image": image})
            feed |= {f"coarse_{side}": coarse, f"fine_{side}": fine}
            tokens.append(_tokens(coarse[0], fine[0]))
        found = self.difference.run(self.outputs, feed)
        attention = found[: len(self.layers)]
        kept_before, kept_after, shown, _ = (values[0] for values in found[len(self.layers) :])
        return Correspondence(
            grid=coarse.shape[2:],
            attention=np.concatenate(attention),
            kept_before=kept_before,
            kept_after=kept_after,
            shows_object=shown > 0,
            features=(tokens[0], tokens[1]),
        )


def _tokens(coarse: np.ndarray, fine: np.ndarray) -> np.ndarray:
    """[Cc,r,c] and [Cf,2r,2c] -> [r*c,Cc+4*Cf]: a coarse cell and its four fine ones side by side."""
    channels, rows, columns = coarse.shape
    parts = fine.reshape(len(fine), rows, 2, columns, 2).transpose(0, 2, 4, 1, 3)  # [Cf,2,2,r,c]
    return np.concatenate([coarse.reshape(channels, -1), parts.reshape(-1, rows * columns)]).T

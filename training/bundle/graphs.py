"""The difference and caption networks as ONNX graphs, with the tensor names of the bundle format."""

import shutil
from pathlib import Path

import onnx
import torch
from torch import Tensor, nn

from training.bundle.half import round_to_half, store_half_where_exact
from training.contract import CAPTION_OUT, CROP_IN, DIFFERENCE_IN, DIFFERENCE_OUT, FRAME_KIND, START
from training.net.captioner import Captioner, expand_crop_attention
from training.net.difference import Difference

OPSET = 17


def caption_in(c) -> tuple[str, ...]:
    """Names of the caption graph's inputs."""
    crops = CROP_IN if c.region_crops else ()
    return ("memory", *crops, *((FRAME_KIND,) if c.relates_crops else ()))


def caption_out(c) -> tuple[str, ...]:
    """Names of the caption graph's outputs; kind_logits (of full frame and crops together) only if crops are
    related."""
    return (*CAPTION_OUT, "kind_logits") if c.relates_crops else CAPTION_OUT


class DifferenceGraph(nn.Module):
    def __init__(self, difference: Difference):
        super().__init__()
        self.difference = difference

    def forward(self, coarse_before: Tensor, fine_before: Tensor, coarse_after: Tensor, fine_after: Tensor):
        return tuple(outputs_of(self.difference, coarse_before, fine_before, coarse_after, fine_after).values())


def outputs_of(difference: Difference, *frames: Tensor) -> dict[str, Tensor]:
    """Name -> output of the difference graph."""
    d = difference(*frames)
    exchanged = difference.exchanged(*d["sides"]) if "sides" in d else {}
    return {name: d[name] for name in DIFFERENCE_OUT} | exchanged


class EncodeMemory(nn.Module):
    """Everything computed once per sentence: crops, and keys and values of the memory for both decoder layers."""

    def __init__(self, captioner: Captioner):
        super().__init__()
        self.captioner = captioner

    def forward(self, memory: Tensor, *seen: Tensor):
        """seen: nothing, the crops, or the crops and the full frame's kind logits."""
        crops, frame_kind = seen[: len(CROP_IN)], seen[len(CROP_IN) :]
        memory, bias, conditioning, uncovered, outputs = self.captioner.encode_memory(
            memory, crops or None, *frame_kind
        )
        kind = (outputs["kind_logits"],) if "kind_logits" in outputs else ()
        return (
            bias,
            conditioning,
            uncovered,
            *(t for layer in self.captioner.layers for t in layer.memory_kv(memory)),
            *kind,
        )


class Step(nn.Module):
    def __init__(self, captioner: Captioner):
        super().__init__()
        self.captioner = captioner

    def forward(self, tokens, previous, uncovered, slot, past, k0, v0, k1, v1, mk0, mv0, mk1, mv1, bias, conditioning):
        scores, attended, uncovered, (k0, v0, k1, v1) = self.captioner.step(
            tokens, previous, uncovered, slot, past, [k0, v0, k1, v1], [mk0, mv0, mk1, mv1], bias, conditioning
        )
        best, token = self.captioner.choose(scores)
        return token, best, attended, uncovered, k0, v0, k1, v1


class GreedyGraph(nn.Module):
    """The decode loop, as a script so that it becomes one ONNX Loop.

    Every buffer has its final size from the start: the exporter writes wrong static shapes for tensors that grow.
    """

    def __init__(
        self,
        encode_memory: torch.jit.ScriptModule,
        step: torch.jit.ScriptModule,
        c,
        crops: bool,
        cache: tuple[int, int],
    ):
        """cache: heads and width of the caches of the self-attention."""
        super().__init__()
        self.encode_memory, self.step = encode_memory, step
        self.T: int = c.max_length
        self.H: int = cache[0]
        self.d: int = cache[1]
        self.N: int = c.memory_grid[0] * c.memory_grid[1]
        self.R: int = c.regions if crops else 0
        self.G: int = c.crop_grid**2
        self.register_buffer("eye", torch.eye(c.max_length))
        self.register_buffer("future", torch.triu(torch.full((c.max_length, c.max_length), -10_000.0), 1))

    def forward(
        self,
        memory: Tensor,
        glance_coarse: Tensor,
        glance_fine: Tensor,
        glance_box: Tensor,
        object_box: Tensor,
        glance_mask: Tensor,
    ):
        bias, conditioning, uncovered, mk0, mv0, mk1, mv1 = self.encode_memory(
            memory, glance_coarse, glance_fine, glance_box, object_box, glance_mask
        )
        return self.decode(memory, bias, conditioning, uncovered, mk0, mv0, mk1, mv1)

    def decode(
        self,
        memory: Tensor,
        bias: Tensor,
        conditioning: Tensor,
        uncovered: Tensor,
        mk0: Tensor,
        mv0: Tensor,
        mk1: Tensor,
        mv1: Tensor,
    ):
        B = memory.size(0)
        S = mk0.size(2)
        empty = torch.zeros([B, self.H, self.T, self.d], dtype=memory.dtype)
        k0, v0, k1, v1 = empty, empty, empty, empty
        token = torch.full([B], 2, dtype=torch.int64)  # START
        previous = torch.zeros([B], dtype=torch.int64)
        alive = torch.ones([B], dtype=torch.int64)
        ids = torch.zeros([B, self.T], dtype=torch.int64)
        log_prob = torch.zeros([B, self.T], dtype=memory.dtype)
        attention = torch.zeros([B, self.T, S], dtype=memory.dtype)
        t = 0
        go = True
        while go:
            slot = self.eye[t]
            chosen, best, attended, uncovered, k0, v0, k1, v1 = self.step(
                token, previous, uncovered, slot, self.future[t], k0, v0, k1, v1, mk0, mv0, mk1, mv1, bias, conditioning
            )
            previous, token = token, chosen * alive
            living = alive.to(memory.dtype)
            ids = ids + token[:, None] * slot.to(torch.int64)[None, :]
            log_prob = log_prob + (best * living)[:, None] * slot[None, :]
            attention = attention + (attended * living[:, None])[:, None, :] * slot[None, :, None]
            alive = alive * (token != 3).to(torch.int64)  # END
            t = t + 1
            go = bool(alive.sum() > 0) and t < self.T
        length = ((ids != 0) & (ids != 3)).to(torch.int64).sum(1)
        if self.R > 0:
            attention = expand_crop_attention(attention, B, self.T, self.N, self.R, self.G)
        return ids, log_prob, length, attention


class RelatedGreedyGraph(GreedyGraph):
    """With related crops: kind_logits are those of the full frame and the crops together."""

    def forward(
        self,
        memory: Tensor,
        glance_coarse: Tensor,
        glance_fine: Tensor,
        glance_box: Tensor,
        object_box: Tensor,
        glance_mask: Tensor,
        frame_kind: Tensor,
    ):
        bias, conditioning, uncovered, mk0, mv0, mk1, mv1, kind = self.encode_memory(
            memory, glance_coarse, glance_fine, glance_box, object_box, glance_mask, frame_kind
        )
        ids, log_prob, length, attention = self.decode(memory, bias, conditioning, uncovered, mk0, mv0, mk1, mv1)
        return ids, log_prob, length, attention, kind


class PlainGreedyGraph(GreedyGraph):
    """Without region crops: the paper's single memory."""

    def forward(self, memory: Tensor):
        bias, conditioning, uncovered, mk0, mv0, mk1, mv1 = self.encode_memory(memory)
        return self.decode(memory, bias, conditioning, uncovered, mk0, mv0, mk1, mv1)


def example_inputs(c, batch: int, seed: int) -> tuple[tuple[Tensor, ...], tuple[Tensor, ...]]:
    """Random inputs of the difference graph and of the caption graph's crops."""
    g = torch.Generator().manual_seed(seed)
    h, w = c.grid
    frame = lambda: (
        torch.randn(batch, c.coarse_channels, h, w, generator=g),
        torch.randn(batch, c.fine_channels, 2 * h, 2 * w, generator=g),
    )
    R, q = c.regions, c.crop_grid
    corner = torch.rand(batch, R, 2, generator=g) * 0.5
    side = torch.rand(batch, R, 2, generator=g) * 0.4 + 0.1
    mask = (torch.arange(R)[None] <= torch.arange(batch)[:, None] % R).float()
    crops = (
        torch.randn(batch, R, 2, c.coarse_channels, q, q, generator=g),
        torch.randn(batch, R, 2, c.fine_channels, 2 * q, 2 * q, generator=g),
        torch.cat([corner, side], 2),
        torch.cat([corner + side * 0.15, side * 0.7], 2),
        mask,
    )
    return (*frame(), *frame()), crops


def write_graph(
    module,
    inputs: tuple[Tensor, ...],
    names: tuple[str, ...],
    outputs: tuple[str, ...],
    path: Path,
    axes: dict[str, dict[int, str]] | None = None,
) -> None:
    """axes: names of the free axes of a tensor, if they are not the first one alone, as B."""
    axes = {name: {0: "B"} for name in (*names, *outputs)} | (axes or {})
    torch.onnx.export(
        module,
        inputs,
        str(path),
        dynamo=False,
        opset_version=OPSET,
        input_names=list(names),
        output_names=list(outputs),
        dynamic_axes=axes,
    )
    model = onnx.load(path)
    del model.graph.value_info[:]
    onnx.save(store_half_where_exact(model), path)


def write_difference(difference: Difference, path: Path) -> None:
    """Writes difference.onnx; the network is rounded to float16 values."""
    round_to_half(difference)
    frames, _ = example_inputs(difference.c, 2, 1)
    graph = DifferenceGraph(difference).eval()
    with torch.no_grad():
        names = tuple(outputs_of(difference, *frames))
    write_graph(graph, frames, DIFFERENCE_IN, names, path)


@torch.no_grad()
def write_captioner(captioner: Captioner, memory: Tensor, kind_logits: Tensor, path: Path) -> None:
    """Writes caption.onnx; the network is rounded to float16 values.

    memory [2,N,D], kind_logits [2,K]: outputs of the difference network, or random ones of these shapes.
    """
    c = captioner.c
    round_to_half(captioner)
    _, crops = example_inputs(c, 2, 1)
    first = (memory, *crops, kind_logits)[: len(caption_in(c))]
    once, word = captioner.graph_parts() if c.architecture else (EncodeMemory(captioner), Step(captioner))
    encode_memory = torch.jit.trace(once.eval(), first, check_trace=False)
    bias, conditioning, uncovered, *kv = encode_memory(*first)[:7]
    T, cache = c.max_length, captioner.cache
    caches = [torch.zeros(2, cache[0], T, cache[1]) for _ in range(4)]
    step = torch.jit.trace(
        word.eval(),
        (
            torch.tensor([START, START]),
            torch.zeros(2, dtype=torch.int64),
            uncovered,
            torch.eye(T)[0],
            torch.zeros(T),
            *caches,
            *kv,
            bias,
            conditioning,
        ),
        check_trace=False,
    )
    kind = PlainGreedyGraph if not c.region_crops else RelatedGreedyGraph if c.crop_relations else GreedyGraph
    graph = kind(encode_memory, step, c, c.region_crops, cache)
    write_graph(torch.jit.script(graph.eval()), first, caption_in(c), caption_out(c), path)


def export_graphs(difference: Difference, captioner: Captioner, features: Path, folder: Path) -> None:
    shutil.copyfile(features, folder / "features.onnx")
    write_difference(difference, folder / "difference.onnx")
    frames, _ = example_inputs(captioner.c, 2, 1)
    with torch.no_grad():
        d = difference(*frames)
    write_captioner(captioner, d["memory"], d["kind_logits"], folder / "caption.onnx")

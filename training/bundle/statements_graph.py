"""Exports `statements.onnx`: the captions of many rows about each of a few pairs (`training.net.statements`)."""

from pathlib import Path

import onnx
import torch
from torch import Tensor, nn

from training.bundle.graphs import caption_out, example_inputs, write_graph
from training.bundle.half import round_to_half
from training.contract import FRAME_KIND, KINDS, MAX_WORDS, PAD, START, STATEMENTS_IN
from training.net.captioner import Captioner, membership
from training.net.statements import AppendWord, EncodeRows

FILE = "statements.onnx"
# A clause states its verb by one of these.
VERBS = {"has", "have", "is", "are"}
CROP_AXES, ROW_AXES = {0: "P", 1: "C"}, {0: "Z", 1: "L"}
AXES = dict.fromkeys(STATEMENTS_IN[1:5], CROP_AXES) | {
    "memory": {0: "Z"},
    FRAME_KIND: {0: "Z"},
    "rows": ROW_AXES,
    "clauses": ROW_AXES,
}


class StatementsGraph(nn.Module):
    """The decode loop as a script, so that it becomes one ONNX Loop. Ids are those of `training.contract`."""

    def __init__(self, encode: torch.jit.ScriptModule, append: torch.jit.ScriptModule, captioner: Captioner):
        super().__init__()
        c = captioner.c
        self.encode, self.append = encode, append
        self.T: int = c.max_length
        self.H: int = captioner.cache[0]
        self.d: int = captioner.cache[1]
        self.N: int = c.memory_grid[0] * c.memory_grid[1]
        self.G: int = c.crop_grid**2
        self.R: int = min(c.regions, c.described_crops)
        self.undescribed: int = (c.regions - self.R) * self.G
        self.register_buffer("positions", captioner.positions)
        self.AND: int = c.vocabulary.index("and") if "and" in c.vocabulary else -1
        self.register_buffer("is_verb", membership(c.vocabulary, VERBS)[:, 0].to(torch.int64))

    def forward(
        self,
        memory: Tensor,
        glance_coarse: Tensor,
        glance_fine: Tensor,
        glance_box: Tensor,
        object_box: Tensor,
        frame_kind: Tensor,
        rows: Tensor,
        clauses: Tensor,
    ):
        """As `EncodeRows`; clauses [Z,L]: a row ends after so many, with the "and" before the next one; 0 = no words.
        Outputs are of the rows of one view after the other: [B,...]."""
        clauses = clauses.flatten()
        which, hidden, conditioning, uncovered, sk0, sv0, rk0, rv0, sk1, sv1, rk1, rv1, kind = self.encode(
            memory, glance_coarse, glance_fine, glance_box, object_box, frame_kind, rows
        )
        B = clauses.size(0)
        k0 = torch.zeros([B, self.H, 0, self.d])
        v0, k1, v1 = k0, k0, k0
        token = torch.full([B], 2, dtype=torch.int64)  # START
        previous = torch.zeros([B], dtype=torch.int64)
        alive = (clauses > 0).to(torch.int64)
        stated = torch.zeros([B], dtype=torch.int64)  # whether the clause has its verb
        ids = torch.zeros([B, 0], dtype=torch.int64)
        log_prob = torch.zeros([B, 0])
        attention = torch.zeros([B, 0, self.N + self.R * (self.G + 1)])
        t = 0
        go = True
        while go:
            word = self.append(
                *(token, previous, uncovered, self.positions[t], k0, v0, k1, v1),
                *(sk0, sv0, rk0, rv0, sk1, sv1, rk1, rv1, which, hidden, conditioning),
            )
            chosen, best, attended, uncovered, k0, v0, k1, v1 = word
            living = alive.to(torch.float32)
            previous, token = token, chosen * alive
            ids = torch.cat([ids, token.unsqueeze(1)], 1)
            log_prob = torch.cat([log_prob, (best * living).unsqueeze(1)], 1)
            attention = torch.cat([attention, (attended * living.unsqueeze(1)).unsqueeze(1)], 1)
            # An "and" between two things of one clause has no verb before it.
            ended = stated * (token == self.AND).to(torch.int64)
            clauses = clauses - ended
            stated = torch.maximum(stated * (1 - ended), self.is_verb[token])
            alive = alive * (token != 3).to(torch.int64) * (clauses > 0).to(torch.int64)  # END
            t = t + 1
            go = bool(alive.sum() > 0) and t < self.T
        ids = torch.nn.functional.pad(ids, [0, self.T - t])
        log_prob = torch.nn.functional.pad(log_prob, [0, self.T - t])
        attention = torch.nn.functional.pad(attention, [0, 0, 0, self.T - t])
        length = ((ids != 0) & (ids != 3)).to(torch.int64).sum(1)
        cells = attention[:, :, self.N : self.N + self.R * self.G].reshape(B, self.T, self.R, self.G)
        summaries = attention[:, :, self.N + self.R * self.G :]  # [B,T,R']
        slots = cells + summaries.unsqueeze(3) / self.G  # [B,T,R',G], as in `expand_crop_attention`
        attention = torch.cat([attention[:, :, : self.N], slots.reshape(B, self.T, -1)], 2)
        return ids, log_prob, length, torch.nn.functional.pad(attention, [0, self.undescribed]), kind


def rows_of(c, pairs: int) -> Tensor:
    """Example rows [2 * pairs,L,R] over as many crops as a row has slots: all crops, then each one."""
    alone = [[crop] + [-1] * (c.regions - 1) for crop in range(c.regions)]
    return torch.tensor([list(range(c.regions)), *alone]).expand(2 * pairs, -1, -1)


@torch.no_grad()
def write_statements(captioner: Captioner, path: Path) -> None:
    """Writes the graph; the network, which must relate its crops, is rounded to float16 values."""
    c = captioner.c
    round_to_half(captioner)
    pairs = 3
    _, (*crops, _mask) = example_inputs(c, pairs, 1)
    random = torch.Generator().manual_seed(1)
    memory = torch.randn(2 * pairs, c.memory_grid[0] * c.memory_grid[1], c.width, generator=random)
    first = (memory, *crops, torch.randn(2 * pairs, len(KINDS), generator=random), rows_of(c, pairs))
    encode = torch.jit.trace(EncodeRows(captioner).eval(), first, check_trace=False)
    which, hidden, conditioning, uncovered, *kv, _kind = encode(*first)
    B, (H, d) = len(which), captioner.cache
    cache = [torch.zeros(B, H, 2, d) for _ in range(4)]
    start = (torch.full((B,), START), torch.full((B,), PAD), uncovered, captioner.positions[2])
    word = (*start, *cache, *kv, which, hidden, conditioning)
    append = torch.jit.trace(AppendWord(captioner).eval(), word, check_trace=False)
    graph = torch.jit.script(StatementsGraph(encode, append, captioner).eval())
    write_graph(graph, (*first, torch.full(first[-1].shape[:2], MAX_WORDS)), STATEMENTS_IN, caption_out(c), path, AXES)
    model = onnx.load(path)
    forget_shapes(model.graph)
    onnx.save(model, path)


def forget_shapes(graph: onnx.GraphProto) -> None:
    """Removes the shapes of the graphs within, in place: the exporter states those of the first word, but they grow."""
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("g"):
                for value in (*attribute.g.input, *attribute.g.output):
                    if value.type.tensor_type.shape.dim:  # a scalar keeps its shape
                        value.type.tensor_type.ClearField("shape")
                del attribute.g.value_info[:]
                forget_shapes(attribute.g)

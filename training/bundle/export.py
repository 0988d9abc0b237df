"""A checkpoint as a bundle: three ONNX graphs and a manifest (the contract that src/model loads).

    python -m training.bundle.export --checkpoint RUN/best.pt --features features.q.onnx --calibration calibration.json \
        --facts training/facts/scorer-surveillance.json --name scorer-surveillance --version 0.1.0 --out models/scorer-surveillance

Weights of the difference and caption graphs are stored as float16 and computed as float32 (ONNX Runtime folds the casts when it
loads): the checkpoint is rounded first, so PyTorch and the graphs hold the same numbers. The bundle is written beside its place
and renamed into it when everything has been checked; a failure leaves nothing behind.
"""

import argparse
import json
import shutil
import tempfile
from pathlib import Path

import numpy as np
import onnx
import torch
from torch import Tensor, nn

from training.bundle.export_features import store_half
from training.checkpoint import load_run
from training.data.batches import SPECIALS
from training.data.map_regions import REGION_MIN_CELLS, REGION_THRESHOLD
from training.data.preprocess import GLANCE_MARGIN, GLANCE_MIN_SIDE, GLANCE_SIZE
from training.inputs import existing_file, open_graph, read_json, sha256
from training.net.config import END, KINDS, NUISANCES, PAD, START, UNK
from training.net.model import Captioner, Difference, over_the_crops
from training.worlds import load_world

OPSET = 17
DTYPES = {"tensor(float)": "float32", "tensor(int64)": "int64"}
PARITY = 1e-3  # largest difference of a float between PyTorch and ONNX Runtime
DIFFERENCE_IN = ("coarse_before", "fine_before", "coarse_after", "fine_after")
DIFFERENCE_OUT = ("memory", "change_logit", "kind_logits", "nuisance_logits", "map_before", "map_after")
GLANCE_IN = ("glance_coarse", "glance_fine", "glance_box", "object_box", "glance_mask")
LOOK_KIND = "look_kind_logits"  # the difference graph's kind_logits, for glances that look at each other to believe the kind together with
STATED = ("licence", "metrics", "training_data", "cost")  # in --facts
CALIBRATED = (  # in --calibration, for the bundle and for the service that loads it
    "hedge.share",
    "heldout",
    "calibrated_on",
    "calibration.threshold",
    "calibration.operating_points",
    "calibration.nuisances",
    "calibration.change.scale",
    "calibration.change.offset",
)
CAPTION_OUT = ("ids", "log_prob", "length", "attention")


def related(c) -> bool:
    return c.glances and c.glance_relations


def caption_in(c) -> tuple[str, ...]:
    """Names of the caption graph's inputs."""
    return ("memory", *GLANCE_IN, LOOK_KIND) if related(c) else ("memory", *GLANCE_IN) if c.glances else ("memory",)


def caption_out(c) -> tuple[str, ...]:
    """Names of the caption graph's outputs: kind_logits (of the whole look and the glances together) only where the glances look at each other."""
    return (*CAPTION_OUT, "kind_logits") if related(c) else CAPTION_OUT


class DifferenceGraph(nn.Module):
    def __init__(self, difference: Difference):
        super().__init__()
        self.difference = difference

    def forward(self, coarse_before: Tensor, fine_before: Tensor, coarse_after: Tensor, fine_after: Tensor):
        d = self.difference(coarse_before, fine_before, coarse_after, fine_after)
        return tuple(d[name] for name in DIFFERENCE_OUT)


class Remember(nn.Module):
    """Everything that happens once a sentence: glances, and keys and values of the memory for both decoder layers."""

    def __init__(self, captioner: Captioner):
        super().__init__()
        self.captioner = captioner

    def forward(self, memory: Tensor, *seen: Tensor):
        """seen: nothing, the glances, or the glances and the whole look's kind logits."""
        glances, look_kind = seen[: len(GLANCE_IN)], seen[len(GLANCE_IN) :]
        memory, bias, opening, owed, said = self.captioner.remember(memory, glances or None, *look_kind)
        kind = (said["kind_logits"],) if "kind_logits" in said else ()
        return (bias, opening, owed, *(t for layer in self.captioner.layers for t in layer.memory_kv(memory)), *kind)


class Step(nn.Module):
    def __init__(self, captioner: Captioner):
        super().__init__()
        self.captioner = captioner

    def forward(self, tokens, previous, owed, slot, past, k0, v0, k1, v1, mk0, mv0, mk1, mv1, bias, opening):
        scores, looked, owed, (k0, v0, k1, v1) = self.captioner.step(
            tokens, previous, owed, slot, past, [k0, v0, k1, v1], [mk0, mv0, mk1, mv1], bias, opening
        )
        best, token = self.captioner.choose(scores)
        return token, best, looked, owed, k0, v0, k1, v1


class GreedyGraph(nn.Module):
    """The decode loop, scripted so that it becomes one ONNX Loop: every buffer has its final size from the start, because the
    exporter writes wrong static shapes for tensors that grow."""

    def __init__(self, remember: torch.jit.ScriptModule, step: torch.jit.ScriptModule, c, glances: bool):
        super().__init__()
        self.remember, self.step = remember, step
        self.T: int = c.max_length
        self.H: int = c.heads
        self.d: int = c.width // c.heads
        self.N: int = c.memory_grid[0] * c.memory_grid[1]
        self.R: int = c.regions if glances else 0
        self.G: int = c.glance_grid**2
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
        bias, opening, owed, mk0, mv0, mk1, mv1 = self.remember(
            memory, glance_coarse, glance_fine, glance_box, object_box, glance_mask
        )
        return self.decode(memory, bias, opening, owed, mk0, mv0, mk1, mv1)

    def decode(
        self,
        memory: Tensor,
        bias: Tensor,
        opening: Tensor,
        owed: Tensor,
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
            said, best, looked, owed, k0, v0, k1, v1 = self.step(
                token, previous, owed, slot, self.future[t], k0, v0, k1, v1, mk0, mv0, mk1, mv1, bias, opening
            )
            previous, token = token, said * alive
            living = alive.to(memory.dtype)
            ids = ids + token[:, None] * slot.to(torch.int64)[None, :]
            log_prob = log_prob + (best * living)[:, None] * slot[None, :]
            attention = attention + (looked * living[:, None])[:, None, :] * slot[None, :, None]
            alive = alive * (token != 3).to(torch.int64)  # END
            t = t + 1
            go = bool(alive.sum() > 0) and t < self.T
        length = ((ids != 0) & (ids != 3)).to(torch.int64).sum(1)
        if self.R > 0:
            attention = over_the_crops(attention, B, self.T, self.N, self.R, self.G)
        return ids, log_prob, length, attention


class RelatedGreedyGraph(GreedyGraph):
    """With glances that look at each other: together with the whole look they also say of what kind the change is."""

    def forward(
        self,
        memory: Tensor,
        glance_coarse: Tensor,
        glance_fine: Tensor,
        glance_box: Tensor,
        object_box: Tensor,
        glance_mask: Tensor,
        look_kind: Tensor,
    ):
        bias, opening, owed, mk0, mv0, mk1, mv1, kind = self.remember(
            memory, glance_coarse, glance_fine, glance_box, object_box, glance_mask, look_kind
        )
        ids, log_prob, length, attention = self.decode(memory, bias, opening, owed, mk0, mv0, mk1, mv1)
        return ids, log_prob, length, attention, kind


class PlainGreedyGraph(GreedyGraph):
    """Without glances (the paper's single memory)."""

    def forward(self, memory: Tensor):
        bias, opening, owed, mk0, mv0, mk1, mv1 = self.remember(memory)
        return self.decode(memory, bias, opening, owed, mk0, mv0, mk1, mv1)


def example_inputs(c, batch: int, seed: int) -> tuple[tuple[Tensor, ...], tuple[Tensor, ...]]:
    """Random inputs of the difference graph and of the caption graph's glances."""
    g = torch.Generator().manual_seed(seed)
    h, w = c.grid
    look = lambda: (
        torch.randn(batch, c.coarse_channels, h, w, generator=g),
        torch.randn(batch, c.fine_channels, 2 * h, 2 * w, generator=g),
    )
    R, q = c.regions, c.glance_grid
    corner = torch.rand(batch, R, 2, generator=g) * 0.5
    side = torch.rand(batch, R, 2, generator=g) * 0.4 + 0.1
    mask = (torch.arange(R)[None] <= torch.arange(batch)[:, None] % R).float()
    glances = (
        torch.randn(batch, R, 2, c.coarse_channels, q, q, generator=g),
        torch.randn(batch, R, 2, c.fine_channels, 2 * q, 2 * q, generator=g),
        torch.cat([corner, side], 2),
        torch.cat([corner + side * 0.15, side * 0.7], 2),
        mask,
    )
    return (*look(), *look()), glances


def round_weights(*modules: nn.Module) -> None:
    for module in modules:
        for tensor in (*module.parameters(), *module.buffers()):
            if tensor.dtype == torch.float32:
                tensor.data = tensor.data.half().float()


def write_graph(
    module, inputs: tuple[Tensor, ...], names: tuple[str, ...], outputs: tuple[str, ...], path: Path
) -> None:
    axes = {name: {0: "B"} for name in (*names, *outputs)}
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


def store_half_where_exact(model: onnx.ModelProto) -> onnx.ModelProto:
    """The exporter folds constants (transposed weights stay float16 values; a few scalars such as 1/sqrt(d) do not): those stay float32."""
    tensors = [onnx.TensorProto.FromString(i.SerializeToString()) for i in model.graph.initializer]
    keep = [
        t for t in tensors if t.data_type == onnx.TensorProto.FLOAT and not exact_half(onnx.numpy_helper.to_array(t))
    ]
    kept = {t.name for t in keep}
    del model.graph.initializer[:]
    model.graph.initializer.extend(t for t in tensors if t.name not in kept)
    model = store_half(model)
    model.graph.initializer.extend(keep)
    return model


def exact_half(values: np.ndarray) -> bool:
    return bool(np.array_equal(values.astype(np.float16).astype(np.float32), values))


def worst(expected: Tensor, got: np.ndarray) -> float:
    return float(np.abs(expected.numpy().astype(np.float64) - got).max()) if got.size else 0.0


def check_parity(
    folder: Path, difference: Difference, captioner: Captioner, batch: int = 3, seed: int = 77
) -> dict[str, float]:
    """PyTorch against ONNX Runtime on inputs and a batch size unlike the export's. @raises SystemExit over PARITY or on other ids."""
    c = captioner.c
    looks, glances = example_inputs(c, batch, seed)
    with torch.no_grad():
        d = difference(*looks)
        said = captioner.greedy(d["memory"], glances if c.glances else None, d["kind_logits"])
    got = dict(
        zip(
            DIFFERENCE_OUT,
            open_graph(folder / "difference.onnx").run(
                DIFFERENCE_OUT, {n: x.numpy() for n, x in zip(DIFFERENCE_IN, looks)}
            ),
        )
    )
    errors = {name: worst(d[name], got[name]) for name in DIFFERENCE_OUT}
    feed = {n: x.numpy() for n, x in zip(caption_in(c), (d["memory"], *glances, d["kind_logits"]))}
    got = dict(zip(caption_out(c), open_graph(folder / "caption.onnx").run(caption_out(c), feed)))
    for name in ("ids", "length"):
        if not np.array_equal(said[name].numpy(), got[name]):
            raise SystemExit(
                f"caption.onnx: {name} differ from PyTorch's: {got[name].tolist()}, expected {said[name].tolist()}"
            )
    errors |= {name: worst(said[name], got[name]) for name in ("log_prob", "attention", "kind_logits") if name in said}
    bad = {name: error for name, error in errors.items() if not error <= PARITY}
    if bad:
        raise SystemExit(
            f"parity: {', '.join(f'{n} is off by {e:.2g}' for n, e in bad.items())}; at most {PARITY} is allowed"
        )
    return errors


def tensor_table(path: Path) -> dict:
    """Names, types and shapes as ONNX Runtime reports them; the manifest states them and the service checks them."""
    model = open_graph(path)
    row = lambda t: {
        "name": t.name,
        "dtype": DTYPES[t.type],
        "shape": [s if isinstance(s, (int, str)) else "?" for s in t.shape],
    }
    return {
        "file": path.name,
        "inputs": [row(t) for t in model.get_inputs()],
        "outputs": [row(t) for t in model.get_outputs()],
    }


def export_graphs(difference: Difference, captioner: Captioner, features: Path, folder: Path) -> dict[str, float]:
    c = captioner.c
    round_weights(difference, captioner)
    shutil.copyfile(features, folder / "features.onnx")
    looks, glances = example_inputs(c, 2, 1)
    with torch.no_grad():
        d = difference(*looks)
        write_graph(
            DifferenceGraph(difference).eval(), looks, DIFFERENCE_IN, DIFFERENCE_OUT, folder / "difference.onnx"
        )
        first = (d["memory"], *glances, d["kind_logits"])[: len(caption_in(c))]
        remember = torch.jit.trace(Remember(captioner).eval(), first, check_trace=False)
        bias, opening, owed, *kv = remember(*first)[:7]
        T, H, d = c.max_length, c.heads, c.width // c.heads
        caches = [torch.zeros(2, H, T, d) for _ in range(4)]
        step = torch.jit.trace(
            Step(captioner).eval(),
            (
                torch.tensor([START, START]),
                torch.zeros(2, dtype=torch.int64),
                owed,
                torch.eye(T)[0],
                torch.zeros(T),
                *caches,
                *kv,
                bias,
                opening,
            ),
            check_trace=False,
        )
        kind = PlainGreedyGraph if not c.glances else RelatedGreedyGraph if c.glance_relations else GreedyGraph
        graph = kind(remember, step, c, c.glances)
        write_graph(torch.jit.script(graph.eval()), first, caption_in(c), caption_out(c), folder / "caption.onnx")
    return check_parity(folder, difference, captioner)


def manifest(folder: Path, c, facts: dict) -> dict:
    (rows, columns), (height, width) = c.memory_grid, c.look
    graphs = {name: tensor_table(folder / f"{name}.onnx") for name in ("features", "difference", "caption")}
    return {
        "format": "scenedelta-bundle/1",
        "name": facts["name"],
        "version": facts["version"],
        "architecture": "scorer-two-glance" if c.glances else "scorer",
        "licence": facts["licence"],
        "files": {graph["file"]: sha256(folder / graph["file"]) for graph in graphs.values()},
        "input": {
            "width": width,
            "height": height,
            "resize": "antialiased-triangle",
            "channels": "rgb",
            "mean": [0, 0, 0],
            "std": [1, 1, 1],
        },
        "glance": {"size": GLANCE_SIZE, "regions": c.regions, "margin": GLANCE_MARGIN, "min_side": GLANCE_MIN_SIDE}
        if c.glances
        else None,
        "graphs": graphs,
        "attention": {"grid": [rows, columns], "glance": [c.glance_grid, c.glance_grid] if c.glances else None},
        "vocabulary": c.vocabulary,
        "special": {"pad": PAD, "unk": UNK, "start": START, "end": END},
        "max_length": c.max_length,
        "kinds": list(KINDS),
        "nuisances": list(NUISANCES),
        "regions": {"threshold": REGION_THRESHOLD, "min_cells": REGION_MIN_CELLS},
        **({"unchanged_sentence": facts["unchanged"]} if "unchanged" in facts else {}),
        **({"camera": "moving"} if c.moving_camera else {}),
        **({"align_from": facts["align_from"]} if facts.get("align_from") is not None else {}),
        **{
            key: facts[key]
            for key in ("calibration", "metrics", "training_data", "configuration", "seeds", "cost", "command")
        },
    }


def command_of(saved: dict) -> str:
    """The training as far as the checkpoint records it; every value of its config is the manifest's `configuration`."""
    config, t, start = saved["config"], saved["config"]["train"], saved.get("start_from")
    seeds = [str(of["seed"]) for of in saved.get("soup", [saved])]
    kept = ", ".join(str(of["step"]) for of in saved.get("soup", [saved]))
    began = (
        "what it started from is not recorded"
        if "start_from" not in saved
        else "started from random weights"
        if start is None
        else f"started from {start['file']} of sha256 {start['sha256']}, seed {start['seed']}, step {start['step']}"
    )
    command = (
        f"python -m training.train --config training/configs/{config['name']}.toml --seed {seeds[0]}"
        f" --set train.steps={t['steps']} --set train.learning_rate={t['learning_rate']}"
    )
    if start:
        command += f" --start-from {start['file']}"
    said = [f"kept at step {kept}", began, "the other values: configuration"]
    if len(seeds) > 1:
        said.append(f"the mean of seeds {', '.join(seeds)} by python -m training.soup")
    return f"{command} ({'; '.join(said)})"


def align_from_of(bundle: Path) -> float | None:
    """The `align_from` of the bundle that the export replaces; None if there is no bundle or its manifest has no such key."""
    path = bundle / "manifest.json"
    return read_json(path).get("align_from") if path.exists() else None


def put_in_place(folder: Path, target: Path) -> None:
    """Renames the new bundle to `target`; the old bundle is put aside first and removed last."""
    if not target.exists():
        folder.rename(target)
        return
    aside = folder.with_name(f"{target.name}.old")
    target.rename(aside)
    try:
        folder.rename(target)
    except BaseException:
        aside.rename(target)
        raise
    shutil.rmtree(aside)


def write_bundle(
    checkpoint: Path,
    features: Path,
    calibration: Path,
    stated: dict,
    name: str,
    version: str,
    out: Path,
    align_from: float | None,
) -> None:
    """Writes the bundle folder `out` and checks parity; a bundle that is already there is replaced.

    stated: see STATED. align_from: None keeps the value of the bundle that is replaced.
    """
    fitted = read_json(calibration, *CALIBRATED)
    difference, captioner, saved = load_run(checkpoint)
    c = captioner.c
    if c.vocabulary[: len(SPECIALS)] != list(SPECIALS):
        raise SystemExit(f"{checkpoint}: vocabulary starts with {c.vocabulary[:4]}, expected {list(SPECIALS)}")
    captioner.hedge(load_world(saved["config"]["world"]).wider_nouns, fitted["hedge"]["share"])
    facts = stated | {
        "name": name,
        "version": version,
        "calibration": fitted["calibration"],
        "metrics": stated["metrics"] | {"held-out synthetic pairs": fitted["heldout"] | fitted["calibrated_on"]},
        "configuration": saved["config"] | {"hedge": fitted["hedge"]["share"]},
        "seeds": [of["seed"] for of in saved.get("soup", [saved])],
        "command": command_of(saved),
    }
    if "unchanged" in saved["config"]:
        facts["unchanged"] = saved["config"]["unchanged"]
    facts["align_from"] = align_from_of(out) if align_from is None else align_from
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out.parent) as scratch:
        folder = Path(scratch) / name
        folder.mkdir()
        errors = export_graphs(difference, captioner, features, folder)
        (folder / "manifest.json").write_text(json.dumps(manifest(folder, c, facts), indent=1) + "\n")
        size = sum(p.stat().st_size for p in folder.iterdir())
        put_in_place(folder, out)
    print(f"{out}: {size / 1e6:.1f} MB; PyTorch = ONNX Runtime within {max(errors.values()):.1e}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--checkpoint", type=existing_file, required=True)
    parser.add_argument("--features", type=existing_file, required=True)
    parser.add_argument("--calibration", type=existing_file, required=True, help="JSON of training.bundle.calibrate")
    parser.add_argument(
        "--facts",
        type=existing_file,
        required=True,
        help="JSON: licence, metrics, training_data, cost (what a person states)",
    )
    parser.add_argument("--name", required=True)
    parser.add_argument("--version", required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument(
        "--align-from",
        type=float,
        help="displacement, as a fraction of the frame's width, from which `after` is aligned; default: that of the bundle at --out",
    )
    args = parser.parse_args()
    write_bundle(
        args.checkpoint,
        args.features,
        args.calibration,
        read_json(args.facts, *STATED),
        args.name,
        args.version,
        args.out,
        args.align_from,
    )


if __name__ == "__main__":
    main()

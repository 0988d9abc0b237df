"""manifest.json of a bundle: everything the service needs to run the graphs, and how they were trained."""

import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from training.contract import END, KINDS, NUISANCES, PAD, START, UNK
from training.data.map_regions import REGION_MIN_CELLS, REGION_STRONG, REGION_THRESHOLD
from training.data.preprocess import CROP_MARGIN, CROP_MIN_SIDE, CROP_SIZE
from training.inputs import open_graph, sha256

DTYPES = {"tensor(float)": "float32", "tensor(int64)": "int64"}


def tensor_table(path: Path) -> dict:
    """Names, types and shapes as ONNX Runtime reports them; the service checks them when it loads the bundle."""
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


def manifest(folder: Path, c, facts: dict) -> dict:
    (rows, columns), (height, width) = c.memory_grid, c.full_frame
    graphs = {name: tensor_table(folder / f"{name}.onnx") for name in ("features", "difference", "caption")}
    return {
        "format": "scenedelta-bundle/1",
        "name": facts["name"],
        "version": facts["version"],
        "architecture": c.architecture or ("scorer-two-glance" if c.region_crops else "scorer"),
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
        "glance": {"size": CROP_SIZE, "regions": c.regions, "margin": CROP_MARGIN, "min_side": CROP_MIN_SIDE}
        if c.region_crops
        else None,
        "graphs": graphs,
        "attention": {
            "grid": [rows, columns],
            "glance": [c.crop_grid, c.crop_grid] if c.region_crops else None,
            **({"layout": facts["layout"]} if "layout" in facts else {}),
        },
        "vocabulary": c.vocabulary,
        "special": {"pad": PAD, "unk": UNK, "start": START, "end": END},
        "max_length": c.max_length,
        "kinds": list(KINDS),
        "nuisances": list(NUISANCES),
        "regions": {"threshold": REGION_THRESHOLD, "min_cells": REGION_MIN_CELLS, "strong": REGION_STRONG},
        **({"unchanged_sentence": facts["unchanged"]} if "unchanged" in facts else {}),
        **({"camera": "moving"} if c.moving_camera else {}),
        **({"align_from": facts["align_from"]} if facts.get("align_from") is not None else {}),
        **{
            key: facts[key]
            for key in ("calibration", "metrics", "training_data", "configuration", "seeds", "cost", "command")
        },
    }


def entries_of(bundle: Path, manifest: dict, *graphs: str) -> dict:
    """The manifest's `files` and `graphs`, with the entries of these graphs as they lie in the bundle's folder now."""
    files = {f"{name}.onnx": sha256(bundle / f"{name}.onnx") for name in graphs}
    tables = {name: tensor_table(bundle / f"{name}.onnx") for name in graphs}
    return {"files": manifest["files"] | files, "graphs": manifest["graphs"] | tables}


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A file beside `path` to write to, which replaces it at the end; an error leaves `path` as it was."""
    partial = path.with_name(f".{path.name}")
    try:
        yield partial
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)


def replace_manifest(bundle: Path, manifest: dict) -> None:
    """Writes manifest.json of the folder whole: a reader sees the old one or the new one."""
    with replacing(bundle / "manifest.json") as partial:
        partial.write_text(flat_arrays_on_one_line(json.dumps(manifest, indent=1)) + "\n")


def flat_arrays_on_one_line(text: str) -> str:
    """JSON whose arrays of numbers and words are a line each, so that the trees of a lens are not a number per line."""
    return re.sub(r"\[\n\s*([^\[\]{}]*?)\n\s*\]", lambda found: "[" + re.sub(r"\n *", " ", found[1]) + "]", text)


def configuration_of(saved: dict, hedge: float) -> dict:
    """The manifest's `configuration` of a checkpoint: all settings, and the classes of the captioner's heads."""
    labels = {name: saved["labels"][name] for name in ("nouns", "colours")}
    return saved["config"] | {"hedge": hedge, "labels": labels}


def command_of(saved: dict) -> str:
    """The training command, as far as the checkpoint records it; all values of its config are in `configuration`."""
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
    notes = [f"kept at step {kept}", began, "the other values: configuration"]
    if len(seeds) > 1:
        notes.append(f"the mean of seeds {', '.join(seeds)} by python -m training.soup")
    return f"{command} ({'; '.join(notes)})"

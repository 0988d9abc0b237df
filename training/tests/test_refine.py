"""Refining: the network of a bundle is read back from its graph, and only maps and heads are trained on."""

import json
from dataclasses import asdict

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from training import refine
from training.bundle.restore import restore_difference
from training.contract import KINDS, NUISANCES
from training.inputs import sha256
from training.net.difference import Difference
from training.tests.networks import random_frames, small_config

SIZES = ("coarse_channels", "fine_channels", "grid", "width", "heads", "map_width", "max_length")


@pytest.fixture
def bundle(tmp_path):
    """A bundle of a random network, as far as refining reads it; the network stands beside it."""
    torch.manual_seed(4)
    c = small_config(grid=(4, 6))
    network = Difference(c).eval()
    for parameter in network.parameters():  # norms start equal to each other, and the exporter shares equal constants
        parameter.data += 0.05 * torch.randn_like(parameter)
    folder = tmp_path / "bundle"
    folder.mkdir()
    refine.write_difference(network, folder / "difference.onnx")
    sizes = {name: value for name, value in asdict(c).items() if name in SIZES}
    manifest = {"configuration": {"model": sizes | {"unknown": 1}}, "vocabulary": c.vocabulary, "files": {}}
    (folder / "manifest.json").write_text(json.dumps(manifest | {"graphs": {}, "metrics": {}}))
    return folder, network


class MadeData:
    """Changed pairs have a bright cell in `after`."""

    cache = range(8)

    def __init__(self, config):
        self.config = config

    def batch(self, indices, rng):
        frames = random_frames(self.config, len(self.cache))
        changed = torch.tensor([float(i % 2) for i in self.cache])
        h, w = 2 * self.config.grid[0], 2 * self.config.grid[1]
        masks = torch.zeros(len(self.cache), 2, h, w)
        masks[1::2, 1, 2, 3] = 1
        frames[3][1::2, :, 2, 3] += 8
        b = {"coarse": torch.stack(frames[0::2], 1), "fine": torch.stack(frames[1::2], 1), "masks": masks}
        kind = torch.where(changed > 0, KINDS.index("appear"), 0)
        b |= {"changed": changed, "kind": kind, "nuisances": torch.zeros(len(self.cache), len(NUISANCES))}
        return {name: value[indices] for name, value in b.items()}


def test_a_restored_network_equals_the_exported_one(bundle):
    folder, network = bundle
    restored = restore_difference(folder)
    frames = random_frames(network.c, 2)
    with torch.no_grad():
        expected, got = network(*frames), restored(*frames)
    for name in ("memory", "change_logit", "kind_logits", "nuisance_logits", "map_after"):
        assert torch.allclose(expected[name], got[name], atol=1e-5), name


def test_a_graph_of_another_network_is_refused(bundle):
    folder, _ = bundle
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["configuration"]["model"]["map_width"] = 12
    (folder / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(SystemExit, match="is of another network: maps.fine.weight"):
        restore_difference(folder)


def test_training_moves_maps_and_heads_alone_and_learns(bundle):
    folder, network = bundle
    before = {name: value.clone() for name, value in network.state_dict().items()}
    data = MadeData(network.c)
    b = data.batch(list(data.cache), None)

    def loss(one):
        with torch.no_grad():
            terms = refine.losses(one(*refine.difference_inputs(b)), b)
        return float(terms["map"] + terms["change"])

    first = loss(network)
    refined = refine.train(network, data, steps=60, batch=8, rate=1e-2, seed=1)
    assert loss(refined) < 0.7 * first
    moved = {name.split(".")[0] for name, value in refined.state_dict().items() if not torch.equal(value, before[name])}
    assert moved == set(refine.HEADS)
    figures = refine.seen(refined, data)
    assert figures["pairs"] == 8 and figures["auroc"] == 1 and 0 <= figures["pointing"] <= 1


def test_an_installed_graph_has_its_hash_in_the_manifest(bundle, tmp_path):
    folder, network = bundle
    with torch.no_grad():
        network.change[2].bias += 1
    refine.write_difference(network, tmp_path / "difference.onnx")
    refine.install(folder, tmp_path / "difference.onnx", {"pairs": 8})
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["files"]["difference.onnx"] == sha256(folder / "difference.onnx")
    assert manifest["metrics"]["maps and heads, refined"] == {"pairs": 8}
    restored = restore_difference(folder)
    assert np.isclose(restored.change[2].bias.item(), network.change[2].bias.item())

"""Training a bundle's captioner on: it is read back from its graph, gets new words, and is put into the bundle."""

import json
from dataclasses import asdict

import onnx
import pytest

torch = pytest.importorskip("torch")

from training.bundle import captioner as captioner_command
from training.bundle.difference import rewrite
from training.bundle.graphs import write_captioner, write_difference
from training.bundle.manifest import tensor_table
from training.bundle.parity import check_difference
from training.bundle.restore import restore_captioner
from training.bundle.start import extended, give_words
from training.contract import DIFFERENCE_OUT, KINDS
from training.data.batches import Labels, event_tables
from training.inputs import sha256
from training.net.captioner import Captioner
from training.net.config import ModelConfig
from training.net.difference import Difference
from training.tests.networks import random_crops, small_config
from training.world import load_world

WORLD = load_world("surveillance")
SIZES = (
    *("coarse_channels", "fine_channels", "grid", "width", "heads", "map_width", "max_length", "regions"),
    *("crop_relations", "colour_head"),
)
HEDGE = 0.9


def config(**changes) -> ModelConfig:
    return small_config(grid=(4, 6), crop_relations=True, colour_head=True, **event_tables(WORLD), **changes)


def random_network(kind: type, c: ModelConfig, seed: int) -> torch.nn.Module:
    torch.manual_seed(seed)
    network = kind(c).eval()
    for parameter in network.parameters():  # some start at zero, and the exporter shares equal constants
        parameter.data += 0.05 * torch.randn_like(parameter)
    return network


def memory_of(c: ModelConfig, batch: int) -> tuple[torch.Tensor, torch.Tensor]:
    random = torch.Generator().manual_seed(3)
    tokens = c.memory_grid[0] * c.memory_grid[1]
    return torch.randn(batch, tokens, c.width, generator=random), torch.randn(batch, len(KINDS), generator=random)


@pytest.fixture
def bundle(tmp_path):
    """A bundle of random networks, as far as the commands read it, and the networks."""
    c = config()
    difference, captioner = random_network(Difference, c, 4), random_network(Captioner, c, 5)
    captioner.hedge(WORLD.wider_nouns, HEDGE)
    folder = tmp_path / "bundle"
    folder.mkdir()
    write_difference(difference, folder / "difference.onnx")
    write_captioner(captioner, *memory_of(c, 2), folder / "caption.onnx")
    model = {name: value for name, value in asdict(c).items() if name in SIZES}
    manifest = {
        "version": "1.0.0",
        "files": {name: sha256(folder / name) for name in ("difference.onnx", "caption.onnx")},
        "graphs": {name: tensor_table(folder / f"{name}.onnx") for name in ("difference", "caption")},
        "vocabulary": c.vocabulary,
        "configuration": {
            "model": model,
            "hedge": HEDGE,
            "labels": {"nouns": c.nouns, "colours": c.colours},
        },
    }
    (folder / "manifest.json").write_text(json.dumps(manifest))
    return folder, difference, captioner


def written(captioner: Captioner) -> dict[str, torch.Tensor]:
    memory, kind_logits = memory_of(captioner.c, 3)
    return captioner.greedy(memory, random_crops(captioner.c, 3, [1.0, 1.0]), kind_logits)


def test_a_restored_captioner_writes_the_same_words(bundle):
    folder, _, captioner = bundle
    restored, labels = restore_captioner(folder, WORLD)
    assert labels.vocabulary == captioner.c.vocabulary and labels.colours == captioner.c.colours
    for name, expected in written(captioner).items():
        assert torch.allclose(expected.float(), written(restored)[name].float(), atol=1e-4), name


def test_a_difference_graph_of_an_older_form_is_written_anew_with_its_weights(bundle):
    folder, difference, _ = bundle
    path = folder / "difference.onnx"
    older = onnx.load(path)
    del older.graph.output[len(DIFFERENCE_OUT) :]
    onnx.save(older, path)
    assert rewrite(folder) < 1e-4
    assert max(check_difference(difference, path).values()) < 1e-4
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["version"] == "1.0.0" and manifest["files"]["difference.onnx"] == sha256(path)
    names = [output["name"] for output in manifest["graphs"]["difference"]["outputs"]]
    assert names == [*DIFFERENCE_OUT, "exchanged_memory", "exchanged_kind_logits"]


def test_a_bundle_without_labels_is_refused(bundle):
    folder, *_ = bundle
    manifest = json.loads((folder / "manifest.json").read_text())
    del manifest["configuration"]["labels"]
    (folder / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(SystemExit, match="lacks configuration.labels"):
        restore_captioner(folder, WORLD)


def test_labels_get_the_words_of_the_captions_that_they_lack():
    glance = {"before": None, "after": {"noun": "trailer"}}
    metas = [{"captions": ["a trailer has appeared"], "glances": [glance] * 40}]
    labels = extended(Labels(["<pad>", "has", "a"], ["car"], ["red"]), metas)
    assert labels.vocabulary == ["<pad>", "has", "a", "appeared", "trailer"]
    assert labels.nouns == ["trailer"] and labels.colours == ["red"]


def test_new_words_leave_the_known_ones_as_they_were(bundle):
    _, _, captioner = bundle
    wider = config(vocabulary=[*captioner.c.vocabulary, "trailer", "tractor"], nouns=["bus"])
    longer = Captioner(wider).eval()
    give_words(longer, captioner)
    memory, kind_logits = memory_of(captioner.c, 2)
    crops, ids = random_crops(captioner.c, 2, [1.0, 1.0]), torch.tensor([[2, 5, 6]] * 2)
    logits, expected = longer(memory, crops, ids)[0], captioner(memory, crops, ids)[0]
    torch.testing.assert_close(logits[..., :-2], expected, atol=1e-3, rtol=1e-2)  # positions were rounded to float16
    assert logits.shape[-1] == expected.shape[-1] + 2
    assert torch.all(longer.logits.bias[-2:] == captioner.logits.bias.min())


def test_a_trained_captioner_is_put_into_the_bundle(bundle, tmp_path, monkeypatch):
    folder, difference, captioner = bundle
    with torch.no_grad():
        captioner.logits.bias += torch.randn_like(captioner.logits.bias).half()
    settings = {"name": "small", "world": "surveillance", "model": {"width": 16}}
    settings["train"] = {"steps": 6, "learning_rate": 1e-3}
    saved = {"config": settings, "labels": {"nouns": ["bus"], "colours": ["red"]}, "seed": 7, "step": 3}
    monkeypatch.setattr(captioner_command, "load_run", lambda path: (difference, captioner, saved))
    assert captioner_command.install(tmp_path / "best.pt", folder, "1.1.0") < 1e-3
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["version"] == "1.1.0" and manifest["seeds"] == [7]
    assert manifest["files"]["caption.onnx"] == sha256(folder / "caption.onnx")
    assert manifest["configuration"]["labels"] == {"nouns": ["bus"], "colours": ["red"]}
    assert manifest["configuration"]["hedge"] == HEDGE


def test_a_captioner_of_other_maps_is_refused(bundle, tmp_path, monkeypatch):
    folder, difference, captioner = bundle
    before = (folder / "manifest.json").read_text()
    with torch.no_grad():
        difference.fuse.bias += 1
    monkeypatch.setattr(captioner_command, "load_run", lambda path: (difference, captioner, {}))
    with pytest.raises(SystemExit, match="memory is off by"):
        captioner_command.install(tmp_path / "best.pt", folder, "1.1.0")
    assert (folder / "manifest.json").read_text() == before

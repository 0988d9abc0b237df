"""The papers' sizes: parameters as published or counted from the released configs, and one step."""

import pytest

torch = pytest.importorskip("torch")

from research.captioners.paper_sizes import PAPERS, paper_network
from training.contract import END, START


def count(*modules) -> int:
    return sum(p.numel() for module in modules for p in module.parameters())


def test_scorers_encoder_has_the_parameters_of_the_released_one():
    network = paper_network("scorer", "meta")
    assert count(network.embed) == 525_824
    assert count(network.position) == 7_168
    assert count(network.layers[0]) == 788_993
    assert count(network.embed, network.position, network.layers, network.fuse) == 2_635_778
    unused = count(network.reasoning.matching.value, network.reasoning.matching.norm)
    assert count(network.reasoning) - unused == 2_361_345


def test_scorers_decoder_differs_in_its_word_vectors_alone():
    """Words have the model's width here, and 300 numbers there."""
    captioner = paper_network("scorer", "meta").captioner
    assert count(captioner.layers[0]) == 2_104_320
    assert count(captioner.logits) == 38_988


def test_idc_pcl_has_about_17_million_parameters_without_words():
    network = paper_network("idc_pcl", "meta")
    encoders = count(network.single, network.pair, network.cross, network.image)
    assert encoders == pytest.approx(16.8e6, rel=0.01)


def test_clip4idc_has_the_parameters_counted_from_its_config():
    network = paper_network("clip4idc", "meta")
    vision = count(network.embed, network.norms, network.intra, network.inter, network.project)
    assert vision == pytest.approx(87.9e6, rel=0.01)
    assert count(network.text.embedding.word) == 49_408 * 512
    modules = [
        m for m in (network.encoder, network.decoder.layers, network.decoder.head.dense, network.decoder.head.norm)
    ]
    assert count(*modules) + 49_408 == pytest.approx(22.4e6, rel=0.01)


def test_onediff_has_a_delta_module_of_berts_layers_and_a_model_of_vicunas_size():
    network = paper_network("onediff", "meta")
    assert count(network.delta.within, network.delta.cross) == 6 * 7_087_872
    assert count(network.layers, network.embedding, network.out) == pytest.approx(6.7e9, rel=0.01)


@pytest.mark.parametrize("name", ["scorer", "duda", "mccformers", "idc_pcl"])
def test_one_step_at_the_papers_size(name: str):
    torch.manual_seed(1)
    network, paper = paper_network(name).train(), PAPERS[name]
    cells = paper.cells[0] * paper.cells[1]
    T = network.c.max_length
    ids = torch.full((4, T + 1), END)
    ids[:, 0], ids[:, 1:4] = START, torch.tensor([[5, 6, 7], [8, 9, 10], [5, 9, 7], [11, 12, 13]])
    b = {
        "before": torch.rand(4, cells, paper.channels),
        "after": torch.rand(4, cells, paper.channels),
        "ids": ids,
        "changed": torch.tensor([1.0, 1.0, 0.0, 0.0]),
    }
    task = next(iter(network.stages[-1].tasks))
    terms, encoded = network.losses(task, b)
    sum(terms.values()).backward()
    layout = network.layout
    assert encoded.memory.shape == (4, layout.extra + layout.sides * cells, network.memory_width)
    assert all(torch.isfinite(value) for value in terms.values())

"""The detector of people: its shapes, its published weights, and its graph in a bundle."""

import json

import numpy as np
import pytest

torch = pytest.importorskip("torch")
from training.bundle.half import round_to_half
from training.bundle.people import PeopleGraph, export_people, load_detector
from training.bundle.tfjs import read_tfjs
from training.inputs import open_graph
from training.net.nanodet import CLASSES, NanoDet, load_convolutions

CELLS = 8 * 8 + 4 * 4 + 2 * 2  # of a crop of 64 px at the strides 8, 16 and 32


def convolutions(detector: NanoDet) -> list[torch.nn.Conv2d]:
    return [module for module in detector.modules() if isinstance(module, torch.nn.Conv2d)]


def random_weights(seed: int = 3) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
    random = torch.Generator().manual_seed(seed)
    shapes = [convolution.weight.shape for convolution in convolutions(NanoDet())]
    kernels = [0.05 * torch.randn(kh, kw, i, o, generator=random) for o, i, kh, kw in shapes]
    return kernels, [torch.zeros(o) for o, *_ in shapes]


@pytest.fixture(scope="module")
def detector() -> NanoDet:
    return load_convolutions(NanoDet(), *random_weights()).eval()


def test_every_cell_has_scores_and_a_box_around_it(detector):
    with torch.no_grad():
        scores, boxes = detector(torch.rand(2, 3, 64, 64))
    assert scores.shape == (2, CELLS, CLASSES) and boxes.shape == (2, CELLS, 4)
    assert ((scores >= 0) & (scores <= 1)).all()
    assert (boxes[..., 0] <= boxes[..., 2]).all() and (boxes[..., 1] <= boxes[..., 3]).all()
    first = (boxes[0, 0, :2] + boxes[0, 0, 2:]) / 2
    assert (first - 3.5).abs().max() < 8 * 10


def test_published_kernels_take_blue_first(detector):
    kernels, _ = random_weights()
    assert torch.equal(detector.stem.weight[:, 0], kernels[0].permute(3, 2, 0, 1)[:, 2])


def test_weights_of_another_network_are_refused():
    kernels, biases = random_weights()
    with pytest.raises(ValueError, match="33 convolutions, NanoDet-g has 34"):
        load_convolutions(NanoDet(), kernels[:-1], biases[:-1])
    kernels[4] = kernels[5]
    with pytest.raises(ValueError, match="a kernel of"):
        load_convolutions(NanoDet(), kernels, biases)


def test_the_graph_has_the_person_alone_and_equals_pytorch(detector, tmp_path):
    round_to_half(detector)
    error = export_people(PeopleGraph(detector).eval(), 64, tmp_path / "people.onnx")
    image = torch.rand(3, 3, 64, 64)
    scores, boxes = open_graph(tmp_path / "people.onnx").run(None, {"image": image.numpy()})
    with torch.no_grad():
        expected, _ = detector(image)
    assert error < 1e-4 and boxes.shape == (3, CELLS, 4)
    assert np.allclose(scores, expected[..., 0].numpy(), atol=1e-4)


def package(folder, kernels, biases) -> None:
    """A package as published: weights as float16, in any order, by the numbers in their names."""
    (folder / "models").mkdir()
    named = {f"PartitionedCall/split{f'_{i}' if i else ''}": kernel for i, kernel in enumerate(kernels)}
    named |= {f"unknown_{2 * i}": bias for i, bias in enumerate(biases)}
    entries, raw = [], b""
    for name, values in reversed(named.items()):
        entries.append(
            {"name": name, "shape": list(values.shape), "dtype": "float32", "quantization": {"dtype": "float16"}}
        )
        raw += values.half().numpy().tobytes()
    (folder / "models" / "nanodet.bin").write_bytes(raw)
    manifest = {"weightsManifest": [{"paths": ["nanodet.bin"], "weights": entries}]}
    (folder / "models" / "nanodet.json").write_text(json.dumps(manifest))


def test_the_published_weights_are_put_in_the_order_of_the_network(tmp_path):
    kernels, biases = random_weights(5)
    biases = [bias + i for i, bias in enumerate(biases)]
    package(tmp_path, kernels, biases)
    loaded = convolutions(load_detector(tmp_path))
    for i, convolution in enumerate(loaded[1:], start=1):
        assert torch.equal(convolution.weight, kernels[i].half().float().permute(3, 2, 0, 1))
        assert convolution.bias.unique().tolist() == [i]


def test_weights_of_another_type_are_refused(tmp_path):
    entry = {"name": "a", "shape": [2], "dtype": "float32", "quantization": {"dtype": "uint8"}}
    (tmp_path / "a.bin").write_bytes(b"ab")
    (tmp_path / "model.json").write_text(json.dumps({"weightsManifest": [{"paths": ["a.bin"], "weights": [entry]}]}))
    with pytest.raises(ValueError, match="a: expected plain float32, float16 or int32"):
        read_tfjs(tmp_path / "model.json")

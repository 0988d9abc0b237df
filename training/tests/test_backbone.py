"""The frozen features, on a narrow network with random weights in place of the published ones."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")
import onnx
import onnxruntime
import torch.nn.functional as F

from training.bundle.backbone import Moments, fit_projections
from training.bundle.export_features import export_features
from training.bundle.half import round_to_half
from training.bundle.keras_weights import BATCH_NORM_EPSILON, load_keras
from training.bundle.quantize import stem_by_blocks
from training.bundle.resnet import FeatureExtractor, ResNet
from training.bundle.tfjs import read_tfjs

BLOCKS, WIDTH = (1, 2, 2), 4


def keras_weights(seed: int = 0) -> dict[str, np.ndarray]:
    """Random weights with the names and layouts of the published file, for ResNet(BLOCKS, WIDTH)."""
    rng = np.random.default_rng(seed)
    weights = {}

    def add(conv: str, norm: str, size: int, inputs: int, outputs: int) -> None:
        kernel = rng.normal(0, (2 / (size * size * inputs)) ** 0.5, (size, size, inputs, outputs))
        weights[f"{conv}/kernel"] = kernel.astype(np.float32)
        for name, values in {
            f"{conv}/bias": rng.normal(0, 0.1, outputs),
            f"{norm}/gamma": rng.uniform(0.5, 1.5, outputs),
            f"{norm}/beta": rng.normal(0, 0.1, outputs),
            f"{norm}/moving_mean": rng.normal(0, 0.1, outputs),
            f"{norm}/moving_variance": rng.uniform(0.001, 1, outputs),  # small enough for epsilon to matter
        }.items():
            weights[name] = values.astype(np.float32)

    add("conv1", "bn_conv1", 7, 3, WIDTH)
    channels = WIDTH
    for index, count in enumerate(BLOCKS):
        width = WIDTH * 2**index
        for letter in "abc"[:count]:
            name = f"{index + 2}{letter}_branch"
            for part, size, inputs, outputs in (
                ("a", 1, channels, width),
                ("b", 3, width, width),
                ("c", 1, width, 4 * width),
            ):
                add(f"res{name}2{part}", f"bn{name}2{part}", size, inputs, outputs)
            if letter == "a":
                add(f"res{name}1", f"bn{name}1", 1, channels, 4 * width)
            channels = 4 * width
    return weights


def keras_forward(weights: dict[str, np.ndarray], image: torch.Tensor) -> list[torch.Tensor]:
    """The network as Keras writes it: BGR, explicit zero padding, batch norm as a layer of its own."""

    def conv(x, name, norm, stride=1, padding=0):
        get = lambda key: torch.from_numpy(weights[key])
        x = F.conv2d(x, get(f"{name}/kernel").permute(3, 2, 0, 1), get(f"{name}/bias"), stride, padding)
        parts = [get(f"{norm}/{part}") for part in ("moving_mean", "moving_variance", "gamma", "beta")]
        return F.batch_norm(x, *parts, eps=BATCH_NORM_EPSILON)

    x = image.flip(1) * 255 - torch.tensor([103.939, 116.779, 123.68]).view(1, 3, 1, 1)
    x = F.relu(conv(F.pad(x, (3, 3, 3, 3)), "conv1", "bn_conv1", stride=2))
    x = F.max_pool2d(F.pad(x, (1, 1, 1, 1)), 3, stride=2)
    maps = []
    for index, count in enumerate(BLOCKS):
        for letter in "abc"[:count]:
            name = f"{index + 2}{letter}_branch"
            stride = 2 if letter == "a" and index else 1
            y = F.relu(conv(x, f"res{name}2a", f"bn{name}2a", stride))
            y = F.relu(conv(y, f"res{name}2b", f"bn{name}2b", padding=1))
            y = conv(y, f"res{name}2c", f"bn{name}2c")
            x = F.relu(y + (conv(x, f"res{name}1", f"bn{name}1", stride) if letter == "a" else x))
        maps.append(x)
    return maps


@pytest.fixture(scope="module")
def extractor() -> FeatureExtractor:
    backbone = load_keras(ResNet(BLOCKS, WIDTH), keras_weights())
    built = FeatureExtractor(backbone, coarse_dim=6, fine_dim=5).eval()
    fit_projections(built, [torch.rand(4, 3, 64, 96, generator=torch.Generator().manual_seed(1))])
    return built


@pytest.fixture(scope="module")
def exported(extractor, tmp_path_factory):
    path = tmp_path_factory.mktemp("export") / "features.onnx"
    export_features(extractor, path)
    return path


def image(*shape: int) -> torch.Tensor:
    return torch.rand(*shape, generator=torch.Generator().manual_seed(2))


def test_loaded_weights_reproduce_the_network_as_keras_writes_it():
    weights, picture = keras_weights(), image(2, 3, 64, 80)
    with torch.inference_mode():
        got = load_keras(ResNet(BLOCKS, WIDTH), weights)(picture)
        expected = keras_forward(weights, picture)
    for mine, theirs in zip(got, expected, strict=True):
        torch.testing.assert_close(mine, theirs, rtol=1e-4, atol=1e-4 * float(theirs.abs().max()))


def test_outputs_have_one_cell_per_16_and_per_8_pixels(extractor):
    coarse, fine = extractor(image(2, 3, 48, 112))
    assert coarse.shape == (2, 6, 3, 7)
    assert fine.shape == (2, 5 + 3, 6, 14)


def test_last_fine_channels_are_the_mean_colour_of_each_cell(extractor):
    picture = torch.zeros(1, 3, 32, 32)
    picture[0, 0, 8:16, 24:32] = 1  # one red cell
    colour = extractor(picture)[1][0, -3:]
    assert colour[:, 1, 3].tolist() == [1, -1, -1]
    assert colour.sum() == -3 * 16 + 2


def test_extractor_is_frozen_and_holds_float16_values(extractor):
    assert not any(p.requires_grad for p in extractor.parameters())
    for tensor in extractor.state_dict().values():
        assert torch.equal(tensor, tensor.half().float())


def test_projection_keeps_the_directions_of_most_variance_and_scales_tokens():
    spread = torch.tensor([5.0, 0.1, 3.0, 0.1])
    tokens = torch.randn(1, 4, 50, 50, generator=torch.Generator().manual_seed(0)) * spread.view(1, 4, 1, 1) + 7
    moments = Moments(4)
    for part in tokens.split(25, dim=2):
        moments.add(part)
    weight, bias, kept = moments.projection(2)
    projected = F.conv2d(tokens, weight, bias)
    assert kept > 0.99
    assert projected.mean(dim=(0, 2, 3)).abs().max() < 1e-3
    assert projected.square().sum(1).mean() == pytest.approx(2, rel=1e-3)
    assert weight[0, 0].abs() > 10 * weight[0, 2].abs() and weight[1, 2].abs() > 10 * weight[1, 0].abs()


@pytest.mark.parametrize("shape", [(1, 3, 64, 96), (3, 3, 112, 112)])
def test_onnx_equals_pytorch_on_shapes_it_was_not_exported_with(extractor, exported, shape):
    picture = image(*shape) ** 2
    with torch.inference_mode():
        expected = extractor(picture)
    got = onnxruntime.InferenceSession(exported, providers=["CPUExecutionProvider"]).run(
        None, {"image": picture.numpy()}
    )
    for theirs, mine in zip(expected, got, strict=True):
        assert np.abs(mine - theirs.numpy()).max() <= 1e-4 * float(theirs.abs().max())


def test_exported_weights_are_stored_as_float16(exported):
    kinds = {initializer.data_type for initializer in onnx.load(exported).graph.initializer}
    assert onnx.TensorProto.FLOAT not in kinds and onnx.TensorProto.FLOAT16 in kinds


def test_runtime_folds_the_casts_so_that_they_cost_nothing(exported, tmp_path):
    options = onnxruntime.SessionOptions()
    options.optimized_model_filepath = str(tmp_path / "optimised.onnx")
    onnxruntime.InferenceSession(exported, options, providers=["CPUExecutionProvider"])
    assert "Cast" not in {node.op_type for node in onnx.load(options.optimized_model_filepath).graph.node}


def test_a_stem_that_reads_blocks_gives_the_same_features(exported):
    picture = {"image": image(2, 3, 64, 80).numpy()}
    folded = stem_by_blocks(onnx.load(exported))
    got = onnxruntime.InferenceSession(folded.SerializeToString()).run(None, picture)
    expected = onnxruntime.InferenceSession(exported).run(None, picture)
    assert "SpaceToDepth" in {node.op_type for node in folded.graph.node}
    for mine, theirs in zip(got, expected, strict=True):
        assert np.abs(mine - theirs).max() <= 1e-5 * np.abs(theirs).max()
    with pytest.raises(ValueError, match="expected a stride of 2 over three channels"):
        stem_by_blocks(folded)


class TestRefusals:
    def test_weights_that_float16_cannot_hold_are_not_exported(self, extractor, tmp_path):
        broken = FeatureExtractor(ResNet(BLOCKS, WIDTH), 6, 5)  # freshly initialised, not rounded
        with pytest.raises(ValueError, match="round the weights"):
            export_features(broken, tmp_path / "broken.onnx")
        round_to_half(broken)
        export_features(broken, tmp_path / "rounded.onnx")

    def test_shards_of_another_length_than_described_are_refused(self, tmp_path):
        (tmp_path / "shard.bin").write_bytes(np.arange(5, dtype=np.float32).tobytes())
        (tmp_path / "model.json").write_text(
            '{"weightsManifest": [{"paths": ["shard.bin"],'
            ' "weights": [{"name": "a", "shape": [2, 2], "dtype": "float32"}]}]}'
        )
        with pytest.raises(ValueError, match="hold 20 bytes, the manifest describes 16"):
            read_tfjs(tmp_path / "model.json")


def test_tfjs_weights_may_span_shards(tmp_path):
    raw = np.arange(6, dtype=np.float32).tobytes()
    (tmp_path / "1.bin").write_bytes(raw[:10])
    (tmp_path / "2.bin").write_bytes(raw[10:])
    (tmp_path / "model.json").write_text(
        '{"weightsManifest": [{"paths": ["1.bin", "2.bin"], "weights": ['
        '{"name": "a", "shape": [2, 2], "dtype": "float32"}, {"name": "b", "shape": [2], "dtype": "float32"}]}]}'
    )
    weights = read_tfjs(tmp_path / "model.json")
    assert weights["a"].tolist() == [[0, 1], [2, 3]] and weights["b"].tolist() == [4, 5]

"""Every compared architecture: shapes, causality, losses that fall, graphs that equal PyTorch."""

from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from research.captioners import ARCHITECTURES, options_of
from research.captioners.idc_pcl import IdcPcl
from research.tests.architecture_pairs import tiny_batch, tiny_config, tiny_pair
from training.bundle.graphs import export_graphs
from training.bundle.parity import check_parity
from training.contract import START
from training.tests.networks import random_frames

ROWS = [
    ("scorer", {}),
    ("scorer", {"reconstruct": False}),
    ("scorer", {"cbr": 0.1}),
    ("scorer", {"tokens": "raw"}),
    ("scorer", {"tokens": "levels", "delta_tokens": 4, "coupled": 0.5}),
    ("duda", {}),
    ("mccformers", {"ffn": 24, "decoder_ffn": 24}),
    ("mccformers", {"joint": True, "ffn": 24, "decoder_ffn": 24}),
    ("clip4idc", {"vision_width": 24, "vision_heads": 2, "vision_ffn": 24, "intra": 1, "inter": 1, "layers": 2}),
    ("idc_pcl", {"ffn": 24}),
    ("onediff", {"delta": 4, "delta_width": 24, "delta_heads": 2, "delta_ffn": 24, "layers": 2}),
    ("onediff", {"delta": 0, "coupled": 0.0, "layers": 1}),
]
every_row = pytest.mark.parametrize("name, options", ROWS)


@every_row
def test_memory_has_a_row_per_cell_of_the_layout(name: str, options: dict):
    difference, writer = tiny_pair(tiny_config(name, **options))
    d = difference(*random_frames(difference.c, 3))
    layout, N = difference.network.layout, 2 * 3
    assert d["memory"].shape == (3, layout.extra + layout.sides * N, difference.network.memory_width)
    assert d["change_logit"].shape == (3,)
    assert d["map_before"].shape == d["map_after"].shape == (3, 8, 12)
    written = writer.greedy(d["memory"])
    assert written["ids"].shape == (3, 6)
    assert written["attention"].shape == (3, 6, d["memory"].shape[1])
    assert written["attention"].min() >= 0
    assert written["attention"].sum(-1).max() <= 1 + 1e-5


@every_row
def test_a_word_sees_no_later_word(name: str, options: dict):
    difference, _ = tiny_pair(tiny_config(name, **options))
    b = tiny_batch(difference)
    memory = difference.network.encode(b["before"], b["after"]).memory
    ids = b["ids"][:, :-1]
    other = ids.clone()
    other[:, 3] = (other[:, 3] + 1) % 12 + 4
    a, changed = (difference.network.logits(memory, x) for x in (ids, other))
    assert torch.allclose(a[:, :3], changed[:, :3], atol=1e-5)
    assert not torch.allclose(a[:, 3:], changed[:, 3:], atol=1e-3)


def next_words(network, memory: torch.Tensor, ids: torch.Tensor) -> torch.Tensor:
    """Logits of the word after each of ids [B,T] without caches: [B,T,V]. IDC-PCL reads them at a mask behind it."""
    if not isinstance(network, IdcPcl):
        return network.logits(memory, ids)
    mask = torch.full_like(ids[:, :1], network.mask)
    each = [network.logits(memory, torch.cat([ids[:, : t + 1], mask], 1))[:, -1] for t in range(ids.shape[1])]
    return torch.stack(each, 1)


@every_row
@torch.no_grad()
def test_steps_give_the_logits_of_the_whole_sentence(name: str, options: dict):
    difference, _ = tiny_pair(tiny_config(name, **options))
    network, b = difference.network, tiny_batch(difference)
    memory, ids = network.encode(b["before"], b["after"]).memory, b["ids"][:, :-1]
    all_words = torch.log_softmax(next_words(network, memory, ids), -1)
    start = network.start(memory)
    k = v = torch.zeros(len(ids), network.cache[0], 6, network.cache[1])
    carried, eye = start.carried, torch.eye(6)
    for t in range(6):
        past = (torch.arange(6) > t) * -10_000.0
        w = network.step(ids[:, t], carried, eye[t], past, k, v, start.keys, start.values)
        carried, k, v = w.carried, w.k, w.v
        allowed = slice(START + 1, None)  # SCORER's step never writes the special words before END
        assert torch.allclose(
            torch.log_softmax(w.logits[:, allowed], -1), torch.log_softmax(all_words[:, t, allowed], -1), atol=1e-4
        )


@every_row
def test_every_loss_falls_on_one_batch(name: str, options: dict):
    difference, _ = tiny_pair(tiny_config(name, **options))
    network, b = difference.network.train(), tiny_batch(difference)
    optimiser = torch.optim.Adam(network.parameters(), 3e-3)
    for stage in network.stages:
        for task in stage.tasks:
            values = []
            for _ in range(25):
                terms, _ = network.losses(task, b)
                total = sum(terms.values())
                optimiser.zero_grad()
                total.backward()
                optimiser.step()
                values.append(total.item())
            assert sum(values[-5:]) / 5 < sum(values[:5]) / 5, (stage.name, task)


@every_row
def test_heads_that_the_paper_lacks_leave_the_architecture_alone(name: str, options: dict):
    difference, _ = tiny_pair(tiny_config(name, **options))
    b = tiny_batch(difference)
    encoded = difference.network.encode(b["before"], b["after"])
    d = difference.heads(encoded)
    (d["logits_before"].sum() + d["logits_after"].sum() + d["kind_logits"].sum()).backward()
    assert all(p.grad is None for p in difference.network.parameters())
    assert difference.heads.map[0].weight.grad.abs().sum() > 0


@every_row
def test_graphs_equal_pytorch(tmp_path: Path, name: str, options: dict):
    difference, writer = tiny_pair(tiny_config(name, **options))
    (tmp_path / "source.onnx").write_bytes(b"copied as it is")
    export_graphs(difference, writer, tmp_path / "source.onnx", tmp_path)
    for batch in (1, 3):
        assert max(check_parity(tmp_path, difference, writer, batch, seed=batch).values()) < 1e-4


def test_an_unknown_option_is_named():
    with pytest.raises(SystemExit, match="duda: there is no option layers; known are tokens, sparse"):
        options_of(tiny_config("duda", layers=2))
    with pytest.raises(SystemExit, match="no architecture 'dda'; known are scorer"):
        options_of(tiny_config("dda"))
    assert set(ARCHITECTURES) == {"scorer", "duda", "mccformers", "clip4idc", "idc_pcl", "onediff"}

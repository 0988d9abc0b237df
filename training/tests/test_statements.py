"""statements.onnx writes what caption.onnx writes, row by row."""

import pytest

torch = pytest.importorskip("torch")

from training.bundle.graphs import write_captioner
from training.bundle.statements import check_statements
from training.bundle.statements_graph import write_statements
from training.contract import KINDS
from training.data.batches import event_tables
from training.net.captioner import Captioner
from training.tests.networks import small_config
from training.world import load_world

WORLD = load_world("surveillance")


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """A captioner with three slots, of which words describe two, and its caption.onnx."""
    c = small_config(regions=3, crop_relations=True, colour_head=True, **event_tables(WORLD))
    torch.manual_seed(5)
    captioner = Captioner(c).eval()
    for parameter in captioner.parameters():  # some start at zero
        parameter.data += 0.3 * torch.randn_like(parameter)
    captioner.hedge(WORLD.wider_nouns, 0.9)
    path = tmp_path_factory.mktemp("graphs") / "caption.onnx"
    tokens = c.memory_grid[0] * c.memory_grid[1]
    write_captioner(captioner, torch.randn(2, tokens, c.width), torch.randn(2, len(KINDS)), path)
    return captioner, path


def test_rows_of_one_pair_have_the_words_and_numbers_of_pairs_of_their_own(exported, tmp_path):
    captioner, caption = exported
    write_statements(captioner, tmp_path / "statements.onnx")
    assert max(check_statements(captioner.c, tmp_path / "statements.onnx", caption).values()) < 1e-4


def test_a_graph_with_other_weights_is_refused(exported, tmp_path):
    captioner, caption = exported
    with torch.no_grad():
        captioner.crops.relations.kind_to_summary.weight += 1
    write_statements(captioner, tmp_path / "statements.onnx")
    with pytest.raises(SystemExit, match="ids are|off by"):
        check_statements(captioner.c, tmp_path / "statements.onnx", caption)

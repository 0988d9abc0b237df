"""statements.onnx writes what caption.onnx writes, row by row."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from training.bundle.graphs import write_captioner
from training.bundle.statements import check_statements, feeds_of
from training.bundle.statements_graph import write_statements
from training.contract import KINDS, MAX_WORDS, SPECIALS
from training.data.batches import event_tables
from training.inputs import open_graph
from training.net.captioner import Captioner
from training.tests.networks import small_config
from training.world import load_world

WORLD = load_world("surveillance")
# Both are written in a row of the network below.
WORDS = {7: "has", 10: "and"}


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """A captioner with three slots, of which words describe two, and its caption.onnx."""
    vocabulary = [*SPECIALS, *(WORDS.get(i, f"w{i}") for i in range(4, 16))]
    tables = event_tables(WORLD)
    c = small_config(regions=3, crop_relations=True, colour_head=True, vocabulary=vocabulary, **tables)
    torch.manual_seed(5)
    captioner = Captioner(c).eval()
    for parameter in captioner.parameters():  # some start at zero
        parameter.data += 0.3 * torch.randn_like(parameter)
    captioner.hedge(WORLD.wider_nouns, 0.9)
    path = tmp_path_factory.mktemp("graphs") / "caption.onnx"
    tokens = c.memory_grid[0] * c.memory_grid[1]
    write_captioner(captioner, torch.randn(2, tokens, c.width), torch.randn(2, len(KINDS)), path)
    return captioner, path


@pytest.mark.parametrize("pairs", [1, 2, 4])
def test_rows_of_pairs_have_the_words_and_numbers_of_pairs_of_their_own(exported, tmp_path, pairs):
    captioner, caption = exported
    write_statements(captioner, tmp_path / "statements.onnx")
    assert max(check_statements(captioner.c, tmp_path / "statements.onnx", caption, pairs).values()) < 1e-4


def test_a_row_ends_after_the_clauses_that_are_asked_for(exported, tmp_path):
    captioner, _ = exported
    c, (has, and_) = captioner.c, WORDS
    write_statements(captioner, tmp_path / "statements.onnx")
    graph = open_graph(tmp_path / "statements.onnx")
    feeds, _ = feeds_of(c, 1)
    run = lambda clauses: graph.run(["ids", "length"], feeds | {"clauses": np.full(feeds["rows"].shape[:2], clauses)})
    (all_clauses, _), (none, length), (first, _) = run(MAX_WORDS), run(0), run(1)
    assert not none.any() and not length.any()
    ended = 0
    for words, beginning in zip(all_clauses.tolist(), first.tolist(), strict=True):
        after_verb = [i for i, word in enumerate(words) if word == and_ and has in words[:i]]
        expected = words[: after_verb[0] + 1] if after_verb else words
        assert beginning == expected + [0] * (len(words) - len(expected))
        ended += bool(after_verb)
    assert ended > 0


def test_a_graph_with_other_weights_is_refused(exported, tmp_path):
    captioner, caption = exported
    with torch.no_grad():
        captioner.crops.relations.kind_to_summary.weight += 1
    write_statements(captioner, tmp_path / "statements.onnx")
    with pytest.raises(SystemExit, match="ids are|off by"):
        check_statements(captioner.c, tmp_path / "statements.onnx", caption)

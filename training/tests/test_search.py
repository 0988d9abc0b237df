"""Search vectors: tokenisation, queries, the truth of texts, training, export."""

import json
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from training.bundle.heads import example_feed, load_head
from training.bundle.search import EXAMPLES, BundleText, export_pair, export_text
from training.contract import BUCKETS, Clause
from training.data.changes import Changes, concept_table, inverse, search_vocabulary
from training.data.evidence_graph import evidence_graph
from training.data.search_figures import figures, ranks
from training.inputs import open_graph
from training.learn.loop import Schedule, train_steps
from training.net.evidence_tokens import EvidenceSizes
from training.net.search import SearchVectors, search_loss
from training.search import WEIGHTS, batch_losses
from training.tests.small_evidence import COLOURS, NOUNS, SmallEvidence, thing
from training.text.grammar import parse_clauses
from training.text.lexicon import NOUNS as LEXICON
from training.text.queries import ANY_EVENT, EVENT_WORDS, SYNONYMS, write_query
from training.text.search_words import SearchWords, grams_of, misspelt, words_of
from training.text.truth import FALSE, TRUE, UNKNOWN, judge_sentence
from training.text.truth_table import truth_table

BUNDLE = Path("models/scorer-surveillance")
SIZES = EvidenceSizes(len(NOUNS), len(COLOURS))


def test_words_are_runs_of_letters_and_digits():
    assert words_of("A red_Lorry! ２ cafés\n(x)") == ["a", "red", "lorry", "2", "cafés", "x"]
    assert len(words_of("a " * 99)) == 31 and words_of("!?") == []


def test_n_grams_are_hashed_as_the_service_hashes_them():
    assert grams_of("car")[:7] == (1353, 44, 1513, 2565, 2670, 5, 0)
    assert len(grams_of("x" * 500)) == 24 and max(grams_of("größe")) < BUCKETS


def test_a_text_is_ids_and_n_grams():
    ids, grams = SearchWords(["<pad>", "<unk>", "<start>", "<end>", "red"]).encode("Red zebra")
    assert ids[:4] == [4, 1, 3, 0] and len(ids) == len(grams) == 32
    assert any(grams[1]) and not any(grams[2])


def test_synonyms_and_event_words_are_known_words():
    known = set(search_vocabulary())
    assert set(SYNONYMS) <= known and {word for words in EVENT_WORDS.values() for word in words} <= known
    assert set(SYNONYMS.values()) <= set(LEXICON), "a synonym leads to a noun of the captions"
    assert not set(SYNONYMS) & set(LEXICON)


def test_a_query_states_no_more_than_its_words():
    clause, rng = Clause("appeared", "truck", "red", "on the left"), np.random.default_rng(0)
    for _ in range(200):
        text, stated = write_query(clause, rng)
        assert ("left" in text.split()[-1:]) == (stated.where is not None) or "left" in text
        assert (stated.colour is None) == ("red" not in text.split())
        assert "{" not in text


def test_the_table_agrees_with_the_rules():
    changes = [
        [thing("appeared", "car", "red", "on the left")],
        [thing("moved", "man", "white", "to the left")],
        [thing("replaced", "car", "red", "on the right"), thing("replaced", "man", "white", None)],
        [],
    ]
    sentences = [
        "a red vehicle has appeared",
        "a car has appeared on the left and the man has moved to the left",
        "the man in white has moved to the right",
        "the man has moved closer",
        "the red car on the right has been replaced by a person",
        "the red car has disappeared",
        "a man in white has appeared",
    ]
    clauses = [parse_clauses(sentence) for sentence in sentences] + [[]]
    table = truth_table(clauses, changes)
    for row, stated in zip(table, clauses):
        assert row.tolist() == [judge_sentence(stated, objects)[0] for objects in changes], stated
    assert UNKNOWN in table and TRUE in table and FALSE in table


def test_a_query_without_an_event_is_true_of_every_event():
    table = truth_table([[Clause(ANY_EVENT, "car", None, None)]], [[thing("disappeared", "car", "red", None)], []])
    assert table.tolist() == [[TRUE, FALSE]]


def test_the_inverse_of_a_sentence():
    assert inverse(parse_clauses("the man has left"))[0].action == "appeared"
    assert inverse(parse_clauses("the man has moved to the left"))[0].where == "to the right"
    assert inverse(parse_clauses("the man has moved")) is None


def test_a_misspelt_text_differs_in_one_word():
    rng = np.random.default_rng(0)
    for _ in range(20):
        differing = [a != b for a, b in zip("a white suitcase".split(), misspelt("a white suitcase", rng).split())]
        assert sum(differing) <= 1
    assert misspelt("a red car", rng) == "a red car"


def test_ranks_share_ties():
    assert ranks(np.array([[0.9, 0.5, 0.5, 0.1]]), np.array([1])).tolist() == [2.5]


def test_texts_that_are_true_are_no_negatives():
    cosines = torch.tensor([[0.1, 0.9], [0.0, 0.1]])
    scale, inverted = torch.tensor(10.0), torch.tensor([-1.0, -1.0])
    strict = search_loss(cosines, torch.zeros(2, 2), inverted, scale)["to_text"]
    masked = search_loss(cosines, torch.tensor([[0.0, 1.0], [0.0, 0.0]]), inverted, scale)["to_text"]
    opposed = search_loss(cosines, torch.zeros(2, 2), torch.tensor([0.9, 0.9]), scale)["to_text"]
    assert masked < strict < opposed


def test_training_finds_changes_by_their_words(tmp_path):
    torch.manual_seed(0)
    words, data = SearchWords(search_vocabulary()), SmallEvidence(60)
    changes = Changes(data, 1)
    table = concept_table(words.vocabulary, {"noun": list(NOUNS), "colour": list(COLOURS)})
    network = SearchVectors(SIZES, len(words.vocabulary), table)

    def losses_of(step: int) -> dict[str, torch.Tensor]:
        rng = np.random.default_rng(step)
        return batch_losses(network, words, changes.batch(changes.draw(rng, 24), rng))

    found = train_steps(network, losses_of, WEIGHTS, Schedule(25, rate=2e-3, warmup=5))
    rates = figures(found.text, found.pair, changes, 109)
    assert rates["precision of the first five"] > 0.5
    assert rates["queries"] == len(changes.changed)


def test_the_graphs_give_unit_vectors(tmp_path):
    torch.manual_seed(0)
    names = json.loads((BUNDLE / "manifest.json").read_text())["names"]
    sizes, words = EvidenceSizes(len(names["nouns"]), len(names["colours"])), SearchWords(search_vocabulary())
    search = SearchVectors(sizes, len(words.vocabulary))
    torch.nn.init.normal_(search.pair.out[-1].weight)
    torch.nn.init.normal_(search.text.out[-1].weight)
    assert export_pair(search.pair, BUNDLE, (24, 36), tmp_path / "pair.onnx") < 1e-3
    feed = example_feed(evidence_graph(BUNDLE), 4, (24, 36), 2)
    vectors = open_graph(tmp_path / "pair.onnx", "vector").run(["vector"], feed)[0]
    assert vectors.shape == (4, 128) and np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-4)
    assert export_text(search.text, words, tmp_path / "text.onnx") < 1e-3
    ids, grams = map(torch.from_numpy, words.batch(list(EXAMPLES)))
    vectors = BundleText(tmp_path / "text.onnx")(ids, grams)
    assert vectors.shape == (len(EXAMPLES), 128) and torch.isfinite(vectors).all(), "an empty query, too"


def test_a_file_without_search_vectors_is_refused(tmp_path):
    torch.save({"vocabulary": []}, tmp_path / "other.pt")
    with pytest.raises(SystemExit, match="other.pt: is no search of this version"):
        load_head(tmp_path / "other.pt", "search", SearchVectors)

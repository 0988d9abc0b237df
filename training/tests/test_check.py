"""The truth check: the truth of sentences, false sentences as frequent as true ones, training, export."""

import json
import shutil
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from training.bundle.check import export_check, restore_check
from training.bundle.check_levels import candidates_of, rerank_margin, slot_levels
from training.bundle.heads import example_feed, load_head
from training.check import WEIGHTS, figures
from training.contract import Clause
from training.data.evidence import evidence_inputs, session_of
from training.data.evidence_graph import evidence_graph
from training.data.groups import Groups, check_vocabulary, word_tables
from training.inputs import open_graph
from training.learn.loop import Schedule, train_steps
from training.net.check import TruthCheck, check_loss
from training.net.evidence_tokens import EvidenceSizes, maps_in_boxes
from training.tests.small_evidence import COLOURS, NOUNS, SmallEvidence, thing
from training.text.false_sentences import NEGATIVES, FalseSentences, balanced, confuse, write_any
from training.text.grammar import parse_clauses
from training.text.noun_tree import ROOT
from training.text.truth import FALSE, TRUE, UNKNOWN, judge_sentence
from training.text.word_classes import colour_table, noun_table

BUNDLE = Path("models/scorer-surveillance")
SIZES = EvidenceSizes(len(NOUNS), len(COLOURS))
CAR = thing("appeared", "car", "red", "on the left")


def truth(sentence: str, *objects: dict) -> float:
    return judge_sentence(parse_clauses(sentence), list(objects))[0]


def test_every_true_name_of_a_thing_is_true():
    assert truth("a red vehicle has appeared", CAR) == TRUE
    assert judge_sentence([Clause("appeared", ROOT, None, "on the left")], [CAR])[0] == TRUE
    assert truth("a red truck has appeared", CAR) == FALSE
    assert truth("the red car is gone", CAR) == FALSE
    assert truth("two red cars have appeared", CAR) == FALSE
    assert truth("a red car has appeared on the right", CAR) == FALSE


def test_what_the_labels_leave_open_is_neither_true_nor_false():
    person = thing("appeared", "man", "white", "on the left") | {"noun": "person"}
    assert truth("a man has appeared", person) == UNKNOWN
    assert truth("a red car has appeared", CAR | {"colour": None}) == UNKNOWN
    former, present = thing("replaced", "car", "red", "on the left"), thing("replaced", "man", "white", None)
    assert truth("the red car is gone", former, present) == UNKNOWN


def test_a_replacement_is_false_the_other_way_round():
    former, present = thing("replaced", "car", "red", "on the left"), thing("replaced", "man", "white", None)
    sentence = parse_clauses("the red car on the left has been replaced by a man in white")
    assert judge_sentence(sentence, [former, present])[0] == TRUE
    assert judge_sentence(confuse(sentence), [former, present])[0] == FALSE


def test_the_opposite_way_is_false_and_another_way_unknown():
    moved = thing("moved", "car", "red", "to the left")
    assert truth("the red car has moved to the left", moved) == TRUE
    assert truth("the red car has moved to the right", moved) == FALSE
    assert truth("the red car has moved slightly to the right", moved) == FALSE
    assert truth("the red car has moved closer", moved) == UNKNOWN


def test_the_slots_say_what_is_wrong():
    blue = judge_sentence(parse_clauses("a blue car has appeared on the left"), [CAR])[1]
    assert blue == [TRUE, TRUE, FALSE, TRUE, TRUE]
    assert judge_sentence(parse_clauses("a car has left"), [])[1] == [FALSE, None, None, None, None]
    assert judge_sentence([], [])[1][0] == TRUE


def test_values_are_replaced_so_that_all_stay_as_frequent():
    flow = balanced({"a": 0.5, "b": 0.3, "c": 0.2}, lambda a, b: 3.0 if {a, b} == {"a", "c"} else 1.0)
    shares, got = {"a": 0.5, "b": 0.3, "c": 0.2}, Counter()
    for value, (values, cumulative, _) in flow.items():
        for other, p in zip(values, np.diff(cumulative, prepend=0)):
            got[other] += shares[value] * p
    assert {value: round(share, 2) for value, share in got.items()} == shares
    rare = balanced({1: 0.9, 2: 0.06, 3: 0.04}, lambda a, b: 1.0)
    assert rare[1][2] == pytest.approx(0.1 / 0.9, abs=0.01), "most of the ones stay"


def test_false_sentences_are_false_and_differ():
    sentences, rng = FalseSentences(SmallEvidence(80).meta), np.random.default_rng(1)
    made = Counter()
    for index in range(60):
        (_, true), *others = sentences.group(index, rng)
        objects = sentences.pairs[index]["objects"]
        assert judge_sentence(true, objects)[0] == TRUE
        assert len(others) == NEGATIVES
        assert all(judge_sentence(clauses, objects)[0] == FALSE for _, clauses in others)
        made.update(way for way, _ in others)
    assert {"direction", "noun", "colour", "place", "retrieved"} <= set(made)


def test_something_is_written_without_an_article():
    clause = Clause("disappeared", ROOT, None, "on the left")
    texts = {write_any([clause], np.random.default_rng(seed)) for seed in range(20)}
    assert all("something on the left" in text and "the something" not in text for text in texts)


def test_the_mean_of_a_map_in_a_box():
    maps = torch.zeros(1, 2, 4, 4)
    maps[0, 1, :2, :2] = 1
    boxes = torch.tensor([[[0, 0, 0.5, 0.5], [0, 0, 1, 0.5], [0.5, 0.5, 0.0, 0.0]]])
    assert maps_in_boxes(maps, boxes)[0].tolist() == [[0, 1], [0, 0.5], [0, 0]]


def test_an_empty_slot_of_a_crop_changes_nothing():
    torch.manual_seed(0)
    check, b = small_check(check_vocabulary()).eval(), SmallEvidence(4).arrays([0, 1])
    ids = torch.randint(4, 50, (2, 3, 7))
    expected = check(evidence_inputs(b), ids)[0]
    b["noun_logits"][:, 1:] = torch.nan
    b["glance_box"][:, 1:] = b["glance_object_box"][:, 1:] = 0.7
    b["tokens"][:, 54 + 50 :] = 9.0
    assert torch.allclose(check(evidence_inputs(b), ids)[0], expected, atol=1e-5)


def small_check(words: list[str], **sizes) -> TruthCheck:
    return TruthCheck(SIZES, len(words), word_tables(words, {"noun": list(NOUNS), "colour": list(COLOURS)}), **sizes)


def test_training_learns_which_sentence_is_true(tmp_path):
    torch.manual_seed(0)
    words, data = check_vocabulary(), SmallEvidence(60)
    groups = Groups(data, words, 1)
    check = small_check(words, dropout=0.0)

    def losses_of(step: int) -> dict[str, torch.Tensor]:
        rng = np.random.default_rng(step)
        indices = groups.draw(rng, 16)
        ids, labels, _ = groups.batch(indices, rng)
        score, slots = check(evidence_inputs(data.arrays(indices)), ids)
        return check_loss(score, slots, labels, check.log_temperature)

    schedule = Schedule(80, rate=2e-2, warmup=5, save_every=80)
    found = train_steps(check, losses_of, WEIGHTS, schedule, tmp_path / "state.pt")
    rates = figures(found, groups, list(range(40)))
    assert rates["above noun"] > 0.8 and rates["above colour"] > 0.8
    assert rates["true above all six"] > 0.35, "chance is 0.14"
    again = train_steps(check, losses_of, WEIGHTS, schedule, tmp_path / "state.pt")
    assert torch.equal(again.weights, found.weights), "the run was complete"


def test_words_mean_the_classes_of_the_namer():
    words = ["car", "cars", "vehicle", "someone", "something", "trash", "dark", "blue", "minivan", "left"]
    table = dict(zip(words, noun_table(words, ["nothing", "car", "man", "trash can", "van"])))
    assert table["car"] == table["cars"] == table["minivan"] == [0, 1, 0, 0, 0]
    assert table["vehicle"] == [0, 1, 0, 0, 1] and table["someone"] == [0, 0, 1, 0, 0]
    assert table["trash"] == [0, 0, 0, 1, 0] and table["something"] == [0, 1, 1, 1, 1] and not any(table["left"])
    shades = dict(zip(words, colour_table(words, ["black", "blue", "dark blue", "red"])))
    assert shades["dark"] == [1, 0, 1, 0] and shades["blue"] == [0, 1, 1, 0] and not any(shades["car"])


def test_sentences_are_cut_to_the_length_of_the_graph():
    groups = Groups(SmallEvidence(20), check_vocabulary(), 1)
    assert len(groups.encode("car " * 40)) == 28 and groups.encode("car " * 40)[-1] == 3
    assert groups.encode("zebra")[:3] == [1, 3, 0]


def test_a_threshold_drops_no_more_than_few_right_values():
    rng = np.random.default_rng(0)
    true = rng.random(2000) < 0.7
    logits = np.stack([rng.normal(np.where(true, 1.5, -1.5))] * 5, 1)
    levels = slot_levels(logits, [[float(value)] * 5 for value in true])["noun"]
    assert 0 < levels["threshold"] <= 0.5 and levels["right_above"] > levels["served_right"] + 0.15
    assert slot_levels(logits[:10], [[1.0] * 5] * 10)["noun"]["threshold"] == 0


def test_reranking_is_used_only_if_it_gains():
    lead = [(2.0, False, True)] * 5 + [(0.6, True, False)] * 5 + [(-1.0, True, False)] * 10
    assert rerank_margin(lead)["margin"] >= 0.75
    assert rerank_margin([(0.5, True, False), (0.5, False, False)])["margin"] is None


def test_candidates_are_edits_of_one_slot():
    clause = Clause("appeared", "car", "red", "on the left")
    found = candidates_of(clause, ["van", "truck"], ["blue"])
    assert found[0] == clause and len(found) == len(set(found)) <= 32
    assert Clause("moved", "car", "red", None) in found and Clause("appeared", "van", "red", "on the left") in found


def test_the_evidence_is_that_of_the_bundle():
    graph = evidence_graph(BUNDLE)
    feed = example_feed(graph, 2, (24, 36), 3)
    known = {tensor.name: feed[tensor.name] for tensor in graph.graph.input}
    tokens, kind, nouns = session_of(graph).run(["tokens", "kind_logits", "noun_logits"], known)
    assert tokens.shape == (2, 54 + 3 * 50, 256)
    assert np.array_equal(tokens[:, :54], feed["memory"])
    assert np.allclose(open_graph(BUNDLE / "caption.onnx").run(["kind_logits"], known)[0], kind, atol=1e-5)
    crops = {name: feed[name].reshape(-1, *feed[name].shape[2:]) for name in ("glance_coarse", "glance_fine")}
    crops |= {name: feed[name].reshape(-1, 4) for name in ("glance_box", "object_box")}
    expected = open_graph(BUNDLE / "names.onnx").run(["noun_logits"], crops)[0]
    assert np.allclose(nouns.reshape(expected.shape), expected, atol=1e-5)


def test_the_graph_answers_any_number_of_sentences_about_any_number_of_pairs(tmp_path):
    torch.manual_seed(0)
    manifest = json.loads((BUNDLE / "manifest.json").read_text())
    sizes = EvidenceSizes(len(manifest["names"]["nouns"]), len(manifest["names"]["colours"]))
    check = TruthCheck(sizes, 40)
    evidence = evidence_graph(BUNDLE)
    assert export_check(check, evidence, (24, 36), tmp_path / "check.onnx") < 1e-3
    assert [path.name for path in tmp_path.iterdir()] == ["check.onnx"]
    graph = open_graph(tmp_path / "check.onnx", "score", "slots")
    feed = example_feed(evidence, 4, (24, 36), 5)
    ids = np.array([[5, 6, 7, 3], [8, 3, 0, 0]])[None] + np.arange(4)[:, None, None] % 2
    score, slots = graph.run(["score", "slots"], feed | {"ids": ids})
    assert score.shape == (4, 2) and slots.shape == (4, 2, 5)
    for pair in range(4):
        alone = {name: values[pair : pair + 1] for name, values in (feed | {"ids": ids}).items()}
        assert graph.run(["score"], alone)[0][0] == pytest.approx(score[pair], abs=1e-4), "as if it were alone"
    padded, _ = graph.run(["score", "slots"], alone | {"ids": np.pad(alone["ids"][:, 1:], ((0, 0), (0, 0), (0, 9)))})
    assert padded[0, 0] == pytest.approx(score[3, 1], abs=1e-4), "padding and other sentences do not count"


def test_the_shipped_check_is_written_anew_with_the_same_answers(tmp_path):
    check, evidence, map_shape = restore_check(BUNDLE)
    export_check(check, evidence, map_shape, tmp_path / "check.onnx")
    feed = example_feed(evidence, 2, map_shape, 5) | {"ids": np.random.default_rng(1).integers(4, 40, (2, 3, 9))}
    expected, got = (
        open_graph(path / "check.onnx", "score", "slots").run(["score", "slots"], feed) for path in (BUNDLE, tmp_path)
    )
    for shipped, anew in zip(expected, got):
        assert np.allclose(shipped, anew, atol=1e-5)


def test_a_file_that_is_no_check_and_a_bundle_without_names_are_refused(tmp_path):
    torch.save({"vocabulary": []}, tmp_path / "other.pt")
    with pytest.raises(SystemExit, match="other.pt: is no check of this version"):
        load_head(tmp_path / "other.pt", "check", TruthCheck)
    shutil.copy(BUNDLE / "manifest.json", tmp_path)
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    del manifest["graphs"]["names"]
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(SystemExit, match="has no names of region crops"):
        evidence_graph(tmp_path)

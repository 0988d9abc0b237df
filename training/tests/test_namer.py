"""The namer: equal names both ways round, the tree of nouns, its training data, calibration and export."""

import json
from copy import deepcopy

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from training.bundle.name_levels import joined, levels_below, witness
from training.bundle.namer_graph import example_crops, export_namer
from training.bundle.names import add_namer, load_namer, with_nouns_of
from training.bundle.restore import restore_namer
from training.contract import IGNORE
from training.data.noun_classes import classes_above
from training.data.sightings import Sightings
from training.inputs import open_graph, sha256
from training.learn.levels import levels
from training.namer import calibrate, figures, fit_scale, train, uncalibrated
from training.net.namer import Namer
from training.soup import mean_namer
from training.text.lexicon import NOUNS
from training.text.noun_prior import prior_shift
from training.text.noun_tree import NOTHING, ROOT, tree_of, wider_noun

RED, BLUE = 0.5, -0.5  # mean of the first RGB channel


def thing(noun, colour, side, box):
    hypernym = NOUNS[noun][1]
    return {"noun": noun, "hypernym": hypernym, "colour": colour, f"box_{side}": box}


def write_shard(folder, pairs):
    """pairs: (noun, colour, side, box in pixels of 100 x 100) per pair; one crop each, at x 20..60 and y 20..60."""
    folder.mkdir(parents=True)
    n, rng = len(pairs), np.random.default_rng(0)
    coarse = rng.normal(0, 0.1, (n, 3, 2, 256, 7, 7))
    fine = rng.normal(0, 0.1, (n, 3, 2, 67, 14, 14))
    boxes = np.zeros((n, 3, 4))
    boxes[:, 0] = [0.2, 0.2, 0.4, 0.4]
    lines = []
    for row, (noun, colour, side, box) in enumerate(pairs):
        at = ("before", "after").index(side)
        coarse[row, 0, at, list(NOUNS).index(noun)] += 2  # a channel per noun
        fine[row, 0, at, -3] += RED if colour == "red" else BLUE
        shown = thing(noun, colour, side, box)
        nowhere = {"box_before": None, "box_after": None}
        glance = {"side": side, "before": None, "after": None} | {side: shown}
        lines.append({"frame": [100, 100], "models": [], "objects": [nowhere | shown], "glances": [glance]})
    for name, values in {
        "glance_coarse": coarse,
        "glance_fine": fine,
        "glance_box": boxes,
        "glance_object_box": boxes,
    }.items():
        np.save(folder / f"{name}.npy", values.astype(np.float16))
    (folder / "meta.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    cache = tmp_path_factory.mktemp("cache")
    kinds = [("man", "red"), ("suv", "blue"), ("truck", "red"), ("suitcase", "blue")]
    pairs = [(*kinds[i % 4], ("before", "after")[i // 4 % 2], [20, 20, 40, 40]) for i in range(48)]
    pairs.append(("man", "red", "after", [58, 20, 3, 40]))  # beside the crop's box
    write_shard(cache / "00000000-00000049", pairs)
    return Sightings([cache])


def test_a_sighting_has_the_thing_of_each_frame(data):
    assert data.shown[0] == (("man", "red"), (NOTHING, None))
    assert data.shown[5] == ((NOTHING, None), ("car", "blue")), "an suv is of the class of cars"
    assert data.shown[48] == ((NOTHING, None), None), "a part of a thing beside the box is unknown"


def test_rare_nouns_are_of_the_class_of_their_wider_noun(data):
    nouns, colours = data.names(least=1)
    assert nouns == [NOTHING, "animal", "car", "man", "object", "person", "suitcase", "truck", "vehicle"]
    noun, colour = data.targets([NOTHING, "bag", "object", "person", "vehicle"], colours)
    assert noun[:4].tolist() == [[3, 0], [4, 0], [4, 0], [1, 0]]
    assert noun[48].tolist() == [0, IGNORE] and colour[48].tolist() == [IGNORE, IGNORE]
    assert [colours[i] for i in colour[:2, 0].tolist()] == ["red", "blue"]


def test_the_namer_says_the_same_names_if_the_frames_are_swapped():
    torch.manual_seed(0)
    namer, (coarse, fine, crop, box) = Namer(6, 4).eval(), example_crops(5, 3)
    noun, colour = namer(coarse, fine, crop, box)
    swapped = namer(coarse.flip(1), fine.flip(1), crop, box)
    assert torch.allclose(noun.flip(1), swapped[0], atol=1e-5) and torch.allclose(colour.flip(1), swapped[1], atol=1e-5)
    assert not torch.allclose(noun[:, 0], noun[:, 1], atol=1e-3)


def test_every_noun_leads_to_the_root():
    for noun in NOUNS:
        steps = [noun]
        while steps[-1] != ROOT:
            steps.append(wider_noun(steps[-1]))
            assert len(steps) < 6, steps
    assert tree_of([NOTHING, "suitcase"]) == {"bag": "object", "object": ROOT, "suitcase": "bag"}


def test_a_wider_name_has_the_classes_below_it():
    nouns = [NOTHING, "car", "man", "woman"]
    names, member = classes_above(nouns, tree_of(nouns))
    assert member[names.index("person")].tolist() == [0, 0, 1, 1]
    assert member[names.index(ROOT)].tolist() == [0, 1, 1, 1]
    assert NOTHING not in names


def test_the_scale_undoes_overconfidence():
    random = torch.Generator().manual_seed(0)
    true = torch.randn(4000, 5, generator=random)
    target = torch.multinomial(torch.softmax(true, -1), 1, generator=random)[:, 0]
    assert fit_scale(true * 2.5, target) == pytest.approx(0.4, abs=0.05)


def test_the_prior_of_cameras_shifts_the_logits_to_it():
    nouns = [NOTHING, "bus", "car", "man"]
    shift = prior_shift(nouns, {NOTHING: 500, "bus": 100, "car": 100, "man": 100})
    assert shift[0] == 0 and shift[1] == -1, "buses are rare, and the shift is limited"
    assert 0 < shift[3] - shift[2] < 1, "people are seen more often than cars"


def test_training_learns_the_names(data):
    nouns, colours = data.names(least=1)
    torch.manual_seed(1)
    namer = train(Namer(len(nouns), len(colours)), data, nouns, colours, steps=60, rate_at_most=1e-3, seed=1)
    found = figures(namer, data, nouns, colours, torch.ones(len(data), dtype=torch.bool))
    assert found["thing or nothing"] > 0.95 and found["noun, most probable"] > 0.95
    assert found["colour, most probable"] > 0.9


def test_the_decoders_noun_is_evidence_for_its_classes_and_its_hypernym():
    nouns = [NOTHING, "car", "man", "truck", "woman"]
    exact, alike = witness("minivan", nouns, tree_of([*nouns, "minivan"]))
    assert exact.tolist() == [0, 1, 0, 0, 0] and alike.tolist() == [0, 1, 0, 1, 0]
    exact, alike = witness("person", nouns, tree_of(nouns))
    assert exact.tolist() == [0, 0, 0.5, 0, 0.5] and alike.tolist() == exact.ceil().tolist()
    exact, alike = witness("horse", nouns, tree_of(nouns))
    assert exact.sum() == 0 and alike.sum() == 0
    p = torch.tensor([[0.0, 0.4, 0.4, 0.1, 0.1]])
    q = joined(p, 1.0, (2.0, torch.tensor([[0.0, 1.0, 0, 0, 0]])))
    assert q[0].tolist() == pytest.approx([0, 2 / 3, 2 / 9, 1 / 18, 1 / 18], abs=1e-6)


def test_a_level_is_the_least_probability_of_words_that_are_right_often_enough():
    right = [(0.4, 0.7), (0.5, 0.8), (0.6, 0.78), (0.7, 0.9)]
    assert levels(right) == [[0, 0], [0.7, 0.4], [0.8, 0.5], [0.9, 0.7], [1, 1]]


def test_nouns_below_a_hypernym_have_levels_of_the_things_that_get_one():
    nouns = [NOTHING, "car", "man", "woman"]
    ordered, member = classes_above(nouns, tree_of(nouns))
    sure, unsure = [0, 0.1, 0.9, 0.0], [0, 0.0, 0.6, 0.4]
    q = torch.tensor([sure] * 30 + [unsure] * 30 + [[0, 1.0, 0, 0]] * 30)
    truth = torch.tensor([2] * 45 + [3] * 15 + [1] * 30)
    table = levels_below("person", q, truth, ordered, member)
    assert table[1] == [0.75, 0.4], "45 of the 60 that are called a man are men; cars do not count"
    assert table[2:] == [[1.0, 0.65]], "the 30 of 0.9 all are"
    assert levels_below("animal", q, truth, ordered, member) is None


def test_the_bundle_gets_the_graph_and_its_words(tmp_path, monkeypatch):
    bundle = tmp_path / "bundle"
    bundle.mkdir()
    (bundle / "manifest.json").write_text(json.dumps({"version": "1.0.0", "files": {}, "graphs": {}, "metrics": {}}))
    torch.manual_seed(0)
    nouns, colours = [NOTHING, "car", "man"], ["black", "red"]
    saved = {"namer": Namer(3, 2).state_dict(), "nouns": nouns, "colours": colours, "heldout": {"crops": 5}}
    torch.save(saved, tmp_path / "namer.pt")
    learned_from = [{"name": "sprites", "licence": "CC0"}]
    fitted = {"levels": {"nouns": [[0, 0], [1, 1]], "colours": [[0, 0], [1, 1]]}}
    monkeypatch.setattr("training.bundle.names.fit_levels", lambda *_: fitted)
    assert add_namer(tmp_path / "namer.pt", bundle, "1.1.0", [], learned_from, []) < 1e-3
    manifest = json.loads((bundle / "manifest.json").read_text())
    assert manifest["version"] == "1.1.0" and manifest["files"]["names.onnx"] == sha256(bundle / "names.onnx")
    wider = manifest["names"]["wider"]
    assert wider["man"] == "person" and wider["minivan"] == "car" and wider["vehicle"] == ROOT
    assert manifest["names"]["levels"] == fitted["levels"]
    assert manifest["training_data"] == learned_from
    assert manifest["names"]["plural"]["man"] == "men" and manifest["names"]["wider_colours"] == {"black": "dark"}
    assert sorted(path.name for path in bundle.iterdir()) == ["manifest.json", "names.onnx"]
    crops = example_crops(1, 5)
    names = ("glance_coarse", "glance_fine", "glance_box", "object_box")
    graph = open_graph(bundle / "names.onnx")
    got = graph.run(None, {name: x.numpy() for name, x in zip(names, crops)})
    assert [x.shape for x in got] == [(1, 2, 3), (1, 2, 2)]


def test_a_bundles_namer_is_read_back_without_its_calibration(tmp_path):
    torch.manual_seed(0)
    nouns, colours = [NOTHING, "car", "man"], ["black", "red"]
    namer = Namer(3, 2).eval()
    namer.noun_scale.fill_(1.25)
    namer.colour_scale.fill_(0.75)
    namer.noun_shift.copy_(torch.tensor([0.0, 0.5, -0.5]))
    export_namer(namer, tmp_path / "names.onnx")
    (tmp_path / "manifest.json").write_text(json.dumps({"names": {"nouns": nouns, "colours": colours}}))
    restored, words = restore_namer(tmp_path)
    assert words == {"nouns": nouns, "colours": colours}
    crops = example_crops(3, 5)
    with torch.no_grad():
        for expected, got in zip(namer(*crops), restored(*crops)):
            torch.testing.assert_close(got, expected)
        noun, colour = uncalibrated(restored)(*crops)
        torch.testing.assert_close(noun, namer(*crops)[0] - namer.noun_shift)
        torch.testing.assert_close(colour, namer(*crops)[1])
    assert restored.noun_scale == 1 and restored.colour_scale == 1


def test_a_namer_of_other_classes_is_refused(tmp_path):
    export_namer(Namer(3, 2).eval(), tmp_path / "names.onnx")
    (tmp_path / "manifest.json").write_text(json.dumps({"names": {"nouns": [NOTHING, "car"], "colours": ["red"]}}))
    with pytest.raises(SystemExit, match="names.onnx: is of another network"):
        restore_namer(tmp_path)


def test_a_file_that_is_no_namer_is_refused(tmp_path):
    torch.save({"nouns": ["nothing"], "colours": []}, tmp_path / "other.pt")
    with pytest.raises(SystemExit, match="other.pt: is no namer"):
        load_namer(tmp_path / "other.pt")


def saved_namer(path, nouns, noun_bias, scale):
    """A namer file whose noun head has the bias `noun_bias` [nouns] and whose logits have the factor `scale`."""
    torch.manual_seed(0)
    namer = Namer(len(nouns), 1)
    with torch.no_grad():
        namer.noun[-1].bias.copy_(torch.tensor(noun_bias))
        namer.noun_scale.fill_(scale)
    torch.save({"namer": namer.state_dict(), "nouns": nouns, "colours": ["red"]}, path)
    return path


def test_a_mean_of_namers_counts_each_with_its_own_scale(tmp_path):
    nouns = [NOTHING, "car"]
    paths = [
        saved_namer(tmp_path / "a.pt", nouns, [1.0, 3.0], 1.0),
        saved_namer(tmp_path / "b.pt", nouns, [2.0, 1.0], 2),
    ]
    mean, saved = mean_namer(paths)
    torch.testing.assert_close(mean.noun[-1].bias, torch.tensor([2.5, 2.5]))
    assert mean.noun_scale == 1 and [s["nouns"] for s in saved] == [nouns, nouns]


def test_namers_of_other_nouns_have_no_mean(tmp_path):
    paths = [saved_namer(tmp_path / f"{word}.pt", [NOTHING, word], [0.0, 0.0], 1.0) for word in ("car", "man")]
    with pytest.raises(SystemExit, match="man.pt: has other nouns than .*car.pt"):
        mean_namer(paths)


def test_a_calibration_sets_scales_and_prior(data):
    torch.manual_seed(0)
    nouns, colours = data.names(least=1)
    namer, shift = Namer(len(nouns), len(colours)).eval(), torch.linspace(-1, 1, len(nouns))
    with torch.no_grad():
        namer.noun[-1].weight.mul_(100)  # much too sure of itself
    found = calibrate(namer, data, nouns, colours, shift)
    assert found["crops"] == found["with the prior of cameras"]["crops"] == len(data) // 2
    torch.testing.assert_close(namer.noun_shift, shift)
    assert namer.noun_scale == pytest.approx(0.3), "the least of the scales that are tried"


def test_colours_alone_learn_without_another_noun(data):
    nouns, colours = data.names(least=1)
    namer = Namer(len(nouns), len(colours)).eval()
    crops, before = example_crops(5, 3), deepcopy(namer)
    trained = train(namer, data, nouns, colours, steps=3, rate_at_most=1e-2, seed=1, colours_alone=True)
    noun, colour = trained(*crops)
    assert torch.equal(noun, before(*crops)[0]) and not torch.equal(colour, before(*crops)[1])
    shift = torch.full((len(nouns),), 0.25)
    calibrate(trained, data, nouns, colours, shift, colours_alone=True)
    assert trained.noun_scale == 1 and torch.equal(trained.noun_shift, shift) and trained.colour_scale != 1


def test_a_bundle_keeps_how_its_nouns_are_joined_if_colours_alone_learned():
    kept = {"decoder": {"noun": 0.5, "colour": 1.0}, "levels": {"nouns": [[0, 0]], "colours": [[0, 0]]}}
    fitted = {"decoder": {"noun": 8.0, "colour": 2.0}, "levels": {"nouns": [[1, 1]]}}
    assert with_nouns_of(kept, fitted) == {"decoder": {"noun": 0.5, "colour": 2.0}, "levels": kept["levels"]}

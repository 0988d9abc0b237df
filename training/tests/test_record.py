"""Figures of an evaluation are written into the manifest, which stays as it is otherwise; a wrong file is refused."""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def proportion(hits: int, of: int) -> dict:
    return {"hits": hits, "of": of, "rate": hits / of if of else None}


def report(name: str) -> dict:
    facts = {
        n: proportion(3, 4)
        for n in (
            "kind",
            "noun",
            "nounStrict",
            "nounClass",
            "colour",
            "place",
            "inverted",
            "objectsNamed",
            "claimsTrue",
        )
    }
    words = {"ciderD": 0.5581, "bleu": [0.6, 0.4, 0.3, 0.2023], "rougeL": 0.47}
    return {
        "format": "scenedelta-evaluation/1",
        "captioner": {
            "name": name,
            "words": {"all": words, "changed": words},
            "facts": {**facts, "becomes": proportion(0, 0)},
            "falseClauses": {"answers": 4, "clauses": 1, "perAnswer": 0.25},
            "alarms": {"auroc": 0.99876, "verdict": proportion(7, 8), "falseAlarms": proportion(0, 4)},
            "place": {"game": proportion(1, 2), "emptyWhenUnchanged": proportion(4, 4)},
        },
    }


def record(folder: Path, evaluation: dict, manifest: dict) -> subprocess.CompletedProcess:
    (folder / "manifest.json").write_text(json.dumps(manifest))
    (folder / "evaluation.json").write_text(json.dumps(evaluation))
    command = [
        "training.bundle",
        "record",
        "--bundle",
        str(folder),
        "--evaluation",
        str(folder / "evaluation.json"),
        "--pairs",
        "four pairs",
    ]
    return subprocess.run([sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True)


def test_figures_are_written_and_the_rest_stays(tmp_path: Path):
    swapped = {"answered": proportion(3, 4), "kindReversed": proportion(3, 3), "sameNouns": proportion(2, 3)}
    evaluation = {**report("m"), "swapped": {**swapped, "alikeNouns": proportion(3, 3)}}
    done = record(tmp_path, evaluation, {"name": "m", "files": {"a": "b"}, "metrics": {"seeds": "one"}})
    assert done.returncode == 0, done.stderr
    written = json.loads((tmp_path / "manifest.json").read_text())
    figures = written["metrics"].pop("four pairs")
    assert written == {"name": "m", "files": {"a": "b"}, "metrics": {"seeds": "one"}}
    assert figures["auroc"] == 0.9988
    assert figures["verdict"] == "87.5 % of 8"
    assert figures["cider_d_changed"] == 55.8
    assert "becomes" not in figures  # nothing was altered in these pairs
    assert figures["swapped_same_nouns"] == "66.7 % of 3"
    assert figures["false_clauses"] == "1 in 4 answers"
    assert figures["command"].endswith("--swapped")


def test_an_evaluation_of_another_bundle_or_of_another_format_is_refused(tmp_path: Path):
    manifest = {"name": "m", "metrics": {}}
    for evaluation, reason in (
        (report("other"), "measured other"),
        ({"format": "x"}, "expected 'scenedelta-evaluation/1'"),
    ):
        done = record(tmp_path, evaluation, manifest)
        assert done.returncode != 0
        assert reason in done.stderr
        assert len(done.stderr.strip().splitlines()) == 1
        assert json.loads((tmp_path / "manifest.json").read_text()) == manifest

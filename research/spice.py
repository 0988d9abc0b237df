"""SPICE of predicted captions, by the original scorer (Anderson et al., ECCV 2016): a Java program with a parser.

    python -m research.spice --scorer SPICE --pairs pairs.ndjson --predictions predictions.ndjson --constant "no change"

The files are those of `scenedelta evaluate PAIRS --predictions FILE`. SPICE is the folder of spice-1.0.jar; `lib/` in
it needs the parser and, from Java 15 on, a script engine. research/README.md has the commands that fetch them.
People are scored as in `scenedelta evaluate`: the first reference against the others, if there are any.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np

from training.inputs import existing_file, existing_folder, read_ndjson

# Names of archives begin with these.
ARCHIVES = ("stanford-corenlp-3.6.0.jar", "stanford-corenlp-3.6.0-models", "nashorn-core", "asm-")
MEMORY = "-Xmx4G"


class Scorer:
    """The Java program. @raises SystemExit naming what is missing."""

    def __init__(self, folder: Path):
        existing_file(str(folder / "spice-1.0.jar"))
        found = [path.name for path in existing_folder(folder / "lib").glob("*.jar")]
        missing = [archive for archive in ARCHIVES if not any(name.startswith(archive) for name in found)]
        if missing:
            raise SystemExit(
                f"{folder / 'lib'}: lacks {', '.join(missing)}; research/README.md has the commands that fetch them"
            )
        if shutil.which("java") is None:
            raise SystemExit("java: no such program; SPICE needs a Java runtime, 8 or later")
        self.folder = folder

    def __call__(self, captions: list[str], references: list[list[str]]) -> np.ndarray:
        """F scores 0..1 of n captions, each against its references: float [n]; NaN if neither side has a tuple."""
        lines = [
            {"image_id": str(k), "test": caption, "refs": people}
            for k, (caption, people) in enumerate(zip(captions, references))
        ]
        with tempfile.TemporaryDirectory() as temporary:
            given, written = Path(temporary, "given.json"), Path(temporary, "written.json")
            given.write_text(json.dumps(lines), encoding="utf-8")
            command = ["java", MEMORY, "-cp", "spice-1.0.jar:lib/*", "edu.anu.spice.SpiceScorer"]
            run = subprocess.run(
                [*command, str(given), "-out", str(written), "-silent"], cwd=self.folder, capture_output=True, text=True
            )
            if run.returncode != 0 or not written.is_file():
                reason = next((line for line in run.stderr.splitlines() if "Exception" in line), run.stderr[-300:])
                raise SystemExit(f"{self.folder}: SPICE failed: {reason.strip()}")
            scored = json.loads(written.read_text(encoding="utf-8"))
        scores = {line["image_id"]: line["scores"]["All"]["f"] for line in scored}
        return np.array(
            [float("nan" if scores[line["image_id"]] is None else scores[line["image_id"]]) for line in lines]
        )


def align(pairs: list[dict], predictions: list[dict], path: Path) -> list[str]:
    """The caption of each pair, in their order. @raises SystemExit if a pair has none."""
    captions = {line["id"]: line["caption"] for line in predictions}
    if missing := [pair["id"] for pair in pairs if pair["id"] not in captions]:
        raise SystemExit(f"{path}: has no prediction of pair {missing[0]!r}")
    return [captions[pair["id"]] for pair in pairs]


def table(pairs: list[dict], rows: dict[str, tuple[list[str], list[list[str]]]], score: Scorer) -> list[str]:
    """Lines of Markdown: SPICE in percent over all pairs, changed ones and unchanged ones.

    rows: name -> captions and references per pair; a pair without references is left out of its row.
    """
    changed = np.array([pair["verdict"] == "change" for pair in pairs])
    lines = ["| captions | all pairs | changed | unchanged |", "|---|---|---|---|"]
    for name, (captions, references) in rows.items():
        used = np.flatnonzero([len(people) > 0 for people in references])
        values = np.full(len(pairs), np.nan)
        values[used] = score([captions[k] for k in used], [references[k] for k in used])
        means = [f"{100 * np.nanmean(values[part]):.1f}" for part in (changed | True, changed, ~changed)]
        lines.append(f"| {name} | {' | '.join(means)} |")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scorer", type=existing_folder, required=True, help="folder of spice-1.0.jar")
    parser.add_argument("--pairs", type=existing_file, required=True)
    parser.add_argument("--predictions", type=existing_file, required=True, action="append", help="may be repeated")
    parser.add_argument("--constant", action="append", default=[], help="a sentence for every pair; may be repeated")
    args = parser.parse_args()
    pairs = read_ndjson(args.pairs)
    references = [pair["references"] for pair in pairs]
    rows = {path.name: (align(pairs, read_ndjson(path), path), references) for path in args.predictions}
    rows |= {f'"{text}"': ([text] * len(pairs), references) for text in args.constant}
    rows["people"] = ([people[0] if people else "" for people in references], [people[1:] for people in references])
    print("\n".join(table(pairs, rows, Scorer(args.scorer))))


if __name__ == "__main__":
    main()

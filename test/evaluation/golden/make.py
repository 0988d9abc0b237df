"""Writes words.json: what pycocoevalcap says of captions.json. The tests compare with it, so that they need neither Python nor Java.

python -m venv /tmp/coco && /tmp/coco/bin/pip install pycocoevalcap==1.2
/tmp/coco/bin/python test/evaluation/golden/make.py
"""

import contextlib
import io
import json
import subprocess
from importlib.metadata import version
from pathlib import Path

import pycocoevalcap.meteor.meteor
from pycocoevalcap.bleu.bleu import Bleu
from pycocoevalcap.cider.cider import Cider
from pycocoevalcap.rouge.rouge import Rouge
from pycocoevalcap.tokenizer.ptbtokenizer import PTBTokenizer

HERE = Path(__file__).parent
JAR = Path(pycocoevalcap.meteor.meteor.__file__).parent / "meteor-1.5.jar"
# Every branch of the stemmer, in the words of captions and beyond.
STEMMED = """cars car boxes box men women children walking walked walks stacked stacking stacks parked parking moved moving moves
newly gone going disappeared disappearing appeared appearance lorries lorry ponies ties cries by say says stayed gas this kiwis
abyss caresses agreed feed controlling falling hopping hoping luxuriated troubled sized filing generously generation communism
arsenal relational conditional rationally valency hesitancy digitizer conformably radically differently analogously
vietnamization predication operator feudalism decisiveness hopefulness callousness formality sensitivity sensibility
triplicate formative formalize electricity electrical hopeful goodness revival allowance inference airliner gyroscopic
adjustable defensible irritant replacement adjustment dependent adoption homologou activate angularity homologous
effective bowdlerize probate rate cease controll roll skis skies dying lying tying idly gently ugly early only singly news
inning outing herring proceed exceed succeeds youth boyish yes sky's women's cats' enjoy knightly vehicles bicycle bicycles
cyclist cyclists cycling truck trucks person people suitcase luggage scooters buses bus bushes foggy sunnier quickly""".split()


def meteor(candidates, references, *options):
    """Score of the set and of each pair; METEOR is asked for statistics pair by pair, as pycocoevalcap asks it."""
    command = ["java", "-Xmx2G", "-jar", str(JAR), "-", "-", "-stdio", "-l", "en", "-norm", *options]
    lines = [" ||| ".join(["SCORE", *refs, cand]) for cand, refs in zip(candidates, references)]
    statistics = subprocess.run(
        command, input="\n".join(lines) + "\n", capture_output=True, text=True, check=True
    ).stdout.split("\n")[: len(lines)]
    scores = subprocess.run(
        command, input=" ||| ".join(["EVAL", *statistics]) + "\n", capture_output=True, text=True, check=True
    ).stdout.split()
    return float(scores[-1]), [float(s) for s in scores[:-1]]


def same_stem(words):
    """Which words METEOR's stemmer maps to the same stem: it matches nothing else of two sentences of one word each."""
    pairs = [(a, b) for i, a in enumerate(words) for b in words[i + 1 :] if a[:2] == b[:2]]
    command = ["java", "-Xmx2G", "-jar", str(JAR), "-", "-", "-stdio", "-l", "en", "-lower", "-m", "stem"]
    text = "".join(f"SCORE ||| {a} ||| {b}\n" for a, b in pairs)
    out = subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout.split("\n")
    return [[a, b] for (a, b), line in zip(pairs, out) if float(line.split()[-1]) > 0]


def main():
    given = json.loads((HERE / "captions.json").read_text())
    pairs = given["pairs"]
    tokenizer = PTBTokenizer()
    with contextlib.redirect_stdout(io.StringIO()):
        references = tokenizer.tokenize({i: [{"caption": r} for r in p["references"]] for i, p in enumerate(pairs)})
        candidates = tokenizer.tokenize({i: [{"caption": p["candidate"]}] for i, p in enumerate(pairs)})
        sentences = tokenizer.tokenize({i: [{"caption": s}] for i, s in enumerate(given["sentences"])})
        bleu, _ = Bleu(4).compute_score(references, candidates, verbose=0)
        rouge, rouges = Rouge().compute_score(references, candidates)
        cider, ciders = Cider().compute_score(references, candidates)
    cands, refs = [candidates[i][0] for i in range(len(pairs))], [references[i] for i in range(len(pairs))]
    restricted, restricteds = meteor(cands, refs, "-m", "exact stem")
    full, _ = meteor(cands, refs)
    result = {
        "made_by": "test/evaluation/golden/make.py",
        "pycocoevalcap": version("pycocoevalcap"),
        "bleu": bleu,
        "rouge_l": {"all": float(rouge), "each": [float(r) for r in rouges]},
        "cider_d": {"all": float(cider), "each": [float(c) for c in ciders]},
        "meteor_exact_stem": {"all": restricted, "each": restricteds},
        "meteor_full": full,
        "tokens": [sentences[i][0].split() for i in range(len(given["sentences"]))],
        "candidate_tokens": [c.split() for c in cands],
        "stemmed": STEMMED,
        "same_stem": same_stem(STEMMED),
    }
    (HERE / "words.json").write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()

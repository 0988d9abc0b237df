"""Writes words.json: the metrics of pycocoevalcap for captions.json, which test/lab/words.test.ts compares with.

    python -m venv /tmp/coco && /tmp/coco/bin/pip install pycocoevalcap==1.2
    /tmp/coco/bin/python test/lab/golden/make.py

The tokenizer of pycocoevalcap needs Java; the tests need neither Java nor Python.
"""

import contextlib
import io
import json
from importlib.metadata import version
from pathlib import Path

from pycocoevalcap.bleu.bleu import Bleu
from pycocoevalcap.cider.cider import Cider
from pycocoevalcap.rouge.rouge import Rouge
from pycocoevalcap.tokenizer.ptbtokenizer import PTBTokenizer

HERE = Path(__file__).parent


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
    result = {
        "made_by": "test/lab/golden/make.py",
        "pycocoevalcap": version("pycocoevalcap"),
        "bleu": bleu,
        "rouge_l": {"all": float(rouge), "each": [float(r) for r in rouges]},
        "cider_d": {"all": float(cider), "each": [float(c) for c in ciders]},
        "tokens": [sentences[i][0].split() for i in range(len(given["sentences"]))],
        "candidate_tokens": [candidates[i][0].split() for i in range(len(pairs))],
    }
    (HERE / "words.json").write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()

"""Fits what the service needs to use a truth check: probabilities, thresholds of the slots, and when to rerank.

All of it rests on held-out pairs. Slots and reranking are fitted on what the bundle's own decoder writes about single
region crops, as it is served; the probability of a sentence on true and false ones of equal number.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch
from sklearn.linear_model import LogisticRegression
from torch import Tensor

from training.contract import SLOTS, Clause
from training.data.evidence import Evidence, evidence_inputs
from training.data.groups import Groups
from training.net.check import TruthCheck
from training.text.captions import SEVERAL
from training.text.false_sentences import own_clauses, write_any
from training.text.lexicon import COLOURS, DIRECTIONS, FRAME_PLACES, NOUNS
from training.text.truth import FALSE, TRUE, judge_sentence

LOST = 0.03  # of the right values of a slot may fall below its threshold
LEAST_GAIN = 0.005  # of true sentences, from which reranking is used
LEAST_SENTENCES = 50
MARGINS = tuple(float(margin) for margin in np.round(np.arange(0, 6.1, 0.25), 2))
ACTIONS = ("appeared", "disappeared", "moved")
MOST_CANDIDATES = 32


@torch.no_grad()
def fit_check(check: TruthCheck, vocabulary: list[str], heldout: Evidence) -> dict:
    """The keys `sentence`, `calibration` and `margin` of the manifest's `check`, and `reranked`: the figures."""
    groups = Groups(heldout, vocabulary, 1)
    return {
        "sentence": sentence_calibration(check, groups),
        **served_levels(check, groups),
    }


def platt(logits: np.ndarray, true: np.ndarray, balanced: bool) -> tuple[float, float]:
    """Scale and offset such that sigmoid(scale * logit + offset) is a probability (Platt 1999)."""
    fitted = LogisticRegression(C=1e4, class_weight="balanced" if balanced else None).fit(logits[:, None], true)
    return round(float(fitted.coef_[0, 0]), 5), round(float(fitted.intercept_[0]), 5)


def sentence_calibration(check: TruthCheck, groups: Groups, batch: int = 50) -> dict[str, float]:
    """Probability of a sentence if as many true as false ones are asked about."""
    rng, scores, true = np.random.default_rng(11), [], []
    changed = [*groups.changed.tolist(), *groups.unchanged.tolist()]
    for first in range(0, len(changed), batch):
        indices = changed[first : first + batch]
        ids, _, _ = groups.batch(indices, rng)
        score, _ = check(evidence_inputs(groups.data.arrays(indices)), ids)
        scores.append(score.numpy().ravel())
        true.append(np.tile(np.arange(score.shape[1]) == 0, len(score)))
    scale, offset = platt(np.concatenate(scores), np.concatenate(true), balanced=True)
    return {"scale": scale, "offset": offset}


def candidates_of(clause: Clause, nouns: list[str], colours: list[str]) -> list[Clause]:
    """The clause, and every edit of one of its slots: other actions, likely nouns and colours, frame places, counts."""
    found = [clause]
    for action in ACTIONS:
        if clause.action in ACTIONS and action != clause.action:
            stays = (action == "moved") == (clause.action == "moved")
            found.append(replace(clause, action=action, where=clause.where if stays else None))
    found += [replace(clause, noun=noun) for noun in nouns if noun in NOUNS]
    found += [replace(clause, colour=colour) for colour in colours if clause.colour and colour in COLOURS]
    if clause.where:
        places = DIRECTIONS if clause.action == "moved" else FRAME_PLACES
        found += [replace(clause, where=place) for place in places]
    found += [replace(clause, count=count) for count in (1, 2, SEVERAL - 1)]
    return list(dict.fromkeys(found))[:MOST_CANDIDATES]


def served_levels(check: TruthCheck, groups: Groups) -> dict:
    """`calibration` per slot, `margin` and `reranked`, from the decoder's own clauses."""
    names = groups.data.graphs.names
    logits, truths, gains = [], [], []
    for index, meta in enumerate(groups.data.meta):
        if not meta["objects"]:
            continue
        b = groups.data.arrays([index])
        inputs = evidence_inputs(b)
        for crop, sentence in enumerate(map(own_clauses, ([words] for words in meta["words"]))):
            if len(sentence) != 1 or len(sentence[0]) != 1:
                continue
            clause = sentence[0][0]
            side = 0 if clause.action == "disappeared" else 1
            likely = [top(b[f"{kind}_logits"][0, crop, side], names[kind]) for kind in ("noun", "colour")]
            options = candidates_of(clause, *likely)
            score, slots = check(inputs, encoded(groups, options))
            judged = [judge_sentence([option], meta["objects"]) for option in options]
            logits.append(slots[0, 0].numpy())
            truths.append(judged[0][1])
            best = 1 + int(score[0, 1:].argmax())
            gains.append((float(score[0, best] - score[0, 0]), judged[0][0] == TRUE, judged[best][0] == TRUE))
    return {"calibration": slot_levels(np.array(logits), truths)} | rerank_margin(gains)


def encoded(groups: Groups, options: list[Clause]) -> Tensor:
    """ids [1,K,L] of the clauses, all worded alike."""
    return torch.tensor([[groups.encode(write_any([option], np.random.default_rng(0))) for option in options]])


def top(logits: Tensor, names: list[str], count: int = 3) -> list[str]:
    return [names[i] for i in logits.argsort(descending=True)[:count].tolist()]


def slot_levels(logits: np.ndarray, truths: list[list[float | None]]) -> dict[str, dict[str, float]]:
    """Probability that a served value is right, and the threshold below which it is weak: at most even odds, and at
    most LOST of the right values fall below. 0 if there are too few values to fit."""
    found = {}
    for i, slot in enumerate(SLOTS):
        rows = [(row[i], truth[i]) for row, truth in zip(logits, truths) if truth[i] in (TRUE, FALSE)]
        u, true = np.array([row[0] for row in rows]), np.array([row[1] == TRUE for row in rows])
        if len(rows) < LEAST_SENTENCES or true.all() or not true.any():
            found[slot] = {"scale": 1.0, "offset": 0.0, "threshold": 0.0}
            continue
        scale, offset = platt(u, true, balanced=False)
        p = 1 / (1 + np.exp(-(scale * u + offset)))
        threshold = min(0.5, float(np.quantile(p[true], LOST)))
        found[slot] = {
            "scale": scale,
            "offset": offset,
            "threshold": round(threshold if scale > 0 else 0.0, 4),
            "served_right": round(float(true.mean()), 4),
            "right_above": round(float(true[p >= threshold].mean()), 4),
            "below": round(float((p < threshold).mean()), 4),
        }
    return found


def rerank_margin(gains: list[tuple[float, bool, bool]]) -> dict:
    """The margin of the score by which an edit must lead the captioner's own clause, or None if that gains too little.

    gains: per clause the lead of its best edit, and whether the clause and the edit are true."""
    unranked = float(np.mean([true for _, true, _ in gains])) if gains else 0.0
    share = {
        margin: float(np.mean([edit if lead > margin else true for lead, true, edit in gains])) if gains else 0.0
        for margin in MARGINS
    }
    best = max(share, key=lambda margin: (share[margin], margin))
    measured = {"clauses": len(gains), "true": round(unranked, 4), "true_reranked": round(share[best], 4)}
    return {"margin": best if share[best] >= unranked + LEAST_GAIN else None, "reranked": measured}

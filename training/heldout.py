"""Figures on cached held-out synthetic pairs, by facts: the caption is parsed back into slots and held to the truth."""

import numpy as np
import torch

from training.data.batches import Batches, glance_inputs
from training.net.config import END, PAD
from training.net.model import Captioner, Difference
from training.text import grammar
from training.text.lexicon import ALSO_CALLED, ALSO_COLOURED, NOUNS, SINGULAR
from training.worlds.clevr import grammar as clevr_grammar


def words_of(ids: list[int], vocabulary: list[str]) -> str:
    return " ".join(vocabulary[i] for i in ids if i not in (PAD, END))


def same_noun(said: str, true: str) -> bool:
    """Equal, or either is a true name of the other (person for man, vehicle for car)."""
    said, true = SINGULAR.get(said, said), SINGULAR.get(true, true)
    hypernym = lambda n: NOUNS[n][1] if n in NOUNS else n
    return (
        said == true or said in ALSO_CALLED.get(true, ()) or true in ALSO_CALLED.get(said, ()) or said == hypernym(true)
    )


def same_colour(said: str | None, true: str | None) -> bool:
    if said is None or true is None:
        return said == true
    return said == true or said in ALSO_COLOURED.get(true, ()) or true in ALSO_COLOURED.get(said, ())


def clauses(caption: str) -> list[grammar.Clause]:
    """Of a caption that says something changed; empty for "no change" and for what the grammar cannot read."""
    try:
        return grammar.parse_clauses(caption) if grammar.parse(caption) else []
    except ValueError:
        return []


def judge(caption: str, meta: dict) -> tuple[bool, tuple[bool, bool, bool]]:
    """Whether it says that nothing changed, and whether its first clause is right in action, also in noun, also in colour (in CLEVR:
    in all attributes and what became of them). meta: a pair's line in the cache; `world` says whose grammar reads it."""
    objects = meta["objects"]
    if meta.get("world") == "clevr":
        return clevr_grammar.judge(caption, objects[0] if objects else None)
    found = clauses(caption)
    first = found[0] if found else None
    matching = [o for o in objects if first and first.action == o["action"]]
    named = [o for o in matching if same_noun(first.noun, o["noun"])]
    return not found, (bool(matching), bool(named), any(same_colour(first.colour, o["colour"]) for o in named))


def place_right(caption: str, meta: dict) -> bool:
    """Whether the first clause says a place, or a way, that is true of something that did what the clause says."""
    first = next(iter(clauses(caption)), None)
    return first is not None and any(
        first.action == o["action"] and first.where in (o["where"], *o["places"]) for o in meta["objects"]
    )


def auroc(scores: np.ndarray, positive: np.ndarray) -> float:
    """Mann-Whitney: probability that a changed pair scores above an unchanged one; ties count half."""
    order = scores.argsort()
    ranks = np.empty(len(scores))
    ranks[order] = np.arange(1, len(scores) + 1)
    for value in np.unique(scores):
        tie = scores == value
        ranks[tie] = ranks[tie].mean()
    p, n = positive.sum(), (~positive).sum()
    return float((ranks[positive].sum() - p * (p + 1) / 2) / (p * n)) if p and n else float("nan")


@torch.no_grad()
def heldout_figures(
    difference: Difference, captioner: Captioner, data: Batches, batch: int = 50, threshold: float = 0.0
) -> dict[str, float]:
    """Glances are the cache's (at the true boxes or where a map fires: cache.py); the full serving path is evaluate.py's. threshold: of the change logit."""
    vocabulary, device = data.config.vocabulary, next(difference.parameters()).device
    scores, changed, kinds, facts, places, peaks, empty = [], [], [], [], [], [], []
    for start in range(0, len(data.cache), batch):
        indices = list(range(start, min(start + batch, len(data.cache))))
        b = {name: value.to(device) for name, value in data.batch(indices, np.random.default_rng(0)).items()}
        d = difference(b["coarse"][:, 0], b["fine"][:, 0], b["coarse"][:, 1], b["fine"][:, 1], b.get("evidence"))
        said = captioner.greedy(
            d["memory"], glance_inputs(b) if captioner.glances is not None else None, d["kind_logits"]
        )
        scores.append(d["change_logit"].cpu().numpy())
        changed.append(b["changed"].cpu().numpy() > 0)
        kind = 1 + said.get("kind_logits", d["kind_logits"])[:, 1:].argmax(
            1
        )  # as served: "none" is the change head's to say
        kinds.append((torch.where(d["change_logit"] > threshold, kind, 0) == b["kind"]).cpu().numpy())
        for i, index in enumerate(indices):
            meta = data.cache.meta[index]
            caption = words_of(said["ids"][i].tolist(), vocabulary)
            _, right = judge(caption, meta)
            for s, name in enumerate(("map_before", "map_after")):
                mask, predicted = b["masks"][i, s], d[name][i]
                if mask.max() > 0.2:
                    peaks.append(bool(mask.flatten()[predicted.argmax()] > 0.05))
                elif not meta["objects"]:
                    empty.append(bool(predicted.max() < 0.5))
            if meta["objects"]:
                facts.append(right)
                if meta.get("world") != "clevr":  # CLEVR's sentences tell places by other things, if at all
                    places.append(place_right(caption, meta))
    s, c = np.concatenate(scores), np.concatenate(changed)
    action, noun, colour = (float(v) for v in np.mean(facts, 0))
    out = {
        "auroc": auroc(s, c),
        "verdict": float(((s > threshold) == c).mean()),
        "kind": float(np.concatenate(kinds).mean()),
        "action": action,
        "noun": noun,
        "colour": colour,
        "pointing": float(np.mean(peaks)),
        "empty": float(np.mean(empty)),
    }
    if places:
        out["place"] = float(np.mean(places))
    out["score"] = (
        out["verdict"] + out["action"] + out["noun"] + 0.5 * (out["colour"] + out.get("place", 0.0)) + out["pointing"]
    )
    return {k: round(v, 4) for k, v in out.items()}

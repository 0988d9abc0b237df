"""The serving path in Python: two pictures -> verdict, caption, maps. Mirrors what the service does with the bundle, so that a
checkpoint can be judged on real frames before it is exported. Used by evaluate.py, calibrate.py and the parity tests."""

from pathlib import Path

import cv2
import numpy as np
import torch
from PIL import Image, ImageOps, UnidentifiedImageError

from training.data.cache import Features
from training.data.map_regions import glance_regions, map_regions
from training.data.preprocess import GLANCE_SIZE, glance_box, in_pixels, resize
from training.inputs import first_line, read_run
from training.net.config import END, KINDS, NUISANCES, PAD, ModelConfig
from training.net.model import Captioner, Difference, make_difference
from training.text.clause_filter import sentence_that_agrees

UNCHANGED = "nothing has changed"  # what is said of an unchanged pair, where the run's config has no `unchanged`


def read_frame(path: Path) -> np.ndarray:
    """uint8 [h,w,3]. @raises SystemExit naming the file and the reason."""
    try:
        with Image.open(path) as image:
            frame = np.asarray(ImageOps.exif_transpose(image).convert("RGB"))
    except FileNotFoundError:
        raise SystemExit(f"{path}: no such file") from None
    except (UnidentifiedImageError, OSError) as reason:
        raise SystemExit(f"{path}: cannot be read as an image ({reason})") from None
    while frame.shape[1] > 1280:  # the working frame
        frame = cv2.resize(frame, (frame.shape[1] // 2, frame.shape[0] // 2), interpolation=cv2.INTER_AREA)
    return frame


class Server:
    """most_glances: fewer than the model was trained with, to see what they are worth."""

    def __init__(
        self,
        features: Features,
        difference: Difference,
        captioner: Captioner,
        unchanged: str = UNCHANGED,
        most_glances: int | None = None,
    ):
        self.unchanged = unchanged
        self.features, self.difference, self.captioner = features, difference.eval(), captioner.eval()
        self.c: ModelConfig = captioner.c
        self.most_glances = self.c.regions if most_glances is None else min(most_glances, self.c.regions)

    def look(self, frame: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        height, width = self.c.look
        return self.features(resize(frame, width, height)[None])

    def glances(self, before: np.ndarray, after: np.ndarray, boxes: list[tuple]) -> tuple[torch.Tensor, ...]:
        h, w, _ = before.shape
        R, g, c = self.c.regions, self.c.glance_grid, self.c
        coarse = np.zeros((1, R, 2, c.coarse_channels, g, g), np.float32)
        fine = np.zeros((1, R, 2, c.fine_channels, 2 * g, 2 * g), np.float32)
        crop, obj, mask = np.zeros((1, R, 4), np.float32), np.zeros((1, R, 4), np.float32), np.zeros((1, R), np.float32)
        for r, box in enumerate(boxes):
            square = glance_box(in_pixels(box, w, h), w, h)
            for s, frame in enumerate((before, after)):
                fh, fw, _ = frame.shape
                scaled = tuple(v * s2 for v, s2 in zip(square, (fw / w, fh / h, fw / w, fh / h)))
                k, f = self.features(resize(frame, GLANCE_SIZE, GLANCE_SIZE, scaled)[None])
                coarse[0, r, s], fine[0, r, s] = k[0], f[0]
            crop[0, r] = [v / s for v, s in zip(square, (w, h, w, h))]
            obj[0, r], mask[0, r] = box, 1
        return tuple(torch.from_numpy(x) for x in (coarse, fine, crop, obj, mask))

    @torch.no_grad()
    def compare(self, before: np.ndarray, after: np.ndarray, looks=None, threshold: float = 0.0) -> dict:
        """threshold: of the change logit; below it the sentence is the plain one and no glance is taken."""
        looks = looks or (self.look(before), self.look(after))
        (cb, fb), (ca, fa) = ((torch.from_numpy(np.asarray(x)) for x in look) for look in looks)
        d = self.difference(cb, fb, ca, fa)
        maps = {"before": d["map_before"][0].numpy(), "after": d["map_after"][0].numpy()}
        regions = sorted((r for side, heat in maps.items() for r in map_regions(heat, side)), key=lambda r: -r.strength)
        logit = float(d["change_logit"][0])
        out = {
            "logit": logit,
            "maps": maps,
            "regions": regions,
            "kind_logits": d["kind_logits"][0].tolist(),
            "kind": KINDS[1 + int(d["kind_logits"][0, 1:].argmax())] if logit >= threshold else "none",
            "nuisances": dict(zip(NUISANCES, torch.sigmoid(d["nuisance_logits"][0]).tolist())),
            "caption": self.unchanged,
            "verdict": "change" if logit >= threshold else "none",
        }
        if logit >= threshold:
            boxes = glance_regions(regions, self.most_glances)
            said = self.captioner.greedy(
                d["memory"], self.glances(before, after, boxes) if self.c.glances else None, d["kind_logits"]
            )
            ids = said["ids"][0].tolist()
            out["caption"] = " ".join(self.c.vocabulary[i] for i in ids if i not in (PAD, END))
            out["attention"] = said["attention"][0].numpy()
            if "kind_logits" in said:
                out["kind_logits"], out["kind"] = (
                    said["kind_logits"][0].tolist(),
                    KINDS[1 + int(said["kind_logits"][0, 1:].argmax())],
                )
            out["caption"] = sentence_that_agrees(out["caption"], out["kind"])
        return out


def load_run(path: Path) -> tuple[Difference, Captioner, dict]:
    """A checkpoint of train.py: its models and its content. @raises SystemExit naming the file where it is none."""
    saved = read_run(path)
    return *models_of(saved, str(path)), saved


def models_of(saved: dict, name: str) -> tuple[Difference, Captioner]:
    """Of a checkpoint's content, ready to serve. @raises SystemExit with its name where it is of another version of the model."""
    try:
        c = ModelConfig(**saved["config"]["model"], **saved["labels"])
        difference, captioner = make_difference(c), Captioner(c)
        difference.load_state_dict(saved["difference"])
        captioner.load_state_dict(saved["captioner"])
    except (KeyError, TypeError, RuntimeError) as reason:  # a field or a tensor that this code does not have
        raise SystemExit(f"{name}: is of another version of the model ({first_line(reason)})") from None
    return difference.eval(), captioner.eval()

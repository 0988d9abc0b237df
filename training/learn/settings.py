"""The settings of a training: a TOML file of training/configs, checked name by name."""

import tomllib
from dataclasses import fields
from difflib import get_close_matches
from pathlib import Path

from training.contract import KINDS
from training.data.batches import Labels
from training.net.config import ModelConfig

OPTIONAL = ("read_first", "still", "average", "rates")  # of [train]
REQUIRED = """
    batch steps learning_rate warmup weight_decay clip settle_maps label_smoothing evaluate_every kind_weights weights
""".split()
LOSSES = "caption map change kind nuisance contrast cbr side noun colour crops_kind role same read match".split()
# Names that a config may have, per table.
KNOWN = {
    "": {"name", "world", "model", "train", "unchanged"},
    "model": {field.name for field in fields(ModelConfig)} - {field.name for field in fields(Labels)},
    "train": {*REQUIRED, *OPTIONAL},
    "train.kind_weights": set(KINDS),
    "train.weights": set(LOSSES),
}
NEEDED = {"": KNOWN[""] - {"unchanged"}, "train": set(REQUIRED)}


def load_config(path: Path, overrides: list[str]) -> dict:
    """overrides: "SECTION.NAME=VALUE", VALUE in TOML. @raises SystemExit naming what is not TOML, unknown or
    missing."""
    try:
        config = tomllib.loads(path.read_text())
    except tomllib.TOMLDecodeError as reason:
        raise SystemExit(f"{path}: not TOML ({reason})") from None
    check_names(config, str(path))
    for item in overrides:
        key, _, value = item.partition("=")
        section, _, name = key.partition(".")
        if section not in ("model", "train") or not name:
            raise SystemExit(f"--set {item}: expected SECTION.NAME=VALUE with a section of {path} (model, train)")
        try:
            config[section][name] = tomllib.loads(f"v = {value}")["v"]
        except tomllib.TOMLDecodeError as reason:
            raise SystemExit(f"--set {item}: {value!r} is not a TOML value ({reason})") from None
        check_names(config, f"--set {item}")
    return config


def check_names(config: dict, source: str) -> None:
    for section, known in KNOWN.items():
        table = config
        for part in filter(None, section.split(".")):
            table = table[part]
        if not isinstance(table, dict):
            raise SystemExit(f"{source}: {section} is {table!r}, expected a table")
        for name in table:
            if name not in known:
                near = get_close_matches(name, known, 1)
                hint = f"did you mean {near[0]}?" if near else f"known are {', '.join(sorted(known))}"
                raise SystemExit(f"{source}: there is no {section}{'.' if section else ''}{name}; {hint}")
        missing = NEEDED.get(section, set()) - set(table)
        if missing:
            raise SystemExit(f"{source}: {section or 'the config'} lacks {', '.join(sorted(missing))}")

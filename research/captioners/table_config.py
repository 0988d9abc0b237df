"""The config of the table: settings that all rows share, and the changes of each row."""

import tomllib
from dataclasses import dataclass, fields
from pathlib import Path

from training.data.batches import Labels
from training.net.config import ModelConfig

TABLES = {
    "": {"world", "unchanged", "reader", "model", "train", "rows"},
    "reader": {"batch", "steps", "learning_rate", "warmup"},
    "train": {"scenes", "steps", "rates", "probe", "warmup", "weight_decay", "clip", "save_every"},
}
ROW = {"architecture", "options", "model", "extra"}
MODEL = {field.name for field in fields(ModelConfig)} - {field.name for field in fields(Labels)}


@dataclass
class TableConfig:
    world: str
    unchanged: str  # caption of an unchanged pair, as a bundle's `unchanged_sentence`
    reader: dict
    model: dict
    train: dict
    rows: dict[str, dict]

    @classmethod
    def read(cls, path: Path) -> "TableConfig":
        """@raises SystemExit naming what is not TOML, unknown or missing."""
        try:
            content = tomllib.loads(path.read_text())
        except tomllib.TOMLDecodeError as reason:
            raise SystemExit(f"{path}: not TOML ({reason})") from None
        for name, known in TABLES.items():
            table = content.get(name, {}) if name else content
            check(table, known, known, f"{path}: {name or 'the config'}")
        check(content["model"], MODEL - {"architecture", "options"}, set(), f"{path}: model")
        for name, row in content["rows"].items():
            check(row, ROW, {"architecture"}, f"{path}: rows.{name}")
            check(row.get("model", {}), MODEL, set(), f"{path}: rows.{name}.model")
        return cls(**content)

    def chosen(self, names: list[str] | None) -> list[str]:
        """The named rows, or all that are not `extra`. @raises SystemExit for an unknown name."""
        if not names:
            return [name for name, row in self.rows.items() if not row.get("extra")]
        for name in names:
            if name not in self.rows:
                raise SystemExit(f"--rows: there is no row {name!r}; known are {', '.join(self.rows)}")
        return names

    def of_row(self, name: str, steps: int, rate: float, minutes: float | None = None) -> dict:
        """The config of one training, as a checkpoint holds it. minutes: of wall time, in which the steps end."""
        row = self.rows[name]
        parts = {"architecture": row["architecture"], "options": row.get("options", {})}
        train = {key: self.train[key] for key in ("scenes", "warmup", "weight_decay", "clip")}
        return {
            "name": name,
            "world": self.world,
            "unchanged": self.unchanged,
            "model": self.model | row.get("model", {}) | parts,
            "train": train | {"steps": steps, "learning_rate": rate} | ({"minutes": minutes} if minutes else {}),
        }


def check(table: dict, known: set[str], needed: set[str], where: str) -> None:
    unknown, missing = sorted(set(table) - known), sorted(needed - set(table))
    if unknown:
        raise SystemExit(f"{where}: there is no {', '.join(unknown)}; known are {', '.join(sorted(known))}")
    if missing:
        raise SystemExit(f"{where} lacks {', '.join(missing)}")

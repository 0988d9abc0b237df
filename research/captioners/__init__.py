"""The registry of architectures, imported when they are asked for: module with `Options`, class name."""

from importlib import import_module

from research.captioners.base import Architecture, Tokens
from training.net.config import ModelConfig

ARCHITECTURES = {
    "scorer": ("research.captioners.scorer", "Scorer"),
    "duda": ("research.captioners.duda", "Duda"),
    "mccformers": ("research.captioners.mccformers", "MccFormers"),
    "clip4idc": ("research.captioners.clip4idc", "Clip4Idc"),
    "idc_pcl": ("research.captioners.idc_pcl", "IdcPcl"),
    "onediff": ("research.captioners.onediff", "OneDiff"),
}


def options_of(c: ModelConfig):
    """The options of c.architecture as its dataclass. @raises SystemExit naming an unknown architecture or option."""
    if c.architecture not in ARCHITECTURES:
        raise SystemExit(f"there is no architecture {c.architecture!r}; known are {', '.join(ARCHITECTURES)}")
    options = import_module(ARCHITECTURES[c.architecture][0]).Options
    unknown = sorted(set(c.options) - set(options.__dataclass_fields__))
    if unknown:
        known = ", ".join(options.__dataclass_fields__)
        raise SystemExit(f"{c.architecture}: there is no option {', '.join(unknown)}; known are {known}")
    return options(**c.options)


def make_architecture(c: ModelConfig, tokens: Tokens) -> Architecture:
    module, name = ARCHITECTURES[c.architecture]
    return getattr(import_module(module), name)(c, tokens, options_of(c))

"""Checkpoints of training.train as networks that are ready for inference."""

from pathlib import Path

from torch import nn

from training.inputs import first_line, read_run
from training.net.captioner import Captioner
from training.net.config import ModelConfig
from training.world import load_world


def load_run(path: Path) -> tuple[nn.Module, Captioner, dict]:
    """Difference, Captioner and the whole content. @raises SystemExit naming the file if it is not a checkpoint."""
    saved = read_run(path)
    return *networks_of(saved, str(path)), saved


def networks_of(saved: dict, name: str) -> tuple[nn.Module, Captioner]:
    """The networks of a checkpoint's content. @raises SystemExit with `name` if this code builds other networks."""
    try:
        c = ModelConfig(**saved["config"]["model"], **saved["labels"])
        world = load_world(saved["config"]["world"])
        difference, captioner = (
            world.make_networks(c) if world.make_networks else (world.make_difference(c), Captioner(c))
        )
        difference.load_state_dict(saved["difference"])
        captioner.load_state_dict(saved["captioner"])
    except (KeyError, TypeError, RuntimeError) as reason:  # a field or a tensor that this code does not have
        raise SystemExit(f"{name}: is of another version of the model ({first_line(reason)})") from None
    return difference.eval(), captioner.eval()

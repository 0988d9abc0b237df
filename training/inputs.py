"""Checks of command-line inputs. An error is one line that names the input and what is wrong with it."""

import argparse
import hashlib
import json
import sys
from importlib import import_module
from pathlib import Path

import onnxruntime

RUN_PARTS = ("config", "labels", "difference", "captioner")  # in every checkpoint of training.train


def run_command(package: str, commands: dict[str, str]) -> None:
    """Runs `main` of a module of the package: commands maps the first argument to the module's name.

    @raises SystemExit with the list of commands if it is none of them
    """
    name = sys.argv[1] if len(sys.argv) > 1 else ""
    if name not in commands:
        raise SystemExit(f"python -m {package}: expected one of {', '.join(commands)}, then its options or --help")
    sys.argv = [f"python -m {package} {name}", *sys.argv[2:]]
    import_module(f"{package}.{commands[name]}").main()


def part_parser(description: str, steps: int, rate: float) -> argparse.ArgumentParser:
    """The options of the commands that train a part of a bundle on what its other graphs see in cached pairs."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("--bundle", type=existing_folder, required=True)
    parser.add_argument("--cache", type=existing_folder, required=True, action="append")
    parser.add_argument("--heldout", type=existing_folder, required=True)
    parser.add_argument("--out", type=Path, required=True)
    for name, default in (("seed", 1), ("steps", steps), ("rate", rate), ("threads", 1)):
        parser.add_argument(f"--{name}", type=type(default), default=default)
    return parser


def existing_file(text: str) -> Path:
    """Type of an argument. @raises SystemExit (argparse would turn an ArgumentTypeError into several lines)."""
    path = Path(text)
    if not path.is_file():
        raise SystemExit(f"{path}: {'is a folder, expected a file' if path.is_dir() else 'no such file'}")
    return path


def existing_folder(text: str) -> Path:
    path = Path(text)
    if not path.is_dir():
        raise SystemExit(f"{path}: {'is a file, expected a folder' if path.exists() else 'no such folder'}")
    return path


def new_file(text: str) -> Path:
    """Type of an argument: a file to write at the end of a long run. @raises SystemExit if it cannot be written."""
    path = Path(text)
    if path.is_dir():
        raise SystemExit(f"{path}: is a folder, expected a file")
    existing_folder(path.parent)
    return path


def read_json(path: Path, *needed: str) -> dict:
    """The object of a JSON file. needed: keys that it must have, with dots for nested keys ("hedge.share")."""
    try:
        content = json.loads(existing_file(path).read_text(encoding="utf-8"))
    except ValueError as reason:
        raise SystemExit(f"{path}: not JSON ({reason})") from None
    for name in needed:
        part = content
        for step in name.split("."):
            if not isinstance(part, dict) or step not in part:
                raise SystemExit(f"{path}: lacks {name}")
            part = part[step]
    return content


def read_ndjson(path: Path) -> list[dict]:
    """The objects of an NDJSON file, one per line. @raises SystemExit naming the line that is none."""
    objects = []
    for number, line in enumerate(existing_file(str(path)).read_text(encoding="utf-8").splitlines(), 1):
        if line.strip():
            try:
                objects.append(json.loads(line))
            except ValueError as reason:
                raise SystemExit(f"{path}: line {number} is not JSON ({reason})") from None
    return objects


def read_run(path: Path, *more: str) -> dict:
    """The content of a checkpoint of training.train, which has RUN_PARTS and `more`."""
    import torch  # here, because the cache and the tests of CI do without it

    existing_file(path)
    try:
        saved = torch.load(path, map_location="cpu", weights_only=False)
    except Exception as reason:  # unpickling arbitrary bytes can raise anything
        raise SystemExit(
            f"{path}: is not a checkpoint of training.train ({type(reason).__name__}: {first_line(reason)})"
        ) from None
    if not isinstance(saved, dict):
        raise SystemExit(f"{path}: is not a checkpoint of training.train: holds a {type(saved).__name__}")
    missing = {*RUN_PARTS, *more} - set(saved)
    if missing:
        raise SystemExit(f"{path}: is not a checkpoint of training.train: lacks {', '.join(sorted(missing))}")
    return saved


def open_graph(path: Path, *outputs: str) -> onnxruntime.InferenceSession:
    """A graph on one thread (several processes use the cores better than threads). outputs: names that it must have."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    try:
        session = onnxruntime.InferenceSession(str(existing_file(path)), options, providers=["CPUExecutionProvider"])
    except Exception as reason:  # the runtime's exceptions have no narrower common class
        raise SystemExit(f"{path}: is not an ONNX graph that can be run ({first_line(reason)})") from None
    found = [output.name for output in session.get_outputs()]
    if not set(outputs) <= set(found):
        raise SystemExit(f"{path}: is another graph: gives {', '.join(found)}, expected {', '.join(outputs)}")
    return session


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def refuse_other(made: dict, expected: dict, path: Path, advice: str) -> None:
    """@raises SystemExit if both dicts have a key with different values."""
    for name in made:
        if name in expected and made[name] != expected[name]:
            raise SystemExit(f"{path}: was made with {name} {made[name]}, expected {expected[name]}; {advice}")


def first_line(reason: Exception) -> str:
    return next(iter(str(reason).strip().splitlines()), "")

"""What a command is given: there and of the right kind, or one line that names it and says what is wrong."""

from pathlib import Path


def existing_file(text: str) -> Path:
    """Type of an argument. @raises SystemExit (of an ArgumentTypeError argparse would make several lines)."""
    path = Path(text)
    if not path.is_file():
        raise SystemExit(f"{path}: {'is a folder, expected a file' if path.is_dir() else 'no such file'}")
    return path

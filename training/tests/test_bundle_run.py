"""The command from pictures to a bundle refuses wrong options before it makes anything."""

import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "runs/bundle.sh"


@pytest.mark.parametrize(
    "arguments, message",
    [
        ([], "--out: expected the folder of the bundle"),
        (["--out"], "--out: expected a value"),
        (["--out", "models/x", "--tiny"], "--tiny: no such option"),
    ],
)
def test_a_wrong_option_is_one_line(tmp_path: Path, arguments: list[str], message: str):
    done = subprocess.run(["bash", SCRIPT, *arguments], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr.startswith(message) and done.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []

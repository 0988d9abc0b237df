"""Fixtures that several test files share."""

from __future__ import annotations

from pathlib import Path

import pytest

from training.tests.surveillance_data import write_data_folder


@pytest.fixture(scope="session")
def surveillance_root(tmp_path_factory) -> Path:
    """A small data folder of the surveillance world."""
    return write_data_folder(tmp_path_factory.mktemp("surveillance"))

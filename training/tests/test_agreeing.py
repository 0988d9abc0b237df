"""The same cases as test/model/clauses.test.ts."""

import json
from pathlib import Path

import pytest

from training.text.clause_filter import sentence_that_agrees

CASES = json.loads((Path(__file__).parents[2] / "test/fixtures/clauses.json").read_text())


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["kind"])
def test_keeps_what_is_of_the_kind(case):
    assert sentence_that_agrees(case["said"], case["kind"]) == case["kept"]

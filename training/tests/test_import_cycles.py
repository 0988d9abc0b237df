"""No module of training/ imports itself, directly or through others; imports inside functions count."""

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def imported_names(tree: ast.AST) -> set[str]:
    """Dotted names of everything a module imports, except under `if TYPE_CHECKING:`, which never runs."""
    names: set[str] = set()
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            continue
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        names |= imported_names(node)
    return names


def import_graph(sources: dict[str, str]) -> dict[str, set[str]]:
    """sources: text by module name -> the modules among them that each imports; a package is imported with its
    modules."""
    graph = {}
    for module, source in sources.items():
        names = imported_names(ast.parse(source))
        parents = {name.rsplit(".", n)[0] for name in names for n in range(1, name.count(".") + 1)}
        own_packages = {module.rsplit(".", n)[0] for n in range(1, module.count(".") + 1)}
        graph[module] = ((names | parents) & sources.keys()) - own_packages - {module}
    return graph


def find_cycle(graph: dict[str, set[str]]) -> list[str]:
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as found:
        return found.args[1]
    return []


def test_training_has_no_import_cycle():
    sources = {}
    for path in sorted((ROOT / "training").rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        sources[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path.read_text(encoding="utf-8")
    assert find_cycle(import_graph(sources)) == []


@pytest.mark.parametrize(
    "text", ["import training.b", "from training import b", "def late():\n    from training.b import name"]
)
def test_a_cycle_is_found(text: str):
    graph = import_graph(
        {"training.a": text, "training.b": "from training.c import x", "training.c": "import training.a"}
    )
    assert set(find_cycle(graph)) == {"training.a", "training.b", "training.c"}


def test_an_import_for_types_alone_closes_no_cycle():
    lines = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from training.b import B"
    assert find_cycle(import_graph({"training.a": lines, "training.b": "import training.a"})) == []

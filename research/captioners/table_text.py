"""The table of captioners as Markdown, out of the figures of each row's seeds."""

from statistics import mean, stdev

KINDS = ("color", "material", "appear", "disappear", "move", "none")  # of the labelled pairs
HELDOUT = {"verdict": "verdict", "auroc": "AUROC", "colour": "all facts", "pointing": "pointing"}
SERVED = ("CIDEr-D", "CIDEr-D changed", "verdict", "AUROC", "noun", "colour", "pointing")
RECALLS = ("R@1", "R@5", "R@10")


def cell(values: list[float | None], scale: float = 1.0, digits: int = 1) -> str:
    """Mean and standard deviation, or the one value; a dash if a seed has none."""
    if not values or any(value is None for value in values):
        return "-"
    scaled = [scale * value for value in values]
    spread = f" ± {stdev(scaled):.{digits}f}" if len(scaled) > 1 else ""
    return f"{mean(scaled):.{digits}f}{spread}"


def markdown(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def table_text(figures: dict[str, list[dict]]) -> str:
    """figures: content of figures.json per seed, by row. Rates are in percent, CIDEr-D times 100."""
    seeds = max((len(runs) for runs in figures.values()), default=0)
    spread = "one seed" if seeds == 1 else f"mean and standard deviation of {seeds} seeds"
    heldout = [
        [
            name,
            *(cell([run["heldout"].get(key) for run in runs], 100) for key in (*HELDOUT, *RECALLS)),
            f"{runs[0]['parameters'] / 1e6:.2f}",
            cell([run["steps"] for run in runs], digits=0),
            cell([run["cpu_h"] for run in runs], digits=2),
        ]
        for name, runs in figures.items()
    ]
    parts = [
        f"Held-out drawn pairs, {spread}; percent.\n\n",
        markdown(["row", *HELDOUT.values(), *RECALLS, "M parameters", "steps", "CPU-h"], heldout),
    ]
    served = {name: [run["served"] for run in runs] for name, runs in figures.items() if "served" in runs[0]}
    if served:
        scales = {"CIDEr-D": 1, "CIDEr-D changed": 1}
        rows = [constant_row(next(iter(served.values()))[0]["constant"])]
        for name, runs in served.items():
            scores = [cell([run[key] for run in runs], scales.get(key, 100)) for key in SERVED]
            kinds = [cell([run["CIDEr-D kinds"].get(kind) for run in runs]) for kind in KINDS]
            rows.append([name, *scores, *kinds, cell([run["ms"] for run in runs])])
        head = ["row", *SERVED, *(f"CIDEr-D {kind}" for kind in KINDS), "CPU ms"]
        parts += [f"\nLabelled pairs by `scenedelta evaluate`, {spread}.\n\n", markdown(head, rows)]
    return "".join(parts)


def constant_row(constant: dict[str, float | None]) -> list[str]:
    """The best constant sentence, which `scenedelta evaluate` finds for every set of pairs."""
    scores = [cell([constant["all"]]), cell([constant["changed"]])]
    return ["constant", *scores, *["-"] * (len(SERVED) - 2 + len(KINDS) + 1)]

"""The level that a probability must reach, so that a word is right as often as the service's setting `truth` asks."""

LEVELS = tuple(round(0.05 * i, 2) for i in range(8, 20))


def levels(right: list[tuple[float, float]]) -> list[list[float]]:
    """[truth, level] pairs for a linear interpolation, of the manifest's `names.levels`; right: (level, share of the
    words from that probability on that are right), by level."""
    table = [[0.0, 0.0]]
    for level, share in right:
        truth = round(float(share), 3)
        if truth > table[-1][0]:  # a level of fewer right words than a lower one is useless
            table.append([truth, level])
    return [*table, [1.0, 1.0]] if table[-1][0] < 1 else table

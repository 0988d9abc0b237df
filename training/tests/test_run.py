"""A training run: averaged weights, checkpoints, learning rates per module."""

import pytest

torch = pytest.importorskip("torch")
F = torch.nn.functional

from training.contract import SPECIALS
from training.data.batches import Labels
from training.learn.run import Run


def test_the_moving_average_of_the_weights_is_kept():
    config = {
        "world": "surveillance",
        "model": {"width": 16, "heads": 2, "map_width": 8, "max_length": 6},
        "train": {"learning_rate": 1e-3, "weight_decay": 0.0, "average": 0.75},
    }
    run = Run(config, Labels(vocabulary=[*SPECIALS, "w"], nouns=["car"], colours=["red"]), 1, "cpu")
    weight = lambda parts: parts[0].change[0].weight.detach().clone()
    first = weight(run.parts)
    run.optimiser.average.update_parameters(run.parts)
    with torch.no_grad():
        run.difference.change[0].weight += 1
    run.optimiser.average.update_parameters(run.parts)
    torch.testing.assert_close(weight(run.parts), first + 1)
    torch.testing.assert_close(weight(run.kept()), first + 1 - 2 / 11)  # at first the mean moves faster than by 0.25


def test_a_resumed_run_has_its_average(tmp_path):
    config = {
        "world": "surveillance",
        "model": {"width": 16, "heads": 2, "map_width": 8, "max_length": 6},
        "train": {"learning_rate": 1e-3, "weight_decay": 0.0, "average": 0.5},
    }
    labels = Labels(vocabulary=[*SPECIALS, "w"], nouns=["car"], colours=["red"])
    run, again = Run(config, labels, 1, "cpu"), Run(config, labels, 1, "cpu")
    torch.nn.init.ones_(again.difference.change[0].weight)
    run.optimiser.average.update_parameters(run.parts)
    run.save(tmp_path / "checkpoint.pt")
    again.restore(tmp_path / "checkpoint.pt")
    for ours, theirs in ((run.parts, again.parts), (run.kept(), again.kept())):
        for a, b in zip(ours.parameters(), theirs.parameters()):
            torch.testing.assert_close(a, b)


def test_rates_without_a_parameter_and_checkpoints_with_other_rates_are_refused(tmp_path):
    model = {"width": 16, "heads": 2, "map_width": 8, "max_length": 6}
    labels = Labels(vocabulary=[*SPECIALS, "w"], nouns=["car"], colours=["red"])
    run = lambda **rates: Run(
        {
            "world": "surveillance",
            "model": model,
            "train": {"learning_rate": 1e-3, "weight_decay": 0.0, "rates": rates},
        },
        labels,
        1,
        "cpu",
    )
    with pytest.raises(SystemExit, match="no parameter's name starts with captioner.glanses"):
        run(**{"captioner.glanses": 2.0})
    run(**{"cbr": 3.0}).save(tmp_path / "checkpoint.pt")
    with pytest.raises(
        SystemExit, match=r"checkpoint.pt: was trained with train.rates \{'cbr': 3.0\}, expected \{'cbr': 2.0\}"
    ):
        run(**{"cbr": 2.0}).restore(tmp_path / "checkpoint.pt")

"""The CLEVR world: ray intersections and light."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("numba")

from research.clevr import rules
from research.clevr.light import GROUND, LAMP_WATT, LAMPS, SUN, SUN_AT, irradiance
from research.clevr.optics import FAR, as_array, clear_share, ground, nearest
from research.clevr.render import pixel_filter, views_of
from research.clevr.rules import SceneObject

torch.set_num_threads(1)


def view_of(scene: rules.Scene):
    return views_of([scene], rules.EYE[None], np.zeros((1, 3, 3)))


def solids_of(views):
    """The objects of the only view, as the compiled functions take them."""
    return [part[0] for part in views.solids()]


def hit(views, origin, direction):
    return nearest(*solids_of(views), origin, direction)


@pytest.mark.parametrize("shape", rules.SHAPES)
def test_rays_from_the_side_and_from_above_hit_each_solid_at_its_surface(shape):
    views = view_of([SceneObject("large", "red", "metal", shape, 1.0, -1.0, 0.0)])
    for origin, direction, distance, slot, normal in (
        ((6.0, -1.0, 0.7), (-1.0, 0.0, 0.0), 6.0 - 1.7, 0, (1.0, 0.0, 0.0)),
        ((1.0, -1.0, 9.0), (0.0, 0.0, -1.0), 9.0 - 1.4, 0, (0.0, 0.0, 1.0)),
        ((1.0, -0.2, 9.0), (0.0, 0.0, -1.0), 9.0, -1, (0.0, 0.0, 1.0)),  # beside the object
    ):
        found_distance, found_slot, found_normal = hit(views, origin, direction)
        assert found_slot == slot and found_distance == pytest.approx(distance, abs=2e-3)
        assert found_normal == pytest.approx(normal, abs=1e-2)


def test_a_rotated_cube_is_hit_at_its_rounded_edge():
    views = view_of([SceneObject("large", "red", "metal", "cube", 0.0, 0.0, np.pi / 4)])
    reach = 5.0 - hit(views, (5.0, 0.0, 0.5), (-1.0, 0.0, 0.0))[0]
    assert 0.7 * 1.3 < reach < 0.7 * np.sqrt(2)  # the edge, rounded


def test_horizontal_rays_hit_the_backdrop_uphill_and_nothing_downhill():
    origin = (0.0, 0.0, 2.0)
    distance, normal = ground(origin, (-0.903, 0.429, 0.0))
    assert 13.3 < distance < 15.1  # where the profile is 2 high
    assert np.dot(normal, (-0.903, 0.429, 0.0)) < 0
    assert ground(origin, (0.903, -0.429, 0.0))[0] == FAR


def test_a_lamp_is_hidden_below_an_object_visible_far_from_it_and_partly_visible_between():
    views = view_of([SceneObject("large", "red", "rubber", "sphere", 0.0, 0.0, 0.0)])
    solids, seeds = solids_of(views), np.arange(16) / 16
    lamp_share = lambda x: np.mean([clear_share(*solids, (x, 0.0, 0.0), (0.0, 0.0, 8.0), 0.5, seed) for seed in seeds])
    share = np.array([lamp_share(x) for x in np.linspace(0.0, 3.0, 60)])
    assert share[0] == 0 and share[-1] == 1
    assert ((share > 0.2) & (share < 0.8)).any()
    assert (np.diff(share) > -0.05).all()


def test_irradiance_at_the_origin_follows_from_the_powers_of_the_lamps():
    views = view_of([])
    lamps = as_array(views.lamps)[0]
    solids, above = solids_of(views), (0.0, 0.0, 1.0)
    got = [irradiance(*solids, lamps, index, (0.0, 0.0, 0.0), above, 0.0, False) for index in range(len(lamps))]
    for index, lamp in enumerate(LAMPS):
        squared = lamp @ lamp
        assert got[index] == pytest.approx(LAMP_WATT[index] / 4 * lamp[2] / np.sqrt(squared) / squared, rel=1e-4)
    assert got[3] == pytest.approx(SUN * SUN_AT[2] / np.linalg.norm(SUN_AT), rel=1e-4)
    assert GROUND == 0.8


def test_the_pixel_filter_preserves_the_total_light():
    light = torch.zeros(1, 320, 480, 3)
    light[0, 100, 200] = 1
    out = pixel_filter(light)
    assert out.sum().item() == pytest.approx(3, rel=1e-5)
    assert out[0, 100, 200, 0] < 1 and out[0, 99, 200, 0] == out[0, 100, 201, 0] > 0
    assert torch.allclose(pixel_filter(torch.full((1, 4, 5, 3), 0.25)), torch.full((1, 4, 5, 3), 0.25))

"""The registry of worlds. A plug-in is a module with a constant WORLD, imported when it is asked for."""

from importlib import import_module

from training.world import World

PLUGINS = {
    "surveillance": "training.worlds.surveillance.plugin",
    "clevr": "training.worlds.clevr.plugin",
}


def load_world(name: str) -> World:
    """@raises SystemExit if there is no world of that name."""
    if name not in PLUGINS:
        raise SystemExit(f"there is no world {name!r}; known are {', '.join(sorted(PLUGINS))}")
    return import_module(PLUGINS[name]).WORLD

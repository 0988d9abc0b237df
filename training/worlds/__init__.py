"""The worlds of this folder, and those of other packages. A plug-in is a module `plugin` with a constant WORLD."""

from importlib import import_module

from training.world import World

WORLDS = ("surveillance",)


def load_world(name: str) -> World:
    """The world `name` of this folder, or the package of that dotted name, as "research.clevr".

    @raises SystemExit if there is none.
    """
    package = name if "." in name else f"{__name__}.{name}"
    try:
        return import_module(f"{package}.plugin").WORLD
    except ModuleNotFoundError as reason:
        if not f"{package}.plugin".startswith(reason.name):
            raise  # a package that the world imports
        known = ", ".join(WORLDS)
        raise SystemExit(f"there is no world {name!r}; known are {known}, and packages with a plugin.py") from None

"""The words of the surveillance captions: nouns and what they are, colours, places, directions."""

from __future__ import annotations

# word -> (plural, hypernym)
NOUNS: dict[str, tuple[str, str]] = {
    "person": ("people", "person"),
    "man": ("men", "person"),
    "woman": ("women", "person"),
    "boy": ("boys", "person"),
    "girl": ("girls", "person"),
    "child": ("children", "person"),
    "pedestrian": ("pedestrians", "person"),
    "cyclist": ("cyclists", "person"),
    "car": ("cars", "vehicle"),
    "suv": ("suvs", "vehicle"),
    "minivan": ("minivans", "vehicle"),
    "truck": ("trucks", "vehicle"),
    "van": ("vans", "vehicle"),
    "bus": ("buses", "vehicle"),
    "motorcycle": ("motorcycles", "vehicle"),
    "bicycle": ("bicycles", "vehicle"),
    "bike": ("bikes", "vehicle"),
    "scooter": ("scooters", "vehicle"),
    "forklift": ("forklifts", "vehicle"),
    "vehicle": ("vehicles", "vehicle"),
    "dog": ("dogs", "animal"),
    "cat": ("cats", "animal"),
    "horse": ("horses", "animal"),
    "suitcase": ("suitcases", "object"),
    "backpack": ("backpacks", "object"),
    "bag": ("bags", "object"),
    "briefcase": ("briefcases", "object"),
    "box": ("boxes", "object"),
    "crate": ("crates", "object"),
    "pallet": ("pallets", "object"),
    "barrel": ("barrels", "object"),
    "chair": ("chairs", "object"),
    "bench": ("benches", "object"),
    "table": ("tables", "object"),
    "sofa": ("sofas", "object"),
    "stool": ("stools", "object"),
    "trash can": ("trash cans", "object"),
    "bin": ("bins", "object"),
    "traffic cone": ("traffic cones", "object"),
    "cone": ("cones", "object"),
    "barrier": ("barriers", "object"),
    "ladder": ("ladders", "object"),
    "stroller": ("strollers", "object"),
    "wheelchair": ("wheelchairs", "object"),
    "wheelbarrow": ("wheelbarrows", "object"),
    "umbrella": ("umbrellas", "object"),
    "plant": ("plants", "object"),
    "ball": ("balls", "object"),
    "skateboard": ("skateboards", "object"),
    "basket": ("baskets", "object"),
    "television": ("televisions", "object"),
    "fire extinguisher": ("fire extinguishers", "object"),
    "tent": ("tents", "object"),
    "container": ("containers", "object"),
    "object": ("objects", "object"),
}
SINGULAR = {plural: word for word, (plural, _) in NOUNS.items()}
# Other true nouns for an object of this noun.
ALSO_CALLED: dict[str, tuple[str, ...]] = {
    "man": ("person", "pedestrian"),
    "woman": ("person", "pedestrian"),
    "boy": ("person", "child"),
    "girl": ("person", "child"),
    "child": ("person",),
    "pedestrian": ("person",),
    "cyclist": ("person",),
    "suv": ("car", "vehicle"),
    "minivan": ("car", "vehicle"),
    "car": ("vehicle",),
    "truck": ("vehicle",),
    "van": ("vehicle",),
    "bus": ("vehicle",),
    "bicycle": ("bike",),
    "trash can": ("bin",),
    "traffic cone": ("cone",),
    "suitcase": ("bag",),
    "backpack": ("bag",),
}

# The noun to write instead of an uncertain one: only nouns that take the same article and the same verbs. Vehicles
# are left out: "a vehicle" helps no reader, and "car" is right far more often than "man".
WIDER: dict[str, str] = {
    **dict.fromkeys(("man", "woman", "boy", "girl", "child", "pedestrian"), "person"),
    **dict.fromkeys(("men", "women", "boys", "girls", "children", "pedestrians"), "people"),
}

HUES = (
    "red",
    "dark red",
    "blue",
    "dark blue",
    "light blue",
    "green",
    "yellow",
    "orange",
    "brown",
    "beige",
    "pink",
    "purple",
)
GREYS = ("white", "black", "grey", "silver", "dark")
COLOURS = HUES + GREYS
# Other true names of a colour.
ALSO_COLOURED: dict[str, tuple[str, ...]] = {
    "black": ("dark",),
    "dark blue": ("blue", "dark"),
    "dark red": ("red", "dark"),
    "brown": ("dark",),
    "silver": ("grey",),
    "light blue": ("blue",),
}

FRAME_PLACES = (
    "on the left",
    "on the right",
    "in the middle",
    "in the foreground",
    "in the background",
    "in the distance",
    "at the lower left",
    "at the lower right",
    "at the upper left",
    "at the upper right",
    "at the top",
    "at the bottom",
    "at the left edge",
    "at the right edge",
)
# Name of a ground polygon -> how people say that something is on it.
SURFACES: dict[str, str] = {
    **dict.fromkeys(
        (
            "motorway",
            "road",
            "street",
            "slip road",
            "crossroads",
            "roundabout",
            "dirt road",
            "lane",
            "opposite carriageway",
            "hard shoulder",
        ),
        "on the road",
    ),
    **dict.fromkeys(("grass", "verge", "grass strip"), "on the grass"),
    **dict.fromkeys(("sidewalk", "painted strip"), "on the pavement"),
    **dict.fromkeys(("path", "red path", "walkway", "promenade", "boardwalk", "footbridge"), "on the path"),
    **dict.fromkeys(("parking lot", "parking bay"), "in the parking lot"),
    **dict.fromkeys(("floor", "garage floor", "warehouse floor", "aisle"), "on the floor"),
    "platform": "on the platform",
    **dict.fromkeys(("plaza", "square"), "in the square"),
    **dict.fromkeys(("yard", "cobbled yard"), "in the yard"),
    **dict.fromkeys(("cobbled street", "market street"), "in the street"),
    **dict.fromkeys(("basketball court", "tennis court"), "on the court"),
    "driveway": "on the driveway",
    **dict.fromkeys(("gravel", "sand", "dirt ground"), "on the ground"),
}
LANDMARKS = (
    "fence",
    "tree",
    "trees",
    "wall",
    "door",
    "doors",
    "building",
    "house",
    "car",
    "cars",
    "van",
    "truck",
    "bushes",
    "hedge",
    "lamp post",
    "pillar",
    "columns",
    "sign",
    "window",
    "windows",
    "railing",
    "stairs",
    "barrier",
    "table",
    "bench",
    "bin",
    "counter",
    "stage",
    "sofa",
    "gate",
    "ladder",
    "cones",
    "entrance",
)
PLACES = (*FRAME_PLACES, *dict.fromkeys(SURFACES.values()), *(f"by the {noun}" for noun in LANDMARKS))
SIDEWAYS = ("to the left", "to the right", "slightly to the left", "slightly to the right")
DEPTHWAYS = ("closer", "further away", "towards the camera", "away from the camera")
DIRECTIONS = SIDEWAYS + DEPTHWAYS


def hypernym(noun: str) -> str:
    """person, vehicle, animal or object."""
    return NOUNS[noun][1]

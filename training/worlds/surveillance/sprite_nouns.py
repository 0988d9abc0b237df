"""Nouns and colour names of the sprites: which sprites are used, and by which word a caption names them."""

# fmt: off
# Noun of a sprite in sprites.json -> noun in a caption. Sprites of other nouns never change.
CAPTION_NOUN = {
    "man": "man", "woman": "woman", "boy": "boy", "girl": "girl", "car": "car", "truck": "truck", "van": "van",
    "bus": "bus", "motorcycle": "motorcycle", "bicycle": "bicycle", "scooter": "scooter", "forklift": "forklift",
    "dog": "dog", "cat": "cat", "horse": "horse", "suitcase": "suitcase", "backpack": "backpack", "handbag": "bag",
    "briefcase": "briefcase", "box": "box", "cardboard box": "box", "open cardboard box": "box", "crate": "crate",
    "pallet": "pallet", "barrel": "barrel", "chair": "chair", "folding chair": "chair", "office chair": "chair",
    "armchair": "chair", "bench": "bench", "table": "table", "folding table": "table", "coffee table": "table",
    "desk": "table", "sofa": "sofa", "stool": "stool", "trash can": "trash can", "recycling bin": "trash can",
    "traffic cone": "traffic cone", "barrier": "barrier", "ladder": "ladder", "stroller": "stroller",
    "wheelchair": "wheelchair", "wheelbarrow": "wheelbarrow", "umbrella": "umbrella", "parasol": "umbrella",
    "potted plant": "plant", "soccer ball": "ball", "basketball": "ball", "skateboard": "skateboard",
    "shopping basket": "basket", "laundry basket": "basket", "television": "television",
    "fire extinguisher": "fire extinguisher", "tent": "tent", "canopy tent": "tent",
    "shipping container": "container",
}
# Scenery: sprites of these nouns are placed in both frames and never change, so no caption names them. A noun that is
# also above (a television) is either, sprite by sprite.
SCENERY_INDOORS = frozenset((
    "bar stool", "bookcase", "clothes rack", "computer", "dresser", "fan", "filing cabinet", "floor lamp", "freezer",
    "guitar", "high chair", "lamp", "microwave", "office chair", "planter", "printer", "refrigerator", "shelf",
    "speaker", "step stool", "television", "wardrobe", "washing machine", "water cooler", "whiteboard",
))
SCENERY_OUTDOORS = frozenset((
    "bush", "deck chair", "dog house", "fence", "fire hydrant", "flower box", "fountain", "hedge", "lawn mower",
    "mailbox", "parasol", "pile of logs", "ping-pong table", "planter", "rock", "soccer goal", "street lamp",
    "swing", "trampoline", "tree",
))
# Frequency of a noun in the frames of fixed cameras, in percent; every other noun has OTHER_NOUN_WEIGHT.
NOUN_WEIGHT = {
    "man": 16.0, "woman": 15.0, "boy": 3.5, "girl": 3.5, "car": 31.0, "truck": 9.0, "van": 6.0, "bus": 2.0,
    "motorcycle": 2.0, "bicycle": 2.0, "scooter": 1.0, "cyclist": 5.0, "dog": 1.3, "suitcase": 1.0, "backpack": 0.8,
    "box": 1.2, "bag": 0.5, "chair": 0.9, "trash can": 0.8, "traffic cone": 0.8, "stroller": 0.5, "bench": 0.4,
    "table": 0.3, "barrier": 0.3, "cat": 0.3,
}
# fmt: on
OTHER_NOUN_WEIGHT = 0.12
PERSONS = ("man", "woman", "boy", "girl")
TWO_WHEELERS = ("bicycle", "motorcycle", "scooter", "cyclist")
# Nouns that are rare in a setting: never the main changed object there, and seldom another one.
UNUSUAL_OUTDOORS = frozenset(("sofa", "television", "stool", "table", "fire extinguisher", "basket"))
UNUSUAL_INDOORS = frozenset(("horse", "tent", "container", "barrier", "traffic cone", "wheelbarrow"))
# Colour of a sprite in sprites.json -> colour in a caption, if they differ.
COLOUR_NAME = {"gray": "grey", "turquoise": "light blue"}

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
    # the second pack
    "two people": "person", "group of people": "person", "cyclist": "cyclist", "motorcyclist": "motorcycle",
    "pickup truck": "truck", "fire truck": "truck", "ambulance": "van", "trailer": "trailer", "tractor": "tractor",
    "excavator": "excavator", "kick scooter": "scooter", "deer": "deer", "cow": "cow", "bull": "cow", "fox": "fox",
    "goose": "bird", "duck": "bird", "crow": "bird", "pigeon": "bird", "seagull": "bird", "paper bag": "bag",
    "plastic bag": "bag", "sports bag": "bag", "tote bag": "bag", "trash bag": "bag", "parcel": "box",
    "stack of cardboard boxes": "box", "plastic crate": "crate", "stack of pallets": "pallet",
    "pallet of bags": "pallet", "pallet of boxes": "pallet", "pallet of bricks": "pallet", "wrapped pallet": "pallet",
    "shopping cart": "cart", "hand truck": "cart", "construction barrel": "barrel", "concrete barrier": "barrier",
    "stepladder": "ladder", "dumpster": "dumpster", "traffic sign": "sign", "stop sign": "sign", "bollard": "bollard",
    # the third pack
    "taxi": "car",
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
    "swing", "trampoline", "tree", "utility pole", "concrete block", "playground",
    "scaffolding", "portable toilet",
))
# Relative frequency of a noun; every other noun has OTHER_NOUN_WEIGHT. Rare things are drawn more often than cameras
# see them, so that they are learned; the namer's prior corrects their frequency (text/noun_prior.py).
NOUN_WEIGHT = {
    "man": 14.0, "woman": 13.0, "boy": 2.0, "girl": 2.0, "person": 3.0, "car": 26.0, "truck": 9.0, "van": 6.0,
    "bus": 2.5, "motorcycle": 2.5, "bicycle": 2.0, "scooter": 1.0, "cyclist": 4.0, "trailer": 0.5, "dog": 1.5,
    "bird": 0.4, "cat": 0.3, "suitcase": 4.0, "backpack": 4.0, "bag": 8.0, "box": 5.0, "crate": 0.5, "chair": 1.3,
    "trash can": 1.2, "traffic cone": 1.2, "stroller": 0.8, "cart": 0.8, "sign": 0.5, "bench": 0.5, "table": 0.4,
    "barrier": 0.6, "ladder": 0.4, "pallet": 0.4, "barrel": 0.4, "umbrella": 0.3,
}
# fmt: on
OTHER_NOUN_WEIGHT = 0.2
PERSONS = ("man", "woman", "boy", "girl", "person")
CARRIED = ("bag", "backpack", "suitcase", "briefcase", "box")  # what people put down and take
TWO_WHEELERS = ("bicycle", "motorcycle", "scooter", "cyclist")
# Nouns that are rare in a setting: never the main changed object there, and seldom another one.
UNUSUAL_OUTDOORS = frozenset(("sofa", "television", "stool", "table", "fire extinguisher", "basket"))
UNUSUAL_INDOORS = frozenset(
    "horse|tent|container|barrier|traffic cone|wheelbarrow|deer|cow|fox|bird|dumpster|tractor|excavator|trailer|"
    "bollard".split("|")
)
# Colour of a sprite in sprites.json -> colour in a caption, if they differ.
COLOUR_NAME = {"gray": "grey", "turquoise": "light blue"}

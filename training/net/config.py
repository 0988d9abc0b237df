"""The network's configuration and the meanings of its output indices. Imports no torch."""

from dataclasses import dataclass, field

from training.contract import COARSE_STRIDE


@dataclass
class ModelConfig:
    """Fields under "departures" are the places where the SCORER paper and its released code differ, or where this
    network leaves both; ablations are in training/journal."""

    # --- labels: from the training captions, not settings (training.data.batches.Labels) ---
    vocabulary: list[str] = field(default_factory=list)
    nouns: list[str] = field(default_factory=list)
    colours: list[str] = field(default_factory=list)
    event_words: dict[str, list[str]] = field(default_factory=dict)  # event -> words that report it
    event_needs: dict[str, list[str]] = field(default_factory=dict)  # such a word -> words it must directly follow

    # --- networks of another package (World.make_networks) ---
    architecture: str = ""  # their name; "" is the network of this package
    options: dict = field(default_factory=dict)  # their switches and sizes

    # --- sizes ---
    coarse_channels: int = 256
    fine_channels: int = 67
    grid: tuple[int, int] = (16, 24)  # rows and columns of the full frame's coarse features
    crop_grid: int = 7  # rows and columns of a region crop's coarse features
    regions: int = 3  # region crops per pair, at most
    width: int = 256
    heads: int = 8
    scorer_layers: int = 2
    decoder_layers: int = 2
    token_pool: int = 2  # coarse cells per token side: 2 turns 12x18 cells into 54 tokens
    map_width: int = 48
    max_length: int = 28  # words of a caption, its end included
    dropout: float = 0.1
    attention_dropout: float = 0.0  # the paper: 0.1; drawing the random numbers took 8 % of a CPU step

    # --- departures ---
    matching_per_head: bool = True  # paper Eq. 3: maximum in every subspace, then mean; the code sums heads first
    matching_cosine: bool = True  # L2-normalised tokens and a CLIP-style temperature; the paper takes dot products
    contrast_group: int = 8  # pairs contrasted with each other; the paper takes the whole batch (quadratic)
    contrast_pool: int = 2  # tokens pooled pool x pool before matching; 1 is the paper (16 times the cost on a CPU)
    region_crops: bool = True  # the decoder also reads crops of the changed regions; False is the paper's one memory
    map_memory: bool = True  # add to each memory token how strongly the change maps respond there
    gate_maps: bool = True  # served map = map * p(change), so that the maps of an unchanged pair are empty
    matching_evidence: bool = True  # local feature matching as input of the maps; False: the learned difference only
    colour_head: bool = False  # name colours from RGB alone too; that path cannot overfit to object models
    crop_dropout: float = 0.0  # of the crops' feature channels, equal in both frames, against overfitting
    crop_relations: bool = False  # relate the crops: did what disappeared here appear there? (`CropRelations`)
    described_crops: int = 2  # crops that a served sentence may describe, strongest first; training describes all
    # Added to the log odds of "the same object" at inference: in synthetic pairs similar objects appear and disappear
    # twice as often as one moves. Chosen on real pairs (model card).
    same_object_bias: float = 1.4

    # --- a camera that moves between the frames (CLEVR) ---
    moving_camera: bool = False  # match over the whole frame instead of nearby cells
    tokens_kept: int = 128  # tokens per frame that show an object; only with moving_camera
    memory_pool: int = 1  # tokens per side of one that the decoder reads; only with moving_camera

    @property
    def full_frame(self) -> tuple[int, int]:
        """Height and width, in pixels, that the whole frame is resized to."""
        return self.grid[0] * COARSE_STRIDE, self.grid[1] * COARSE_STRIDE

    @property
    def token_grid(self) -> tuple[int, int]:
        return self.grid[0] // self.token_pool, self.grid[1] // self.token_pool

    @property
    def memory_grid(self) -> tuple[int, int]:
        return self.token_grid[0] // self.memory_pool, self.token_grid[1] // self.memory_pool

    @property
    def relates_crops(self) -> bool:
        return self.region_crops and self.crop_relations

"""What every part of the model is made from: its configuration, the meanings of its indices, and the pieces that attention needs.

Letters: see model.py.
"""

from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

from training.data.preprocess import COARSE_STRIDE
from training.worlds.pair import KINDS as KINDS  # index of the kind output
from training.worlds.pair import NUISANCES as NUISANCES  # index of the nuisance output

PAD, UNK, START, END = 0, 1, 2, 3
GLANCE_SIDES = ("before", "after", "both", "none")
ROLES = ("nothing", "came or went", "moved", "replaced")  # what became of that which a frame shows at a glance
EVENTS = ("appeared", "disappeared", "moved", "replaced")  # what a clause reports
# What things can have done in pairs of a kind: roles beside "nothing" in the before frame and in the after frame.
ROLES_OF_KIND = {
    "none": ((), ()),
    "appear": ((), ("came or went",)),
    "disappear": (("came or went",), ()),
    "move": (("moved",), ("moved",)),
    "replace": (("replaced",), ("replaced",)),
    "multi": (ROLES, ROLES),
}
RGB_SCALE = 3.0  # brings RGB (standard deviation about 0.33) to unit variance


@dataclass
class ModelConfig:
    vocabulary: list[str] = field(default_factory=list)
    nouns: list[str] = field(default_factory=list)
    colours: list[str] = field(default_factory=list)
    event_words: dict[str, list[str]] = field(default_factory=dict)  # event -> words that report it
    event_needs: dict[str, list[str]] = field(default_factory=dict)  # such a word -> words it must directly follow
    coarse_channels: int = 256
    fine_channels: int = 67
    grid: tuple[int, int] = (16, 24)  # rows, columns of the coarse features of the whole look
    glance_grid: int = 7
    regions: int = 3
    width: int = 256
    heads: int = 8
    scorer_layers: int = 2
    decoder_layers: int = 2
    token_pool: int = 2  # coarse cells per token side: 2 turns 12x18 cells into 54 tokens
    map_width: int = 48
    max_length: int = 28
    dropout: float = 0.1
    attention_dropout: float = 0.0  # the paper: 0.1; drawing the random numbers took 8 % of a CPU step
    # --- named departures ---
    matching_per_head: bool = True  # paper Eq. 3: max in every subspace, then mean; the released code sums heads first
    matching_cosine: bool = True  # L2-normalised tokens, CLIP-style temperature; the paper takes raw dot products
    contrast_group: int = 8  # pairs contrasted with each other; the paper takes the whole batch (quadratic)
    contrast_pool: int = 2  # tokens pooled pool x pool before matching; 1 is the paper (16 times the cost on a CPU)
    glances: bool = True  # the second look; False = the paper's single memory
    map_memory: bool = True  # tell the memory where the maps fire
    gate_maps: bool = (
        True  # served maps = map * p(change): a cell changed only if anything did, so silence empties them
    )
    matching_evidence: bool = True  # local feature matching as input of the maps; False = learned difference only
    glance_colour: bool = (
        False  # colours are named from all features and from a path of RGB alone, which cannot learn models by heart
    )
    glance_dropout: float = (
        0.0  # of the crops' feature channels, the same in both frames: there are few models to learn from
    )
    glance_relations: bool = (
        False  # the glances look at each other: is what has gone here what has come there? (`Relations`)
    )
    told: int = 2  # served sentences tell of so many glances, the strongest; all of them say the kind, and training tells of all

    moved_odds: float = 1.4  # added to the log odds of "the same thing" when served: in made pairs like things go and come twice as often as one moves; chosen on real ones (model card)

    moving_camera: bool = (
        False  # the camera moves between the frames: matching everywhere, not of near cells (clevr_model.py)
    )
    tokens_kept: int = 128  # of a frame, those that show an object; only a moving camera's model leaves any out
    memory_pool: int = 1  # tokens a side of one that the decoder sees; likewise

    @property
    def look(self) -> tuple[int, int]:
        """Height and width, in pixels, of what the whole frame is squashed to."""
        return self.grid[0] * COARSE_STRIDE, self.grid[1] * COARSE_STRIDE

    @property
    def token_grid(self) -> tuple[int, int]:
        return self.grid[0] // self.token_pool, self.grid[1] // self.token_pool

    @property
    def memory_grid(self) -> tuple[int, int]:
        return self.token_grid[0] // self.memory_pool, self.token_grid[1] // self.memory_pool


def split_heads(x: Tensor, heads: int) -> Tensor:
    B, N, D = x.shape
    return x.reshape(B, N, heads, D // heads).transpose(1, 2)  # [B,N,D] -> [B,H,N,d]


def join_heads(x: Tensor) -> Tensor:
    B, H, N, d = x.shape
    return x.transpose(1, 2).reshape(B, N, H * d)  # [B,H,N,d] -> [B,N,D]


class GridPosition(nn.Module):
    """Learned column and row tables, column half first; the same for both frames (no before/after type embedding)."""

    def __init__(self, rows: int, columns: int, width: int):
        super().__init__()
        self.column = nn.Parameter(torch.randn(columns, width // 2) * 0.02)
        self.row = nn.Parameter(torch.randn(rows, width // 2) * 0.02)

    def forward(self) -> Tensor:
        rows, columns = self.row.shape[0], self.column.shape[0]
        c = self.column[None, :, :].expand(rows, -1, -1)
        r = self.row[:, None, :].expand(-1, columns, -1)
        return torch.cat([c, r], -1).reshape(1, rows * columns, -1)  # [1,N,D], row-major

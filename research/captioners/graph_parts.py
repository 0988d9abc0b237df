"""The two parts of the decode loop of training/bundle/graphs.py for the architectures of this folder.

They have the signatures of its `EncodeMemory` and `Step`. A part that an architecture lacks is an empty tensor.
"""

from torch import Tensor, nn

from research.captioners.base import Architecture


class StartSentence(nn.Module):
    """Everything computed once per sentence: `Architecture.start`."""

    def __init__(self, network: Architecture):
        super().__init__()
        self.network = network

    def forward(self, memory: Tensor):
        carried, keys, values = self.network.start(memory)
        nothing = memory[:, :1, :1]
        return nothing, nothing, carried, keys, values, nothing, nothing


class WriteWord(nn.Module):
    """`Architecture.step` and the choice of the word."""

    def __init__(self, writer: nn.Module):
        """writer: a `Writer` of pair_network.py."""
        super().__init__()
        self.writer = writer

    def forward(self, token, previous, carried, slot, past, k, v, k1, v1, keys, values, mk1, mv1, bias, conditioning):
        w = self.writer.network.step(token, carried, slot, past, k, v, keys, values)
        best, chosen = self.writer.choose(w.logits)
        return chosen, best, w.attention, w.carried, w.k, w.v, k1, v1

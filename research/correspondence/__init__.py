"""Correspondence of two frames: which token of one is matched with which of the other, inside a finished bundle."""

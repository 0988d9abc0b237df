"""Synthetic worlds whose pairs of frames come with the exact truth about what changed."""

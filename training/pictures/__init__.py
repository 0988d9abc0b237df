"""Rebuilds plates and sprites of the surveillance world from public packages."""

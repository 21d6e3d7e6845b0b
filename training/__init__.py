"""Pairs in, checkpoint out."""

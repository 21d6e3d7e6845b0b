"""Measurements of a trained model on annotated text, saved beside it."""

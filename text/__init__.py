"""Text before and after the model: segments, what is kept or forced, and elements in a translation."""

"""Passes of any encoder-decoder: forced to a translation, in batches, with hooks that read and change it."""

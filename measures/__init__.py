"""What is measured of a trained model on text whose truth is known, and kept beside it."""

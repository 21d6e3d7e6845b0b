"""What the page needs of a model and its measurements, and the page in one file."""

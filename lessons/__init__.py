"""The study notes, executable: one module a lesson, with its claim, figures, verdict and picture."""

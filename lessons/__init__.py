"""The study notes, executable: one module a lesson, with its claim, figures, verdict and picture."""

if not __name__.startswith("seq2see."):
    raise ImportError("import seq2see.lessons, not lessons: under the bare name every class would exist twice")

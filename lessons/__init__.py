"""The study notes, executable: one module a lesson, each with its claim, its measurement, its verdict and its picture."""

if not __name__.startswith("seq2see."):
    raise ImportError("import seq2see.lessons, not lessons: under the bare name every class would exist twice")

"""Looking inside: what every head attended to, for exactly the translation shown."""

if not __name__.startswith("seq2see."):
    raise ImportError("import seq2see.lens, not lens: under the bare name every class would exist twice")

from seq2see.lens.show import to_html
from seq2see.lens.terminal import to_terminal
from seq2see.lens.trace import Candidate, Trace, trace_hypotheses

__all__ = ["Candidate", "Trace", "to_html", "to_terminal", "trace_hypotheses"]

"""The verb `circuit`: from a minimal pair to the parts of a model that carry the difference."""

import argparse
import json
from collections.abc import Sequence
from textwrap import wrap

from seq2see.cli.compare import check_page, translated, write_page
from seq2see.lens import Circuit, SentencePair, Trace, find_circuit
from seq2see.lens.sums.circuit_page import ABOUT, HEAD, cells, circuit_page, kept_line
from seq2see.streams import only_results_on_stdout, printable
from seq2see.training.evaluation import check_language_pair, load_on_one_engine
from seq2see.translate import Translator
from seq2see.translate.segment_translator import check_text

SHOWN = 4  # parts on the terminal beyond those of the circuit


def run(args: argparse.Namespace) -> None:
    """`args.run`, `args.sentence`, `args.other`, `args.translations`, `args.share`, `args.source`, `args.target`,
    `args.num_beams`, `args.engine`, `args.device`, `args.json` and `args.html`."""
    texts = args.sentence, args.other
    for text in texts:
        check_text(text)  # before the model is loaded
    check_page(args.html)
    with only_results_on_stdout():
        [model] = load_on_one_engine([args.run], engine=args.engine, device=args.device,
                                     trust_remote_code=args.trust_remote_code)
    source, target = model.pair(args.source, args.target)
    check_language_pair(model, source, target)
    traces = [_trace(model, text, given, args) for text, given in zip(texts, args.translations or (None, None),
                                                                      strict=True)]
    pair = SentencePair.between(*traces)
    circuit = find_circuit(model.model, [pair], share=args.share)
    about = _about(model.name, traces, pair, circuit)
    if args.json:
        print(json.dumps({"model": model.name, "sentences": texts, "translations": [one.target_text for one in traces],
                          "tokens": _tokens(traces, pair), **circuit.to_dict()}, ensure_ascii=False))
    else:
        print("\n".join([*about, "", *lines(circuit)]))
    if args.html:
        write_page(args.html, circuit_page(about, circuit))


def _trace(model: Translator, text: str, given: str | None, args: argparse.Namespace) -> Trace:
    """Of the given translation or, without one, of the model's own."""
    if given is None:
        result = translated(model, text, source=args.source, target=args.target, num_beams=args.num_beams)
        return model.look(result, views=("raw",), calibrated=False)[0]
    return model.look_at(text, given, source=args.source, target=args.target, views=("raw",), calibrated=False)


def _tokens(traces: Sequence[Trace], pair: SentencePair) -> list[str]:
    """The first tokens of the two translations that differ."""
    return [trace.target[len(pair.receiver.prefix_ids)].text for trace in traces]


def _about(name: str, traces: Sequence[Trace], pair: SentencePair, circuit: Circuit) -> list[str]:
    """What was asked: a title, both sentences, and the difference."""
    one, other = (printable(token).strip(" ▁") or repr(token) for token in _tokens(traces, pair))
    sides = [f"{which}  {printable(trace.source_text)} → {printable(trace.target_text)}" for which, trace in
             zip("AB", traces, strict=True)]
    return [f"{name}: {one} rather than {other}", *sides,
            f"log p({one}) - log p({other}) at the first token that differs: {circuit.margin:+.2f} nats in A,"
            f" {circuit.corrupted:+.2f} nats with all parts corrupted from B"]


def lines(circuit: Circuit) -> list[str]:
    """The circuit and the next parts, as people read them."""
    found = [kept_line(circuit), ""]
    for k, row in enumerate([HEAD, *cells(circuit)[: circuit.size + SHOWN]]):
        found.append("  {:>3} {:24} {:>8} {:>13} {:>13}".format(*row))
        if k == circuit.size < len(circuit.order):
            found.append(f"  {'':3} --- not in the circuit:")
    if (rest := len(circuit.order) - circuit.size - SHOWN) > 0:
        found.append(f"  and {rest} more (for all parts: --html FILE or --json)")
    return [*found, "", *wrap(ABOUT, 100)]

"""Section: what is seen inside: logits by transformers' own classes, and traces with every view and in every form."""

import json
from functools import partial

import numpy as np
from side import PAIRS, Records, Side, attributes, outcome
from translations import UNPLANNED

TEXTS = [source for source, _ in PAIRS[:24]] + [UNPLANNED[place] for place in (5, 7, 9, 16, 17, 18)]
VIEWS = ("raw", "norm", "rollout", "mixing", "contributions", "left_out")
PLAIN = ("source_text target_text source_ids target_ids given rows score engine_log_prob engine precision model"
         " source_language target_language views log_prob difference trust")
ARRAYS = "log_probs entropies log_normalisers logits left_out source_share"


def trace_record(trace):
    """Every attribute of a trace: numbers as arrays."""
    pieces = {name: [attributes(piece, "text word start end") for piece in getattr(trace, name)]
              for name in ("source", "target", "inputs")}
    maps = {kind: dict(getattr(trace, kind)) for kind in ("encoder", "decoder", "cross")}
    top = [[attributes(one, "id text log_prob") for one in step] for step in trace.top]
    return attributes(trace, PLAIN) | attributes(trace, ARRAYS) | pieces | maps | {
        "top": top, "summary": trace.summary(), "words": [word.text for word in trace.source_words]}


def with_arrays(value):
    """JSON with its lists of fractions as arrays."""
    if isinstance(value, dict):
        return {key: with_arrays(one) for key, one in value.items()}
    if isinstance(value, list):
        return np.array(value) if _depth(value) else list(map(with_arrays, value))
    return value


def _depth(value):
    """Whether these are fractions, however deep."""
    return all(_depth(one) if isinstance(one, list) else isinstance(one, float) for one in value) and bool(value)


def record(side: Side) -> Records:
    import torch
    from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

    import seq2see
    from seq2see import Seq2SeeTokenizer, Trace, Translator, load_checkpoint

    yield "names", sorted(seq2see.__all__)
    sources, targets = map(list, zip(*PAIRS[:30], strict=True))
    for tokenizer_class in (AutoTokenizer, Seq2SeeTokenizer):
        name, tokenizer = tokenizer_class.__name__, tokenizer_class.from_pretrained(side.run)
        batch = tokenizer(sources, text_target=targets, tgt_lang="fr", padding=True, return_tensors="pt")
        yield f"tokenizer/{name}", {key: value.numpy() for key, value in batch.items()}
        yield f"tokenizer/{name}/unplanned", [
            (ids := tokenizer(text).input_ids, tokenizer.decode(ids), tokenizer.tokenize(text)) for text in UNPLANNED]
    models = {"auto": AutoModelForSeq2SeqLM.from_pretrained(side.run), "checkpoint": load_checkpoint(side.run),
              "eager": AutoModelForSeq2SeqLM.from_pretrained(side.run, attn_implementation="eager")}
    for name, model in models.items():
        with torch.no_grad():
            out = model(**batch, output_attentions=name == "eager", output_hidden_states=True)
        yield f"logits/{name}", {key: tuple(map(np.asarray, value)) if isinstance(value, tuple) else np.asarray(value)
                                 for key, value in out.items() if key != "past_key_values"}
        inputs = {key: batch[key] for key in ("input_ids", "attention_mask")}
        yield f"generate/{name}", model.generate(**inputs, num_beams=3, max_new_tokens=40).tolist()
        yield f"config/{name}", json.loads(model.config.to_json_string()) | {"_name_or_path": None}
    for engine in ("ctranslate2", "torch"):
        translator = Translator.from_pretrained(side.run, engine=engine)
        results = translator(TEXTS, num_beams=4, alternatives=2, prefix="" if engine == "torch" else "Le")
        for alternative in (0, 1):
            several = [one for one in results if len(one.hypotheses) > alternative]  # a blank one may have been dropped
            traces = translator.look(several, alternative=alternative, views=VIEWS)
            for number, trace in enumerate(traces):
                yield f"{engine}/{alternative}/{number}", trace_record(trace)
        yield f"{engine}/refused", [outcome(partial(translator.look, results, **bad))
                                    for bad in ({"alternative": 9}, {"views": ("x",)})]
    for number, (source, target) in enumerate(PAIRS[:8]):
        yield f"given/{number}", trace_record(translator.look_at(source, target, views=VIEWS))
    yield "given/blank", [outcome(partial(translator.look_at, *pair)) for pair in ((" ", "x"), ("x", ""))]
    trace, = translator.look(translator("The cat is tired."), views=VIEWS)
    for suffix in (".json", ".npz"):
        file = side.scratch / f"trace{suffix}"
        trace.save(file)
        yield f"saved{suffix}", trace_record(Trace.load(file))
    yield "json", with_arrays(json.loads((side.scratch / "trace.json").read_text("utf-8")))
    yield "notebook", trace._repr_html_()
    yield "refused", [outcome(partial(call, side.scratch / name)) for name in ("a.txt", "none.json")
                      for call in (trace.save, Trace.load)]
    yield "bertviz", {key: list(map(np.asarray, value)) if key.endswith("attention") else value
                      for key, value in trace.to_bertviz().items()}

"""The parts of the site's pages that come from the code: build_site.py puts them in.

A part takes the place of the lines from `<!-- NAME: written by docs/generate.py when the site is built -->` to
`<!-- end -->`; `PARTS[NAME]` returns it.  The pages in docs/ have a sentence there that says where to look instead.
"""

import argparse
import ast
import importlib
import inspect
import re
import textwrap
from collections.abc import Callable, Iterable
from dataclasses import fields
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PART = re.compile(r"<!-- (\w+): written by docs/generate.py when the site is built -->.*?<!-- end -->", re.DOTALL)


def generated(page: str) -> str:
    """The page with what the code says in the place of its parts."""
    return PART.sub(lambda part: PARTS[part[1]](), page)


def table(head: str, rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, " | ".join("---" for _ in head.split(" | "))]
    lines += [" | ".join(map(escaped, row)) for row in rows]
    return "\n".join(f"| {line} |" for line in lines)


def escaped(cell: str) -> str:
    """What Markdown would read as a cell's end, or as HTML outside code."""
    return re.sub(r"(`[^`]*`)|<", lambda found: found[1] or "&lt;", cell).replace("|", "\\|")


def settings() -> str:
    """Every setting of a configuration, with its default."""
    from seq2see.training.reference import SECTIONS, spelled

    return "\n\n".join(
        f"## {section}\n\n" + table("setting | default | what it is", (
            (f"`{section}.{one.name}`", f"`{spelled(one.default)}`", one.metadata["description"]) for one in fields(cls)
        )) for section, cls in SECTIONS.items()
    )


def options() -> str:
    """The decoding options, with their bounds."""
    from seq2see.translate.decoding import OPTIONS

    return table("option | bounds | what it is", (
        (f"`{name}`", f"{one.metadata['ge']:,} to {one.metadata['le']:,}", one.metadata["description"])
        for name, one in OPTIONS.items()
    ))


def commands() -> str:
    """Every verb of the command line, with its arguments."""
    from seq2see.cli.parser import build_parser

    [verbs] = [one for one in build_parser()._actions if isinstance(one, argparse._SubParsersAction)]
    parts = []
    for name, verb in verbs.choices.items():
        arguments = [one for one in verb._actions if one.dest != "help" and one.help != argparse.SUPPRESS]
        rows = [(spelt(one), (one.help or "") % vars(one)) for one in arguments]
        parts += [f"## seq2see {name}", f"```text\n{verb.description}\n```"]
        parts += [table("argument | what it is", rows)] if rows else []
        parts += [f"```text\n{verb.epilog}\n```"] if verb.epilog else []
    return "\n\n".join(parts)


def spelt(argument: argparse.Action) -> str:
    """An argument as a usage line spells it; brackets mean that one without a dash may be left out."""
    value = argument.metavar or (f"{{{','.join(argument.choices)}}}" if argument.choices else argument.dest.upper())
    value = " ".join(value) if isinstance(value, tuple) else value
    if argument.option_strings:
        name = ", ".join(argument.option_strings)
        return f"`{name}`" if argument.nargs == 0 else f"`{name} {value}`{' (required)' if argument.required else ''}"
    many = f"{value} ..." if argument.nargs in ("+", "*") else value
    return f"`{many}`" if argument.required else f"`[{many}]`"


def routes() -> str:
    """The HTTP API as the server's OpenAPI document has it: every route, then the fields of bodies and replies."""
    from seq2see.serve.app import make_app
    from seq2see.serve.service import Service

    service = Service({})
    document = make_app(service).openapi()
    service.close()
    parts = [table("route | what it does | body | reply", (
        (f"`{method.upper()} {path}`", one["summary"], content(one.get("requestBody", {})),
         content(one["responses"]["200"]))
        for path, methods in document["paths"].items() for method, one in methods.items() if "200" in one["responses"]
    ))]
    for name, schema in sorted(document["components"]["schemas"].items()):
        required = schema.get("required", ())
        before_fields = schema.get("description", "").partition("\n\n- ")[0]
        parts += [f"## {name}", textwrap.fill(" ".join(before_fields.split()), 120)]
        parts += [table("field | type | what it is", (
            (f"`{field}`{' (required)' if field in required else ''}", type_of(one), one.get("description", ""))
            for field, one in schema.get("properties", {}).items()
        ))]
    return "\n\n".join(part for part in parts if part)


def content(body: dict[str, Any]) -> str:
    """The type of a body or a reply; JSON first."""
    return next((type_of(one["schema"]) for one in body.get("content", {}).values() if "schema" in one), "")


def type_of(schema: dict[str, Any]) -> str:
    """A JSON schema in words; the names of objects link to their sections."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if either := schema.get("anyOf", schema.get("oneOf")):
        return " or ".join(dict.fromkeys(map(type_of, either)))
    if "const" in schema or "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema.get("enum", [schema.get("const")]))
    if schema.get("type") == "array" and "items" in schema:
        return f"list of {type_of(schema['items'])}"
    return schema.get("type", "")


def summaries(module: str, names: Iterable[str] = ()) -> str:
    """Public names of a module, all by default, linked to their files, with the first sentence of their docstrings."""
    public = importlib.import_module(module)
    rows = []
    for name in names or public.__all__:
        if callable(value := getattr(public, name)):
            file = Path(inspect.getfile(inspect.unwrap(value))).resolve().relative_to(ROOT).as_posix()
            first = " ".join(inspect.getdoc(value).partition("\n\n")[0].split())
            rows.append((f"[{name}](../{file})", re.sub(r"(?<!et al)\. .*|\.$", "", first)))
    return table("name | what it is", rows)


# The public names of the lens by subject.
LENS = {
    "Traces": "Trace trace_texts trace_hypotheses trace_corpus Corpus Candidate encode_source encode_target beam_tree "
              "BeamTree WhatIf",
    "Views and maps": "add_views picture Picture word_map WordMap Unit summarise sink_shares to_terminal save_plot "
                      "to_html",
    "Attribution": "attribute Attribution attribute_corpus logit_attribution LogitAttribution contribution_graph "
                   "ContributionGraph top_neurons Neuron top_activations Activation effects",
    "Activations and interventions": "run_with_cache Activations activation_names intervene At Donor Mean Noise "
                                     "SteeringVector Zero word_mapping WordMapping ablate steer record Recording patch "
                                     "mean_outputs head_means Head all_heads",
    "Minimal pairs and circuits": "Choice MinimalPairs margins exact_patching attribution_patching path_patch "
                                  "find_circuit Circuit Part SentencePair",
    "Layers and word vectors": "logit_lens LogitLens contextual Contextual static neighbours Neighbour analogy "
                               "distances project",
    "Two models": "compare Comparison",
    "Faithfulness, word links and calibration": "measure_trust Trust curves Curves fit_alignment AlignmentChoice "
                                                "agreement Estimate Calibration Calibrator with_calibration outlook "
                                                "Outlook GoldPair GoldPronoun",
}


def lens_names() -> str:
    """The public names of the lens, in a table for each subject."""
    from seq2see import lens

    sorted_in = {title: names.split() for title, names in LENS.items()}
    missing = {name for name in lens.__all__ if callable(getattr(lens, name))} ^ {*sum(sorted_in.values(), [])}
    assert not missing, f"names without a subject, or unknown: {missing}"
    return "\n\n".join(f"### {title}\n\n{summaries('seq2see.lens', names)}" for title, names in sorted_in.items())


NETWORK = "webpage/model/network.js"
# Of the network: a title, a sentence, the Python (file: names) and the JavaScript (names in NETWORK) of the same part.
PIECES: tuple[tuple[str, str, dict[str, tuple[str, ...]], tuple[str, ...]], ...] = (
    ("Embedding and positions", "A token's vector is scaled. Then sines and cosines of its position are added to it.",
     {"modeling/positions.py": ("sinusoids", "Embedder.forward")}, ("sinusoid", "Network.embed")),
    ("Attention", "Compare queries with keys, divide by √E, make each row sum to 1, and mix the values. Python "
     "multiplies whole tensors. JavaScript computes the same in loops.",
     {"modeling/attention.py": ("attend",)}, ("attend", "scores", "softmax", "mix")),
    ("Heads", "Each head uses its own E columns of the queries, keys and values. A last matrix combines the results "
     "of the heads.",
     {"modeling/attention.py": ("MultiHeadAttention.split_heads", "MultiHeadAttention.forward")},
     ("MultiHeadAttention",)),
    ("Norm", "Each vector gets mean 0 and variance 1. Then a learnt scale and shift are applied. Python uses "
     "`torch.nn.LayerNorm`.",
     {}, ("layerNorm", "momentsOf")),
    ("Encoder layer, with its feed-forward layer", "Each sub-layer reads a normalised copy of the vectors and "
     "adds its output to them. Dropout is for training only, so the browser has none.",
     {"modeling/layers.py": ("EncoderLayer.forward",)}, ("Layer", "EncoderLayer")),
    ("Decoder layer", "The layer attends to the translation so far, then to the source. A feed-forward layer follows.",
     {"modeling/layers.py": ("DecoderLayer.forward",)}, ("DecoderLayer",)),
    ("Cache", "A token that has been written does not change any more, so its keys and values are kept. The keys and "
     "values of the source are computed once.",
     {"modeling/attention.py": ("MultiHeadAttention.keys_and_values",)}, ("Cache",)),
    ("Encoder and decoder", "Python computes several sentences at a time. Masks hide the padding of short sentences. "
     "The browser computes one sentence, or several hypotheses of one translation, at a time.",
     {"modeling/modeling_seq2see.py": ("Seq2SeeEncoder.forward", "Seq2SeeDecoder.forward")},
     ("Network.encode", "Network.decode", "Network.logits")),
    ("Greedy search", "Take the best token at every step, until `</s>`.",
     {"translate/greedy.py": ("greedy",)}, ("ruled", "greedy")),
    ("Beam search", "Keep the K best hypotheses at every step. Python uses the beam search of `transformers` or "
     "CTranslate2.",
     {}, ("beamSearch", "continuations")),
)


def network() -> str:
    """The network part by part, each in Python and in JavaScript."""
    script = (ROOT / NETWORK).read_text("utf-8")
    parts = []
    for title, text, modules, names in PIECES:
        python = [(file, "\n\n".join(python_of(file, name) for name in wanted)) for file, wanted in modules.items()]
        blocks = [f"`{file}`\n\n~~~python\n{code}\n~~~" for file, code in python]
        blocks += [f"`{NETWORK}`\n\n~~~js\n" + "\n\n".join(javascript_of(script, name) for name in names) + "\n~~~"]
        parts += [f"## {title}\n\n{textwrap.fill(text, 120)}", *blocks]
    return "\n\n".join(parts)


def python_of(file: str, name: str) -> str:
    """A function, or a class's method, of a file: its source."""
    source = (ROOT / file).read_text("utf-8")
    [*of, last], body = name.split("."), ast.parse(source).body
    for one in of:
        [body] = [node.body for node in body if isinstance(node, ast.ClassDef) and node.name == one]
    [node] = [node for node in body if isinstance(node, ast.FunctionDef) and node.name == last]
    return textwrap.dedent("\n".join(source.splitlines()[node.lineno - 1:node.end_lineno]))


def javascript_of(script: str, name: str) -> str:
    """A function, a class, or a class's method, with the comment above it."""
    of, _, last = name.rpartition(".")
    indent, text = ("  ", javascript_of(script, of)) if of else ("", script)
    opening = rf"{indent}{last}\(.*" if of else rf"(?:export )?(?:function|class) {last}\b.*"
    code = rf"(?:{opening}\}}|{opening}\n(?:.*\n)*?{indent}\}})"  # on one line, or up to the brace below its beginning
    [found] = re.findall(rf"^((?:{indent}//.*\n)*{code})$", text, re.MULTILINE)
    return textwrap.dedent(found)


# Names whose signatures the site shows, with the options of mkdocstrings.
LENS_SIGNATURES = """
    ablate all_heads effects head_means steer record patch run_with_cache intervene word_mapping path_patch
    attribution_patching exact_patching WhatIf logit_lens logit_attribution top_neurons top_activations
    contribution_graph outlook beam_tree margins contextual static neighbours analogy distances project add_views
    trace_texts trace_hypotheses word_map save_plot to_html to_terminal measure_trust fit_alignment agreement"""
NO_MEMBERS, NOT_INHERITED = "members: []", "inherited_members: false"
SIGNATURES: dict[str, tuple[str, ...]] = {
    "Translator": ('filters: ["!^_(?!_call__$)", "!^(prepare|engine_for|tag|check_files|known_choice|pronoun_effects'
                   '|seen_words|defaults)$"]',),
    "Translation": ('filters: ["!^_", "!^(of|as_read)$"]',),
    "translate.results.Hypothesis": (NO_MEMBERS,),
    "Trace": ('filters: ["!^_", "!^(row_tokens|shown|named|words)$"]',),
    "Seq2SeeConfig": (NO_MEMBERS,),
    "Seq2SeeForConditionalGeneration": ('filters: ["!^_", "!^prepare_"]', NOT_INHERITED),
    "Seq2SeeTokenizer": ('filters: ["!^_(?!_call__$)", "!^(blank_token_ids|spans|tag_id)$"]', NOT_INHERITED),
    "load_checkpoint": (), "page": (),
    **dict.fromkeys((f"lens.{name}" for name in LENS_SIGNATURES.split()), ()),
}


def signatures() -> str:
    """Directives of mkdocstrings, which puts signatures, methods and docstrings in their place."""
    return "\n\n".join("\n".join([f"::: seq2see.{name}", *(["    options:"] if options else []),
                                   *(f"      {option}" for option in options)])
                       for name, options in SIGNATURES.items())


PARTS: dict[str, Callable[[], str]] = {
    "settings": settings, "options": options, "commands": commands, "routes": routes,
    "names": lambda: summaries("seq2see"), "lens_names": lens_names, "network": network,
    "signatures": signatures,
}

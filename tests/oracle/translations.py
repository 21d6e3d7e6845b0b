"""Section: what a model translates to, with every engine, search and option; texts nobody planned for among them."""

from functools import partial

from side import PAIRS, Records, Side, attributes, outcome

UNPLANNED = [
    "", " ", "\n\t ", "12345", "...", "The 3 cats have 1,250.50 euros.", "Page 12: the cat (2024-05-01) is 50 % tired.",
    "See https://example.org/a?b=c&d=1 for the cat.", "Write to cat@example.org!", "The cat is tired. It was raining.",
    "The cat is tired.\n\nThe dog slept.\n", "Dr. Smith saw the cat. The dog saw it too! Did the owl sleep? Yes.",
    "  The cat  is   tired.  ", "\ufeffThe cat.", "THE CAT IS TIRED.", "the cat is tired", "The cat's tail isn't long.",
    "“The cat,” she said, “is tired.”", "Zebras quixotically.", "Le chat est fatigué.", "猫は疲れた。", "😀 A cat 😀",
    "The cafe\u0301 is old.", "The cat " * 40, "{name} has %d cats and ${x}.", "a/b\\c | d", "The cat\u2028is tired.",
    "<b>The cat</b> is <i>tired</i>.", "It was tired, as the cat had not crossed the street.", "word-with-hyphens",
]  # fmt: skip
TEXTS = [source for source, _ in PAIRS[:270]] + UNPLANNED
HTML = [
    "<p>The <b>cat</b> is tired.</p><p>The dog &amp; the owl slept.</p>", "<b>The cat", "The cat &lt; the dog.",
    '<a href="x?y=1&z=2" title="The cat">The old cat</a> slept.<br/>The dog saw it.', "<script>x = 1</script>The cat.",
    "<ul><li>The cat did not cross the street because it was too tired.</li><li>12</li></ul>", "<!-- c --><p></p>", "",
]  # fmt: skip
OPTIONS = {
    "short": {"max_new_tokens": 5}, "length_penalty": {"num_beams": 4, "length_penalty": 2.0},
    "negative length_penalty": {"num_beams": 3, "length_penalty": -1.0, "alternatives": 3},
    "repetition_penalty": {"repetition_penalty": 1.5}, "no_repeat_ngram_size": {"no_repeat_ngram_size": 2},
    "sampling": {"temperature": 1.0, "seed": 3}, "top_k": {"top_k": 5, "alternatives": 3, "seed": 1},
    "top_p": {"top_p": 0.7, "temperature": 2.0, "alternatives": 2}, "prefix": {"prefix": "Le chien"},
    "prefix of alternatives": {"prefix": "Les", "alternatives": 3, "num_beams": 4},
    "prefix of sentences": {"prefix": "Le chat est fatigué. Il"}, "one language": {"source": "en"},
}  # fmt: skip
REFUSED = {
    "language": {"target": "zz"}, "beams": {"num_beams": 0}, "many": {"num_beams": 1000}, "format": {"format": "x"},
    "beams and draws": {"num_beams": 2, "temperature": 1.0}, "temperature": {"temperature": -1.0}, "key": {"beam": 2},
    "alternatives": {"alternatives": "2"}, "no tokens": {"max_new_tokens": 0}, "prefix": {"prefix": "x " * 600},
    "top_p": {"top_p": 2.0}, "seed": {"seed": -1},
}  # fmt: skip
ODD = {"number": 5, "surrogate": "a\ud800b", "long word": "a" * 20_000, "long": "The cat. " * 40_000,
       "marks": "a" + "\u0301" * 2000, "list": ["The cat.", None]}


def translation(result):
    """All that a translation says."""
    return attributes(result, "text source_text source_language target_language has_markup one_by_one model_input"
                              " engine precision") | {
        "hypotheses": [attributes(one, "text token_ids score log_prob finished given") for one in result.hypotheses],
        "segments": list(map(translation, result.segments)),
        "unknown": None if result.unknown_words is None else [
            attributes(word, "text start end") for word in result.unknown_words]}


def record(side: Side) -> Records:
    from seq2see import Translator

    for engine in ("ctranslate2", "torch"):
        translator = Translator.from_pretrained(side.run, engine=engine)
        yield f"{engine}/pairs", translator.language_pairs

        def told(text, translator=translator, **settings):
            result = translator(text, **settings)
            return list(map(translation, result)) if isinstance(result, list) else translation(result)

        for name, settings in (("greedy", {"num_beams": 1}), ("beams", {"num_beams": 4, "alternatives": 3})):
            for text, result in zip(enumerate(TEXTS), translator(TEXTS, **settings), strict=True):
                yield f"{engine}/{name}/{text[0]} {text[1][:20]!r}", translation(result)
            for text in HTML:
                yield f"{engine}/{name}/html {text[:20]!r}", told(text, format="html", **settings)
        for name, settings in OPTIONS.items():
            yield f"{engine}/{name}", outcome(partial(told, [*TEXTS[:12], *UNPLANNED[5:14]], **settings))
        for name, settings in REFUSED.items():
            yield f"{engine}/refused/{name}", outcome(partial(told, "The cat.", **settings))
        for name, text in ODD.items():
            yield f"{engine}/odd/{name}", outcome(partial(told, text))
    float32 = Translator.from_pretrained(side.run, engine="ctranslate2", precision="float32", threads=1)
    yield "float32", list(map(translation, float32(TEXTS[:20])))
    scores = float32.score(*map(list, zip(*PAIRS[:60], strict=True)))
    yield "scores", [attributes(one, "log_prob tokens") for one in scores]
    for more in ({"precision": "int4"}, {"engine": "x"}, {"threads": 0}, {"name": "no/such/run"}):
        yield f"opening/{more}", outcome(partial(Translator.from_pretrained, **{"name": side.run} | more))

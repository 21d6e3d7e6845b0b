"""Section: what the baseline trained and exported is opened, translates and goes on, in this tree."""

from side import PAIRS, Records, Side, attributes
from trainings import SMALL, TABLE, trained
from translations import TEXTS, translation


def record(side: Side) -> Records:
    import ctranslate2

    from seq2see import Seq2SeeTokenizer, Translator, load_checkpoint

    stopped = side.copy(side.made / "stopped", "stopped")
    for name, folder in {"stopped": stopped, "checkpoint": stopped / "checkpoint-20", "run": side.run}.items():
        yield f"{name}/tensors", {key: value.numpy() for key, value in load_checkpoint(folder).state_dict().items()}
        for engine in ("ctranslate2", "torch"):
            translator = Translator.from_pretrained(folder, engine=engine)
            yield f"{name}/{engine}", [translation(one) for one in translator(TEXTS[:30], max_new_tokens=30)]
    settings = [f"data.path={side.made / 'pairs.tsv'}", *SMALL, *TABLE, "training.resume=true"]
    yield from trained(side, "multi30k-en-fr", "stopped", *settings, steps=40)
    settings += ["model.d_model=64", f"training.output_dir={stopped}"]
    yield "resumed with another size", side.call("train", "multi30k-en-fr", *settings)
    exported = ctranslate2.Translator(str(side.made / "exported"))
    tokenizer = Seq2SeeTokenizer.from_pretrained(side.run)
    pieces = [tokenizer.convert_ids_to_tokens(tokenizer(source).input_ids) for source, _ in PAIRS[:10]]
    found = exported.translate_batch(pieces, target_prefix=[["<2fr>"]] * 10, return_scores=True)
    yield "exported", [attributes(one, "hypotheses scores") for one in found]

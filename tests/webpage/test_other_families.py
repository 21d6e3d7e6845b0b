"""Marian, M2M-100, NLLB, mBART and BART in the browser: the network of `webpage/model/network.js` computes and searches
as transformers does, `sentencepiece.js` cuts text as Python does, and the page answers as the server does.  Here in
Node, on small random models."""

import base64
import json
import random

import numpy as np
import pytest
import tiny
import torch
import transformers
from node import Node

from seq2see import Translator
from seq2see.cli.command import main
from seq2see.passes.forced_pass import eval_with_eager_attention, forced_pass
from seq2see.serve.apis.inside import InsideBody
from seq2see.tokenizer.encoding import decode_target
from seq2see.tokenizer.tagging import bare, tagging
from seq2see.webpage_data.architecture import architecture
from seq2see.webpage_data.page_model import page_pairs, web_model, what_runs
from seq2see.webpage_data.page_tokenizer import page_tokenizer
from seq2see.webpage_data.page_weights import web_weights
from seq2see.webpage_data.vocabulary import cut as cut_to
from seq2see.webpage_data.vocabulary import kept_ids
from .test_in_browser import differences
from .test_network import SETUP
from .test_network import up_to_end as cut

SIZES = {"vocab_size": 461, "d_model": 16, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 2,
         "decoder_attention_heads": 4, "encoder_ffn_dim": 32, "decoder_ffn_dim": 32, "max_position_embeddings": 64,
         "pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2, "decoder_start_token_id": 2}
FAMILIES = {
    "Marian": lambda: transformers.MarianConfig(**SIZES, activation_function="swish", scale_embedding=True),
    "Marian untied": lambda: transformers.MarianConfig(**SIZES, tie_word_embeddings=False, decoder_vocab_size=461,
                                                       share_encoder_decoder_embeddings=False),
    "M2M-100": lambda: transformers.M2M100Config(**SIZES, scale_embedding=True),
    "mBART": lambda: transformers.MBartConfig(**SIZES),
    "BART": lambda: transformers.BartConfig(**SIZES, activation_function="gelu_new"),
}
SEARCHES = [{}, {"renormalize_logits": True, "length_penalty": 0.4},
            {"bad_words_ids": [[1], [7]], "early_stopping": True}, {"forced_eos_token_id": 2, "max_length": 7}]
SEARCH = """([sources, beams, generation]) => { network.generation = generation; return sources.map((ids) => {
  const encoded = network.encode(ids);
  return beams === 1 ? greedy(network, encoded).ids : beamSearch(network, encoded).hypotheses[0].ids;
}); }"""
FORCED = """([source, target]) => {
  const kept = recorder(), { logits } = network.force(network.encode(source, kept.hooks), target, kept.hooks);
  const maps = Object.entries(kept.parts).map(([name, parts]) => [name, [...mapsOf(parts).weight]]);
  return { logits: [...logits], maps: Object.fromEntries(maps) };
}"""
STRANGE = ["", " ", "  ", "▁", "é", "e\u0301", "ﬁ", "…", "\u00a0", "\u200b", "\t", "\n", "漢字", "😀", "👩🏽\u200d🚀",
           "½", "<unk>", "</s>", ">>fr<<", "__en__", "the", " cat", "ing", "\ufeff", "각", "ｱ", "\u0007", "İ", "\r\n",
           "...", "क्षि", "<s>", "eng_Latn"]


@pytest.fixture(scope="module", params=FAMILIES)
def network(request):
    """A random model with the weights that the browser reads, in PyTorch and in Node."""
    torch.manual_seed(0)
    model = transformers.AutoModelForSeq2SeqLM.from_config(FAMILIES[request.param]())
    tiny.spread_out(model, std=0.3)
    with torch.no_grad():
        for name, bias in (*model.named_parameters(), *model.named_buffers()):
            if "bias" in name:
                bias.normal_(std=0.3)
    model.generation_config.update(max_length=16, forced_bos_token_id=None, forced_eos_token_id=None)
    weights = web_weights(model, "int8")
    model.load_state_dict(weights.state, strict=False)
    with Node("network", "weights") as node:
        node.evaluate(SETUP, [weights.manifest, base64.b64encode(weights.buffer).decode(), architecture(model), {}])
        yield model, node


def drawn(number):
    draw = random.Random(number)
    return [[*(draw.randrange(8, 461) for _ in range(draw.randint(1, 12))), 2] for _ in range(number)]


def test_a_forced_pass_has_the_same_logits_and_maps(network):
    model, node = network
    source, target = drawn(2)
    with eval_with_eager_attention(model), torch.no_grad():
        output, _ = forced_pass(model, [source], [target], output_attentions=True)
    found = node.evaluate(FORCED, [source, target])
    assert np.array(found["logits"]) == pytest.approx(output.logits.numpy().ravel(), abs=1e-4)
    for kind in ("encoder", "decoder", "cross"):
        for layer, weights in enumerate(output[f"{kind}_attentions"]):
            assert np.array(found["maps"][f"{kind}.{layer}"]) == pytest.approx(weights.numpy().ravel(), abs=1e-5)


@pytest.mark.few(6)
@pytest.mark.parametrize("options", SEARCHES)
@pytest.mark.parametrize("beams", [1, 4])
def test_searches_find_the_same(network, beams, options):
    model, node = network
    given = {"max_length": 16, "num_beams": beams} | options
    if beams == 1:
        given = {name: value for name, value in given.items() if name not in ("length_penalty", "early_stopping")}
    sources = drawn(4)
    found = node.evaluate(SEARCH, [sources, beams, given])
    for source, ids in zip(sources, found, strict=True):
        assert ids == cut(model.generate(torch.tensor([source]), do_sample=False, **given)[0, 1:].tolist())


def folders(kind, folder):
    if kind == "marian":
        folder.mkdir()
        return tiny.opus_mt(folder)
    return {"m2m": tiny.m2m_100, "nllb": tiny.nllb, "mbart": tiny.mbart_50, "bart": tiny.bart}[kind](folder)


@pytest.mark.few(2)
@pytest.mark.parametrize("kind", ["marian", "m2m", "nllb", "mbart", "bart"])
def test_ids_and_texts_are_those_of_python(kind, tmp_path):
    tokenizer = Translator.from_pretrained(folders(kind, tmp_path / kind), engine="torch").tokenizer
    draw = random.Random(1)
    pieces = [*STRANGE, *(word for text in tiny.SENTENCES for word in (text, *text.split()))]
    texts = [*tiny.SENTENCES, *("".join(draw.choices(pieces, k=draw.randint(0, 8))) for _ in range(400))]
    with Node("sentencepiece", "words") as node:
        found = node.evaluate("""([description, texts]) => {
          const tokenizer = new s2s_sentencepiece.SentencePiece(description), { length } = tokenizer.frame.after;
          return texts.map((text) => {
            const { ids, offsets } = tokenizer.encode(text), target = tokenizer.encodeTarget(text);
            const spans = s2s_words.tokenSpans(tokenizer, target, tokenizer.decode(target), "en");
            return [ids.slice(0, -length), offsets, target, tokenizer.decode(target), spans];
          });
        }""", [page_tokenizer(tokenizer, None, []), texts])
    for text, (ids, offsets, target, decoded, spans) in zip(texts, found, strict=True):
        assert ids == bare(tokenizer, text), ascii(text)
        if kind == "marian":
            assert target == tokenizer(text_target=text, split_special_tokens=True)["input_ids"]
        assert decoded == decode_target(tokenizer, target), ascii(text)
        for places in ([start for start, _ in offsets[:len(ids)]], [end for _, end in offsets[:len(ids)]]):
            assert places == sorted(places) and max(places, default=0) <= len(text)
        assert all(0 <= one["start"] <= one["end"] <= len(decoded) for one in spans)


CUT = """([manifest, data, { architecture, generation_config: generation, tokenizer: described }, texts]) => {
  const { buffer } = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
  const network = new s2s_network.Network(architecture, generation, new s2s_weights.Weights(manifest, buffer));
  const [frame] = Object.values(described.pairs), prefix = Object.values(described.tags);
  const tokenizer = new s2s_sentencepiece.SentencePiece(described).framed(frame);
  return texts.map((text) => {
    const { ids } = tokenizer.encode(text), encoded = network.encode(ids), target = tokenizer.encodeTarget(text);
    const { logits } = network.force(encoded, target), written = s2s_network.greedy(network, encoded, { prefix });
    return [ids, target, [...logits], written.ids, tokenizer.decode(tokenizer.bare(text))];
  });
}"""


@pytest.mark.parametrize("kind", ["marian", "m2m", "nllb"])
def test_a_cut_vocabulary_has_the_ids_and_scores_of_the_whole_one(kind, tmp_path):
    translator = Translator.from_pretrained(folders(kind, tmp_path / kind), engine="torch")
    pair = {"marian": ("en", "fr"), "m2m": ("en", "fr"), "nllb": ("eng_Latn", "fra_Latn")}[kind]
    texts, other = tiny.SENTENCES[2:4], tiny.SENTENCES[0]
    model, tokenizer = translator.model, translator.tokenizer
    model.generation_config.update(max_length=12, forced_eos_token_id=None)
    runs = what_runs(translator, [pair])
    kept = kept_ids(tokenizer, runs, texts)
    weights, whole = web_weights(model, "float16", kept), web_weights(model, "float16")
    model.load_state_dict(whole.state, strict=False)
    with Node("network", "weights", "sentencepiece") as node:
        found = node.evaluate(CUT, [weights.manifest, base64.b64encode(weights.buffer).decode(), cut_to(runs, kept),
                                    [*texts, other]])
    assert len(kept) < len(tokenizer) and len(weights.buffer) < len(whole.buffer)
    gone, tag = sorted({*range(model.config.vocab_size)} - {*kept}), tagging(model.config, tokenizer, *pair)
    *same, (shorter, *_, decoded) = found
    assert len(shorter) > len(tag.encode(tokenizer, other)) and (decoded == other or kind == "marian")
    for text, (source, target, logits, greedy, decoded) in zip(texts, same, strict=True):
        ids, written = tag.encode(tokenizer, text), [kept[id] for id in target]
        assert [kept[id] for id in source] == ids and (decoded == text or kind == "marian")
        if kind == "marian":  # whose target has a model of its own
            assert written == tokenizer(text_target=text, split_special_tokens=True)["input_ids"]
        with torch.no_grad():
            output, _ = forced_pass(model, [ids], [written])
        assert np.array(logits) == pytest.approx(output.logits[..., kept].numpy().ravel(), abs=1e-4)
        best = model.generate(torch.tensor([ids]), do_sample=False, num_beams=1, suppress_tokens=gone,
                              forced_bos_token_id=tag.first)[0, 1:].tolist()
        assert [kept[id] for id in greedy] == best


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """A random OPUS-MT: the Translator, and the engine of its page, with the same weights."""
    folder = tmp_path_factory.mktemp("opus")
    translator = Translator.from_pretrained(tiny.opus_mt(folder), engine="torch")
    with translator.inside() as (model, _):
        weights = web_weights(model, "float16")
        model.load_state_dict(weights.state, strict=False)
    start = {"model": web_model(translator, weights), "manifest": weights.manifest}
    with Node("answer") as node:
        node.evaluate("""([start, weights]) => { globalThis.engine = s2s_answer.inThisThread({ ...start,
          weights: Uint8Array.from(atob(weights), (letter) => letter.charCodeAt(0)).buffer, replay: null }); }""",
                      [start, base64.b64encode(weights.buffer).decode()])
        yield translator, lambda route, **body: node.evaluate("([route, body]) => engine(route, body)", [route, body])


@pytest.mark.few(2)
@pytest.mark.parametrize("view", ["raw", "norm", "rollout", "contributions"])
def test_views_are_those_of_python(page, view):
    translator, ask = page
    [found] = ask("look", text=tiny.SENTENCES[0], maps=["encoder", "decoder", "cross"], views=[view])["traces"]
    trace = translator.look_at(tiny.SENTENCES[0], found["target_text"], views=[view])
    assert found["source_ids"] == [*trace.source_ids]
    if found["target_ids"] != [*trace.target_ids]:  # a search need not write the tokens of its text
        found = ask("look", text=tiny.SENTENCES[0], translation=found["target_text"],
                    maps=["encoder", "decoder", "cross"], views=[view])["traces"][0]
    for kind, maps in found["maps"].items():
        one = maps[view]
        values = np.frombuffer(base64.b64decode(one["data"]), one["dtype"]).reshape(one["shape"]).astype(float)
        assert values == pytest.approx(trace.maps(kind, view), rel=2e-3, abs=2e-3), kind


@pytest.mark.parametrize("step", [0, 4])
def test_the_machine_with_norms_after_the_sum_is_that_of_python(page, step):
    translator, ask = page
    [trace] = ask("look", text=tiny.SENTENCES[0], maps=[])["traces"]
    about = {"tool": "machine", "step": step, "text": tiny.SENTENCES[0], "translation": trace["target_text"],
             "head_seconds": 600}
    theirs = json.loads(json.dumps(InsideBody(question=about).question.answer(translator)))
    assert [*differences(theirs, ask("inside", question=about))] == []


def test_heads_go_off_on_demand_and_the_lab_answers(page):
    _, ask = page
    text = tiny.SENTENCES[0]
    whole = ask("look", text=text, evidence=True, maps=[], head_seconds=600)["traces"][0]
    assert len(whole["evidence"]["heads"]) == 16 and whole["evidence"]["heads_take"] is None
    later = ask("look", text=text, evidence=True, maps=[], head_seconds=0)["traces"][0]["evidence"]
    assert not later["heads"] and later["heads_take"] >= 0
    assert ask("look", text=text, without=[["cross", 0, 1]], maps=["cross"])["with_every_head"]
    about = {"text": text, "translation": whole["target_text"]}
    for tool, more in (("arithmetic", {"kind": "cross", "layer": 1, "head": 1, "row": 0}), ("layers", {}), ("tree", {}),
                       ("positions", {"positions": False})):
        assert ask("inside", question=about | {"tool": tool} | more)


def test_a_model_of_many_languages_has_the_pairs_that_are_named(tmp_path, capsys):
    translator = Translator.from_pretrained(tiny.nllb(tmp_path / "nllb"), engine="torch")
    assert page_pairs(translator, [["eng", "French"]]) == [("eng_Latn", "fra_Latn")]
    assert page_pairs(Translator(*tiny.make("bart")), [["en", "fr"]]) == [("en", "fr")]  # which names none
    assert main(["export", str(tmp_path / "nllb"), "--format", "web"]) == 2
    assert "choose them with --pair, such as --pair " in capsys.readouterr().err
    (tmp_path / "pairs.tsv").write_text("\t".join(tiny.SENTENCES[2:4]), "utf-8")
    (tmp_path / "none.txt").write_text("\n", "utf-8")
    named = ["export", str(tmp_path / "nllb"), "--format", "web", "--pair", "eng_Latn", "fra_Latn", "--vocabulary-of"]
    assert main([*named, str(tmp_path / "pairs.tsv"), "--out", str(tmp_path / "page.html")]) == 0
    assert "vocabulary: 3" in (said := capsys.readouterr().err) and " MB instead of " in said
    assert main([*named, str(tmp_path / "none.txt")]) == 2
    assert "--vocabulary-of has no text: give lines" in capsys.readouterr().err
    tokenizer = page_tokenizer(translator.tokenizer, translator.config, [("eng_Latn", "fra_Latn")])
    name = tokenizer["tokens"].__getitem__
    assert [*map(name, tokenizer["pairs"]["eng_Latn-fra_Latn"]["before"])] == ["eng_Latn"]
    assert name(tokenizer["tags"]["fra_Latn"]) == "fra_Latn"


def test_a_folder_has_the_parts_that_its_page_names(tmp_path, capsys):
    folder = tmp_path / "opus"
    folder.mkdir()
    assert main(["export", str(tiny.opus_mt(folder)), "--format", "web", "--out", str(tmp_path / "page")]) == 0
    page = (tmp_path / "page/index.html").read_text("utf-8")
    settings = json.loads(page.split('id="settings">')[1].split("</script>")[0])
    for part in (settings["files"]["model"], *settings["files"]["weights"]):
        assert (tmp_path / "page" / part["name"]).stat().st_size == part["bytes"]
    assert "connect-src 'self'" in page and "sdk: static" in (tmp_path / "page/README.md").read_text()
    capsys.readouterr()
    assert main(["export", str(folder), "--format", "web", "--out", str(tmp_path / "page")]) == 2
    assert "is not empty; choose another folder with --out" in capsys.readouterr().err

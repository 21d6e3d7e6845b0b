"""Models of many languages: all pairs, by any name of a language; what transformers writes, whoever else translates."""

import io
import json
import re
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import families
import pytest
import sentencepiece
import tiny
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer
from transformers.models.m2m_100.tokenization_m2m_100 import FAIRSEQ_LANGUAGE_CODES as M2M_100
from transformers.models.mbart50.tokenization_mbart50 import FAIRSEQ_LANGUAGE_CODES as MBART_50
from transformers.models.nllb.tokenization_nllb import FAIRSEQ_LANGUAGE_CODES as NLLB

from seq2see import Translator
from seq2see.errors import UserError
from seq2see.tokenizer.tagging import language_pairs, new_task_prefix, tagging
from seq2see.translate.tokenizer_files import build_tokenizer

HUB = Path(__file__).resolve().parents[3] / "shared" / "hub"
TAGS = [">>fra<<", ">>deu<<", ">>srp_Cyrl<<", ">>srp_Latn<<"]
TASKS = {f"translation_en_to_{code}": f"translate English to {name}: " for code, name in (("fr", "French"),
                                                                                         ("de", "German"))}
TWO = "The cat did not cross the street. The box was too big."


def marian(folder):
    folder.mkdir()
    model = tiny.opus_mt(folder, tags=TAGS, source_lang="en", target_lang="mul")
    loaded = AutoModelForSeq2SeqLM.from_pretrained(model)  # in safetensors
    (folder / "pytorch_model.bin").unlink()
    loaded.save_pretrained(folder)
    return folder


FAMILIES = {  # what makes one, a pair as a user says it and as the model does, and how many pairs it has
    "nllb": (tiny.nllb, ("en", "French"), ("eng_Latn", "fra_Latn"), 202**2),
    "m2m_100": (tiny.m2m_100, ("eng", "fr"), ("en", "fr"), 100**2),
    "mbart_50": (tiny.mbart_50, ("English", "fra"), ("en_XX", "fr_XX"), 52**2),
    "marian": (marian, ("en", "fr"), ("en", "fra"), 4),
    "t5": (lambda folder: tiny.t5(folder, **TASKS), ("en", "French"), ("en", "fr"), 2),
    "madlad": (lambda folder: tiny.t5(folder, tags=["<2en>", "<2fr>", "<2de>"]), ("en", "fra"), ("en", "fr"), 9),
}


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    made = tmp_path_factory.mktemp("families")
    return {name: make(made / name) for name, (make, *_) in FAMILIES.items()}


def theirs(folder, text, source, target):
    """What transformers has the model read and write, as its documentation says."""
    name = folder.name
    beside = {"src_lang": source} if name in ("nllb", "m2m_100", "mbart_50") else {}
    tokenizer, model = AutoTokenizer.from_pretrained(folder, **beside), AutoModelForSeq2SeqLM.from_pretrained(folder)
    before = {"marian": f">>{target}<< ", "t5": TASKS["translation_en_to_fr"], "madlad": f"<2{target}> "}.get(name, "")
    tag = {"nllb": target, "m2m_100": f"__{target}__", "mbart_50": target}.get(name)
    forced = {"forced_bos_token_id": tokenizer.convert_tokens_to_ids(tag)} if tag else {}
    read = tokenizer(before + text, return_tensors="pt")
    written = model.generate(**read, num_beams=1, max_new_tokens=9, **forced)
    return read["input_ids"][0].tolist(), tuple(written[0, 1:].tolist())


@pytest.mark.few(3)
@pytest.mark.parametrize("family", FAMILIES)
def test_all_pairs_are_there_and_it_writes_what_transformers_has_it_write(folders, family):
    folder, (_, asked, pair, count) = folders[family], FAMILIES[family]
    translator = Translator.from_pretrained(folder, engine="torch")
    assert len(translator.language_pairs) == count and pair in translator.language_pairs
    text = tiny.SENTENCES[0]
    result = translator(text, source=asked[0], target=asked[1], num_beams=1, max_new_tokens=9)
    read, written = theirs(folder, text, *pair)
    assert (result.source_language, result.target_language) == pair
    assert translator.codec.encode([text], source=pair[0], target=pair[1]) == [read]
    assert result.hypotheses[0].token_ids[: len(written)] == written
    given = result.hypotheses[0].given
    assert given == (1 if family in ("nllb", "m2m_100", "mbart_50") else 0)
    [trace] = translator.look(result)
    assert trace.source_ids == tuple(read) and trace.target_ids == result.hypotheses[0].token_ids
    assert trace.given == given and trace.log_prob == pytest.approx(result.hypotheses[0].log_prob, abs=0.1)
    assert trace.target_text in (result.text, "") and not {"fr", "fra"} & {*re.split(r"\W|_", trace.target_text)}
    assert [one.special for one in trace.target[:given]] == [True] * given
    [score] = translator.score([text], ["The box."], source=asked[0], target=asked[1])
    again = translator.look_at(text, "The box.", source=asked[0], target=asked[1])
    assert score.log_prob == pytest.approx(again.log_prob, abs=1e-3) and again.given == given


@pytest.mark.parametrize("family", FAMILIES)
def test_tags_and_prefixes_stand_before_every_segment_and_are_no_words_of_it(folders, family):
    _, asked, pair, _ = FAMILIES[family]
    translator = Translator.from_pretrained(folders[family], engine="torch")
    result = translator(TWO, source=asked[0], target=asked[1], num_beams=1, max_new_tokens=5)
    assert len(result.parts) == 2
    tags = tagging(translator.config, translator.tokenizer, *pair)
    traces = translator.look(result, views=("raw", "left_out"))
    for trace, part in zip(traces, result.parts, strict=True):
        ids = tags.encode(translator.tokenizer, part.source_text)
        assert trace.source_ids == tuple(ids)
        words = [trace.source_text[word.start : word.end] for word in trace.source_words]
        assert words == ["The", "cat", "did", "not", "cross", "the", "street", "."] or words[1] == "box"
        own = [one for one in trace.source if one.word is not None]
        assert own[0].word == 0 and {one.word for one in own} <= set(range(len(words)))
        assert all(words[one.word].startswith(one.text.strip("▁ ")) for one in own[:1])
        assert all(0 <= one.start <= one.end <= len(trace.source_text) for one in own)
        given = trace.source[: trace.source.index(own[0])]
        assert given and all(one.special and one.end == 0 for one in given)
        shown = "".join(one.text for one in given)
        assert {"nllb": "eng_Latn", "m2m_100": "__en__", "mbart_50": "en_XX", "marian": ">>fra<<", "madlad": "<2fr>",
                "t5": "translateEnglishtoFrench:"}[family] == shown.replace("▁", "").replace(" ", "")


def test_many_threads_of_many_languages_do_not_disturb_each_other(folders):
    translator = Translator.from_pretrained(folders["nllb"], engine="torch")
    codes = ["eng_Latn", "fra_Latn", "deu_Latn", "zho_Hans"]
    pairs = [(a, b) for a in codes for b in codes] * 8

    def both(pair):
        ids = translator.codec.encode(["The cat."], source=pair[0], target=pair[1])
        return ids, translator.codec.begin("The", language=pair[1])

    alone = list(map(both, pairs))
    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(both, pairs)) == alone
    assert len({str(one) for one, _ in alone}) == len(codes)


def test_the_pair_that_a_tokenizer_names_is_the_default_and_without_one_a_target_is_asked_for(folders, tmp_path):
    named = Translator.from_pretrained(tiny.nllb(tmp_path / "named", "deu_Latn", "zho_Hans"))
    assert named.language_pairs[0] == named.pair(None, None) == ("deu_Latn", "zho_Hans")
    assert named.pair("fr", None) == ("fra_Latn", "zho_Hans") and len(named.language_pairs) == 202**2
    def contents():
        return {path.name: path.read_bytes() for path in folders["nllb"].iterdir() if path.is_file()}

    files = contents()
    translator = Translator.from_pretrained(folders["nllb"])
    for call in (translator, lambda text, **asked: translator.look_at(text, "x", **asked)):
        with pytest.raises(UserError, match="translates to 202 languages: choose one"):
            call("The cat.")
        with pytest.raises(UserError, match="zh is several languages of this model; choose zho_Hans"):
            call("The cat.", target="zh")
        with pytest.raises(UserError, match="not translate to Frensh: the nearest of its 202 languages are fra_Latn"):
            call("The cat.", target="Frensh")
    assert translator.pair(None, "fr") == ("eng_Latn", "fra_Latn"), "NLLB's own default source"
    assert contents() == files, "nothing is edited"


def test_a_forced_prefix_follows_the_tag(folders):
    translator = Translator.from_pretrained(folders["nllb"])
    begun = translator("The cat.", target="fr", prefix="The box", num_beams=1, max_new_tokens=20)
    assert begun.text.startswith("The box")
    assert begun.hypotheses[0].token_ids[0] == translator.tokenizer.convert_tokens_to_ids("fra_Latn")


@pytest.mark.parametrize(("family", "target", "said"), [
    ("marian", "sr", r"sr is several languages of this model; choose srp_Cyrl \(Serbian \(Cyrillic\)\), srp_Latn"),
    ("marian", None, "translates to 4 languages"), ("t5", "es", "choose en to de, en to fr"),
])
def test_what_else_is_refused(folders, family, target, said):
    with pytest.raises(UserError, match=said):
        Translator.from_pretrained(folders[family], engine="torch")("The cat.", target=target)


def test_a_prefix_for_what_is_yet_to_be_learnt_is_in_english():
    assert new_task_prefix("fr", "deu_Latn") == "translate French to German: "


@pytest.mark.skipif(not HUB.is_dir(), reason="the files of the Hub are not part of the project")
def test_the_files_of_the_hub(tmp_path):
    """NLLB's configuration, which names no pair, beside a small vocabulary; OPUS-MT's tokenizer as it is."""
    folder = tiny.nllb(tmp_path / "nllb")
    own, real = (json.loads((path / "config.json").read_text()) for path in (folder, HUB / "nllb-200-1.3B"))
    sizes = {name: own[name] for name in own if "layer" in name or "dim" in name or "heads" in name or name in (
        "d_model", "vocab_size", "max_position_embeddings", "dtype")}
    real.pop("num_hidden_layers")  # another name of encoder_layers
    (folder / "config.json").write_text(json.dumps(real | sizes))
    for name in ("generation_config.json", "special_tokens_map.json"):
        shutil.copy(HUB / "nllb-200-1.3B" / name, folder)
    settings = json.loads((HUB / "nllb-200-1.3B" / "tokenizer_config.json").read_text())
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    codes = json.loads((folder / "special_tokens_map.json").read_text())["additional_special_tokens"]
    translator = Translator.from_pretrained(folder, engine="torch")
    assert {*translator.language_pairs.targets} == {*codes} and len(codes) == 202
    for target in ("fr", "deu", "Hindi"):
        assert translator("The cat.", source="en", target=target, max_new_tokens=4).source_language == "eng_Latn"
    tokenizer = AutoTokenizer.from_pretrained(HUB / "opus-mt-tc-big-fr-en")
    config = json.loads((HUB / "opus-mt-tc-big-fr-en" / "config.json").read_text())
    model = tiny.foreign_model("marian", vocab_size=config["vocab_size"])
    both = Translator(model, tokenizer)
    assert both.language_pairs == [("fr", "en")] and both.pair("French", "eng") == ("fr", "en")
    assert both.codec.encode(["Le chat."], source="fr", target="en") == [tokenizer("Le chat.")["input_ids"]]


# --- a T5 that names no pair, as mT5 and T5 1.1


@pytest.mark.few(2)
@pytest.mark.parametrize(("asked", "pair", "prefix"), [
    ({}, ("", ""), ""), ({"source": "en", "target": "fr"}, ("en", "fr"), "translate English to French: "),
    ({"source": "English", "target": "deu"}, ("en", "de"), "translate English to German: "),
])
@pytest.mark.parametrize("engine", ["torch", "ctranslate2"])
def test_a_t5_that_names_no_pair_is_told_the_languages_that_are_asked_for(tmp_path, engine, asked, pair, prefix):
    """In the words that fine-tuning gives it; without languages it reads the text as it is."""
    translator = Translator.from_pretrained(tiny.t5(tmp_path / "t5"), engine=engine)
    result = translator(TWO, **asked, max_new_tokens=5, num_beams=1)
    assert (result.source_language, result.target_language) == pair and len(result.parts) == 2
    for trace, part in zip(translator.look(result), result.parts, strict=True):
        read = translator.tokenizer(prefix + part.source_text)["input_ids"]
        assert trace.source_ids == tuple(read)
        assert translator.codec.encode([part.source_text], source=pair[0], target=pair[1]) == [read]


@pytest.mark.parametrize(("asked", "said"), [
    ({"target": "fr"}, "names no languages: give both"), ({"source": "en"}, "names no languages: give both"),
    ({"source": "en", "target": "Frensh"}, "does not translate to Frensh: that is no code or English name"),
    ({"source": "klingonn", "target": "fr"}, "does not translate from klingonn: that is no code"),
])
def test_it_is_told_both_languages_or_none(tmp_path, asked, said):
    with pytest.raises(UserError, match=said) as error:
        Translator.from_pretrained(tiny.t5(tmp_path / "t5"))("The cat.", **asked)
    assert error.value.exit_code == 2


# --- tokenizers as older folders have them, without a tokenizer.json


def pieces(kind):
    """A SentencePiece model, laid out as fairseq has it."""
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(tiny.SENTENCES * 4), model_writer=model, vocab_size=120 if kind == "bpe" else 60,
        model_type=kind, hard_vocab_limit=False, minloglevel=2)
    return model.getvalue()


OLDER = {  # kind of pieces, class of the tokenizer, its languages by id, network, and two of the languages
    "NLLB": ("bpe", "NllbTokenizer", NLLB, "M2M-100, NLLB", "eng_Latn", "fra_Latn"),
    "M2M-100": ("unigram", "M2M100Tokenizer", M2M_100["m2m100"], "M2M-100, NLLB", "en", "fr"),
    "mBART-50": ("unigram", "MBart50Tokenizer", MBART_50, "mBART", "en_XX", "fr_XX"),
}


def older(folder, family, **settings):
    """A random model with its tokenizer in SentencePiece's file; M2M-100 has a vocab.json too."""
    kind, tokenizer, _, network, *_ = OLDER[family]
    families.made(network).save_pretrained(folder)
    (folder / "sentencepiece.bpe.model").write_bytes(model := pieces(kind))
    read = sentencepiece.SentencePieceProcessor(model_proto=model)
    if family == "M2M-100":
        known = ["<s>", "<pad>", "</s>", "<unk>", *map(read.id_to_piece, range(3, len(read)))]
        (folder / "vocab.json").write_text(json.dumps({token: id for id, token in enumerate(known)}))
    (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": tokenizer} | settings))
    return read


@pytest.mark.parametrize("family", OLDER)
def test_a_tokenizer_of_pieces_alone_has_the_ids_it_was_trained_with(tmp_path, family):
    """fairseq's: each piece is one further than in SentencePiece's file, then come the languages, then `<mask>`."""
    read = older(tmp_path, family)
    *_, codes, _, source, target = OLDER[family]
    ids = {code: len(read) + 1 + i for i, code in enumerate(codes)}
    translator = Translator.from_pretrained(tmp_path, precision="float32")
    assert {*translator.language_pairs.targets} == {*codes} and len(translator.language_pairs) == len(codes) ** 2
    text = "The cat did not cross the street."
    assert translator.codec.encode([text], source=source, target=target) == [
        [ids[source], *(id + 1 for id in read.encode(text)), 2]]
    result = translator(text, source="English", target="fr", max_new_tokens=6)
    assert result.hypotheses[0].token_ids[0] == ids[target] and result.engine == "ctranslate2"
    [trace] = translator.look(result)
    assert [one.special for one in (*trace.source[:1], *trace.target[:1])] == [True, True]
    if family != "M2M-100":  # which has no mask
        assert translator.tokenizer.convert_tokens_to_ids("<mask>") == len(read) + 1 + len(codes)


@pytest.mark.parametrize("listed", [{}, {"additional_special_tokens": None}, {"additional_special_tokens": [
    "eng_Latn", {"content": "fra_Latn", "__type": "AddedToken"}]}])
@pytest.mark.parametrize("file", ["tokenizer_config.json", "special_tokens_map.json"])
def test_the_languages_of_an_nllb_are_those_that_its_files_list(tmp_path, listed, file):
    """And the same again when it is saved; the pair that it names stays its default."""
    read = older(tmp_path / "nllb", "NLLB", src_lang="eng_Latn", tgt_lang="fra_Latn")
    path = tmp_path / "nllb" / file
    path.write_text(json.dumps((json.loads(path.read_text()) if path.exists() else {}) | listed))
    tokenizer = build_tokenizer(tmp_path / "nllb", "m2m_100")
    codes = ["eng_Latn", "fra_Latn"] if listed.get("additional_special_tokens") else NLLB
    assert tokenizer.convert_tokens_to_ids(codes) == [*range(len(read) + 1, len(read) + 1 + len(codes))]
    assert language_pairs(None, tokenizer)[0] == ("eng_Latn", "fra_Latn")
    tokenizer.save_pretrained(tmp_path / "again")
    again = build_tokenizer(tmp_path / "again", "m2m_100")
    text = "fra_Latn The  cat <mask>"
    assert again.get_vocab() == tokenizer.get_vocab() and again(text)["input_ids"] == tokenizer(text)["input_ids"]


@pytest.mark.parametrize(("family", "missing", "named"), [
    ("NLLB", ["sentencepiece.bpe.model"], "sentencepiece.bpe.model, or tokenizer.json, is missing;"),
    ("NLLB", ["tokenizer_config.json"], "vocab.json is missing, and no tokenizer_config.json names another kind;"),
    ("M2M-100", ["sentencepiece.bpe.model"], "sentencepiece.bpe.model is missing;"),
    ("M2M-100", ["vocab.json"], "vocab.json is missing;"),
    ("mBART-50", ["sentencepiece.bpe.model"], "sentencepiece.bpe.model, or tokenizer.json, is missing;"),
])
def test_the_file_that_such_a_tokenizer_lacks_is_named(tmp_path, family, missing, named):
    older(tmp_path, family)
    for name in missing:
        (tmp_path / name).unlink()
    with pytest.raises(UserError, match=f"cannot be built: {named}"):
        Translator.from_pretrained(tmp_path)


def test_languages_that_a_cut_vocabulary_lacks_are_not_offered(folders):
    """Classes of transformers add their languages to any vocabulary, also to one that was cut to a few."""
    model, tokenizer = (kind.from_pretrained(folders["mbart_50"]) for kind in (AutoModelForSeq2SeqLM, AutoTokenizer))
    codes = tokenizer.convert_tokens_to_ids(["ar_AR", "cs_CZ", "de_DE"])
    assert codes == [*range(codes[0], codes[0] + 3)]
    model.resize_token_embeddings(codes[2])
    translator = Translator(model, tokenizer)
    assert {*translator.language_pairs.targets} == {*translator.language_pairs.sources} == {"ar_AR", "cs_CZ"}
    assert translator(TWO, source="ar", target="cs").text
    model.resize_token_embeddings(codes[1])
    assert not Translator(model, tokenizer).language_pairs  # one alone names no pair
    model.resize_token_embeddings(codes[0] - 5)
    with pytest.raises(UserError, match="the tokenizer has .* tokens, the model"):
        Translator(model, tokenizer)

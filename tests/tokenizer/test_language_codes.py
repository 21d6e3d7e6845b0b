"""A language is known by a model's code, by ISO 639 or by its English name; what is several or none is said."""

import pytest
from transformers.models.m2m_100.tokenization_m2m_100 import FAIRSEQ_LANGUAGE_CODES as M2M_100
from transformers.models.mbart50.tokenization_mbart50 import FAIRSEQ_LANGUAGE_CODES as MBART_50
from transformers.models.nllb.tokenization_nllb import FAIRSEQ_LANGUAGE_CODES as NLLB

from seq2see.errors import UserError
from seq2see.tokenizer.language_codes import codes_of, file_tag, is_right_to_left, iso, language_name
from seq2see.tokenizer.language_pairs import LanguagePairs

OPUS = ["fra", "srp_Cyrl", "srp_Latn", "pt_br", "pt", "cmn_Hans", "nob", "nno", "fr_CA"]
MODELS = {"nllb": NLLB, "m2m": M2M_100["m2m100"], "mbart": MBART_50, "opus": OPUS, "own": ["en", "fr", "zh-Hans"]}


@pytest.mark.parametrize(("model", "asked", "found"), [
    *[("nllb", one, "fra_Latn") for one in ("fra_Latn", "fr", "fra", "FR", "French", "french", "fr-CA", "FRA_LATN")],
    *[("m2m", one, "fr") for one in ("fr", "fra", "French")], *[("mbart", one, "fr_XX") for one in ("fr", "French")],
    ("nllb", "zh-Hant", "zho_Hant"), ("nllb", "zh_TW", "zho_Hant"), ("nllb", "Traditional Chinese", "zho_Hant"),
    ("nllb", "Chinese (Simplified)", "zho_Hans"), ("nllb", "yue", "yue_Hant"), ("nllb", "sr", "srp_Cyrl"),
    ("nllb", "nb", "nob_Latn"), ("nllb", "iw", "heb_Hebr"), ("nllb", "Swahili", "swh_Latn"),
    ("nllb", "fil", "tgl_Latn"),
    ("m2m", "zh", "zh"), ("m2m", "no", "no"), ("m2m", "Bokmål", "no"), ("m2m", "cmn", "zh"), ("m2m", "nso", "ns"),
    ("mbart", "zh", "zh_CN"), ("mbart", "pt-BR", "pt_XX"), ("mbart", "en-US", "en_XX"), ("mbart", "ar", "ar_AR"),
    ("opus", "sr-Latn", "srp_Latn"), ("opus", "pt-BR", "pt_br"), ("opus", "Portuguese", "pt"),
    ("opus", "zh", "cmn_Hans"),
    ("own", "EN", "en"), ("own", "en_XX", "en"), ("own", "ZH_hans", "zh-Hans"), ("own", "zh", "zh-Hans"),
    ("own", "eng", "en"),
])
def test_one_language_is_one_code(model, asked, found):
    assert codes_of(asked, tuple(MODELS[model])) == (found,)


@pytest.mark.parametrize(("model", "asked", "choices"), [
    ("nllb", "zh", {"zho_Hans", "zho_Hant"}), ("nllb", "Chinese", {"zho_Hans", "zho_Hant"}),
    ("nllb", "no", {"nob_Latn", "nno_Latn"}), ("nllb", "Norwegian", {"nob_Latn", "nno_Latn"}),
    ("opus", "sr", {"srp_Cyrl", "srp_Latn"}), ("opus", "Serbian", {"srp_Cyrl", "srp_Latn"}),
    ("nllb", "ku", {"ckb_Arab", "kmr_Latn"}), ("nllb", "fa", {"pes_Arab", "prs_Arab"}), ("opus", "no", {"nob", "nno"}),
])
def test_several_are_listed_and_none_is_taken(model, asked, choices):
    known = tuple(MODELS[model])
    assert {*codes_of(asked, known)} == choices
    with pytest.raises(UserError) as error:
        LanguagePairs(((known, known),)).find(None, asked)
    said = str(error.value)
    assert "\n" not in said and f"{asked} is several" in said
    assert all(f"{code} ({language_name(code)})" in said for code in choices)


@pytest.mark.parametrize(("model", "asked", "near"), [
    ("nllb", "Frensh", "fra_Latn"), ("nllb", "Klingon", "kon_Latn"), ("nllb", "sr-Latn", "srp_Cyrl"),
    ("m2m", "Germann", "de"), ("m2m", "Romance", ""), ("mbart", "ms", ""), ("nllb", "xx", ""), ("nllb", "", ""),
    ("nllb", "fr" * 999, ""), ("mbart", "zh-Hant", "zh_CN"), ("nllb", "Serbian (Latin)", ""), ("nllb", "[]\n", ""),
    ("nllb", "fr\0", ""), ("nllb", "\ud800", ""),
])
def test_an_unknown_one_is_refused_with_the_nearest_three(model, asked, near):
    known = tuple(MODELS[model])
    assert codes_of(asked, known) == ()
    with pytest.raises(UserError, match=f"the nearest of its {len(known)} languages are") as error:
        LanguagePairs(((known, known),)).find(asked, known[0])
    said = str(error.value)
    assert near in said and len(said) < 300
    assert sum(f"{code} ({language_name(code)})" in said.partition(" are ")[2] for code in known) >= 3


def test_each_code_of_each_model_means_itself_and_has_a_name():
    for codes in MODELS.values():
        for code in codes:
            assert codes_of(code, tuple(codes)) == (code,) and language_name(code) != code
            assert len(iso(code)) in (2, 3) and iso(code).islower()


@pytest.mark.parametrize(("code", "short", "name"), [
    ("fra_Latn", "fr", "French"), ("zho_Hant", "zh", "Chinese (Traditional)"), ("zh_CN", "zh", "Chinese (China)"),
    ("fr_XX", "fr", "French"), ("pt-BR", "pt", "Portuguese (Brazil)"), ("arb_Arab", "ar", "Standard Arabic (Arabic)"),
    ("ROMANCE", "ROMANCE", "ROMANCE"), ("", "", ""), ("mul", "mul", "Multiple languages"),
])
def test_the_language_of_a_code(code, short, name):
    assert (iso(code), language_name(code)) == (short, name)


@pytest.mark.parametrize(("code", "tag"), [
    ("iw", "he"), ("in", "id"), ("heb_Hebr", "he"), ("ind_Latn", "id"), ("zho_Hant", "zh-Hant"), ("zh_TW", "zh-Hant"),
    ("zho_Hans", "zh"), ("zh", "zh"), ("fr_XX", "fr"), ("ar_AR", "ar"), ("arb_Arab", "ar"), ("pt-BR", "pt-BR"),
    ("srp_Latn", "sr-Latn"), ("srp_Cyrl", "sr"), ("French", "fr"), ("lang", "lang"), ("", ""),
])
def test_files_name_a_language_by_the_code_of_today(code, tag):
    assert file_tag(code) == tag


@pytest.mark.parametrize(("tag", "expected"), [
    ("ar", True), ("he", True), ("fa", True), ("ur", True), ("yi", True), ("dv", True), ("ckb", True),
    ("pa-Arab", True), ("fr", False), ("zh-Hant", False), ("pa", False), ("ku", False), ("lang", False), ("", False),
])
def test_the_direction_is_that_of_the_script(tag, expected):
    assert is_right_to_left(tag) == expected

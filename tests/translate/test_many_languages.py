"""A model of many languages: the pair that its tokenizer names is the one it translates, and no other is pretended."""

import json

import pytest
import tiny
from transformers import M2M100ForConditionalGeneration, NllbTokenizer

from seq2see import Translator
from seq2see.errors import UserError


@pytest.fixture
def nllb(tmp_path):
    """The folder of a random NLLB from German to Chinese, and what transformers has it write."""
    folder = tiny.nllb(tmp_path / "nllb", "deu_Latn", "zho_Hans")
    model, tokenizer = M2M100ForConditionalGeneration.from_pretrained(folder), NllbTokenizer.from_pretrained(folder)
    theirs = model.generate(**tokenizer(tiny.SENTENCES[0], return_tensors="pt"), num_beams=1, max_new_tokens=9,
                            forced_bos_token_id=tokenizer.convert_tokens_to_ids("zho_Hans"))
    return folder, tuple(theirs[0, 1:].tolist())


def test_it_writes_what_transformers_has_it_write(nllb):
    folder, theirs = nllb
    translator = Translator.from_pretrained(folder)
    assert translator.language_pairs == [("deu_Latn", "zho_Hans")]
    result = translator(tiny.SENTENCES[0], num_beams=1, max_new_tokens=9)
    assert (result.source_language, result.target_language) == ("deu_Latn", "zho_Hans")
    assert result.hypotheses[0].token_ids == theirs
    [trace] = translator.look(result)
    assert trace.given == 1 and len(trace.target) == len(theirs)
    begun = translator(tiny.SENTENCES[0], prefix="The box", num_beams=1, max_new_tokens=20)
    assert begun.text.startswith("The box") and begun.hypotheses[0].token_ids[0] == theirs[0]


def test_a_pair_that_its_tokenizer_does_not_name_is_refused(nllb):
    with pytest.raises(UserError, match="choose deu_Latn to zho_Hans"):
        Translator.from_pretrained(nllb[0])("The cat.", target="fra_Latn")
    path = nllb[0] / "tokenizer_config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"src_lang": None, "tgt_lang": None}))
    with pytest.raises(UserError, match=r'can be used: set it in .*tokenizer_config.json, as "src_lang"'):
        Translator.from_pretrained(nllb[0])("The cat.")

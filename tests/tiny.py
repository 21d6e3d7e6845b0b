"""Small random encoder-decoders and tokenizers for the tests of `lens` and `serve`: built in a second, not downloaded.

The weights are spread out (normal, std 0.5): with transformers' own initialisation attention is uniform, and a test
that compares uniform with uniform sees nothing.
"""

import io
import json
from collections.abc import Sequence
from pathlib import Path

import pytest
import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import (
    BartConfig,
    BartForConditionalGeneration,
    M2M100Config,
    M2M100ForConditionalGeneration,
    M2M100Tokenizer,
    MarianConfig,
    MarianMTModel,
    MBart50Tokenizer,
    MBartConfig,
    MBartForConditionalGeneration,
    NllbTokenizer,
    PreTrainedModel,
    PreTrainedTokenizerBase,
    PreTrainedTokenizerFast,
    RobertaTokenizer,
    T5Config,
    T5ForConditionalGeneration,
)

from seq2see import Seq2SeeConfig, Seq2SeeForConditionalGeneration, Seq2SeeTokenizer
from seq2see.lens.records.calibration import (
    WAYS,
    Bin,
    Calibration,
    Calibrator,
    LanguageCalibration,
    Reliability,
    SentenceCalibration,
    SentenceCalibrator,
    SentenceCheck,
)
from seq2see.lens.records.intervals import Estimate
from seq2see.tokenizer import train_tokenizer
from seq2see.translate.loaded_checkpoint import fingerprint

SENTENCES = [
    "The cat did not cross the street because it was too tired.",
    "The cat did not cross the street because it was too wide.",
    "The box did not fit in the bag because it was too big.",
    "Le chat n'a pas traversé la rue parce qu'il était trop fatigué.",
    "La boîte n'entrait pas dans le sac parce qu'elle était trop grande.",
    "An owl lent 12 ladders to the crow, didn't it?",
]


def foreign_tokenizer(texts: Sequence[str] = SENTENCES, *, tokens: int = 180) -> PreTrainedTokenizerFast:
    """A tokenizer as SentencePiece models have it: `▁` for the space, `</s>` at the end, byte fallback.  Its vocabulary
    is so many `tokens` and the 256 bytes."""
    core = Tokenizer(models.BPE(unk_token="<unk>", byte_fallback=True))
    core.pre_tokenizer = pre_tokenizers.Metaspace()
    core.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(),
                                      decoders.Strip(" ", 1, 0)])
    trainer = trainers.BpeTrainer(vocab_size=tokens, special_tokens=["<pad>", "<s>", "</s>", "<unk>"])
    core.train_from_iterator(texts, trainer)
    plan = json.loads(core.to_str())  # the trainer knows bytes only as special tokens, which decoding would drop
    vocabulary = plan["model"]["vocab"]
    vocabulary |= {f"<0x{byte:02X}>": len(vocabulary) + byte for byte in range(256)}
    core = Tokenizer.from_str(json.dumps(plan))
    core.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 2)])
    return PreTrainedTokenizerFast(tokenizer_object=core, pad_token="<pad>", bos_token="<s>", eos_token="</s>",
                                   unk_token="<unk>")


def published_marian(seed: int = 0) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    """A Marian laid out as the published ones are: `</s>` first, last a `<pad>` of zeros, which starts the decoder."""
    plan = json.loads(foreign_tokenizer().backend_tokenizer.to_str())
    tokens = [span for span in plan["model"]["vocab"] if span not in ("<pad>", "<s>", "</s>", "<unk>")]
    order = ["</s>", "<unk>", *tokens, "<pad>"]
    plan["model"]["vocab"] = {span: id for id, span in enumerate(order)}
    plan["added_tokens"] = [token | {"id": order.index(token["content"])} for token in plan["added_tokens"]
                            if token["content"] != "<s>"]
    plan["post_processor"] = None
    core = Tokenizer.from_str(json.dumps(plan))
    core.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 0)])
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=core, pad_token="<pad>", eos_token="</s>", unk_token="<unk>")
    pad = len(order) - 1
    torch.manual_seed(seed)
    model = MarianMTModel(MarianConfig(
        vocab_size=len(order), d_model=16, encoder_layers=2, decoder_layers=3, encoder_attention_heads=2,
        decoder_attention_heads=2, encoder_ffn_dim=32, decoder_ffn_dim=32, max_position_embeddings=64,
        pad_token_id=pad, eos_token_id=0, decoder_start_token_id=pad, forced_eos_token_id=None,
    ))
    spread_out(model)
    model.get_input_embeddings().weight.data[pad] = 0
    model.generation_config.update(bad_words_ids=[[pad]], max_length=24, num_beams=2, early_stopping=True)
    return model, tokenizer


def opus_mt(folder: Path, *, tags: Sequence[str] = (), **languages: str) -> Path:
    """A Marian as the Hub has OPUS-MT's: weights in a pickle of the old format, each name of a tied matrix among them,
    SentencePiece models of both languages, decoding options in config.json and no tokenizer.json.  `languages` are its
    `source_lang` and `target_lang`, `tags` those of its vocabulary."""
    learned = []
    for name, texts in (("source", SENTENCES[:3]), ("target", SENTENCES[3:5])):
        (folder / f"{name}.spm").write_bytes(model := _sentencepiece(texts))
        learned += _tokens(model)
    order = ["</s>", "<unk>", *dict.fromkeys(learned), *tags, "<pad>"]
    pad = len(order) - 1
    options = {"num_beams": 2, "max_length": 24, "bad_words_ids": [[pad]]}
    config = MarianConfig(
        vocab_size=len(order), d_model=16, encoder_layers=2, decoder_layers=3, encoder_attention_heads=2,
        decoder_attention_heads=2, encoder_ffn_dim=32, decoder_ffn_dim=32, max_position_embeddings=64,
        pad_token_id=pad, eos_token_id=0, decoder_start_token_id=pad, forced_eos_token_id=None,
    )
    torch.manual_seed(0)
    weights = spread_out(MarianMTModel(config)).state_dict()
    torch.save(weights, folder / "pytorch_model.bin", _use_new_zipfile_serialization=False)
    for name, content in (
        ("config", config.to_dict() | options),
        ("tokenizer_config", {"source_lang": "en", "target_lang": "fr"} | languages),
        ("vocab", {token: id for id, token in enumerate(order)}),
    ):
        (folder / f"{name}.json").write_text(json.dumps(content), "utf-8")
    return folder


def nllb(folder: Path, source: str | None = None, target: str | None = None) -> Path:
    """The folder of a random NLLB, whose tokenizer may name this pair."""
    learnt = Tokenizer(models.BPE())
    learnt.pre_tokenizer = pre_tokenizers.Metaspace()
    special = ["<s>", "<pad>", "</s>", "<unk>"]
    learnt.train_from_iterator(SENTENCES * 4, trainers.BpeTrainer(vocab_size=300, special_tokens=special))
    core = json.loads(learnt.to_str())["model"]
    tokenizer = NllbTokenizer(vocab=core["vocab"], merges=[tuple(one) for one in core["merges"]], src_lang=source,
                              tgt_lang=target)
    return save(folder, _m2m_100(len(tokenizer)), tokenizer)


def m2m_100(folder: Path) -> Path:
    """The folder of a random M2M-100."""
    folder.mkdir()
    (folder / "sentencepiece.bpe.model").write_bytes(model := _sentencepiece(SENTENCES, "bpe"))
    tokens = ["<s>", "<pad>", "</s>", "<unk>", *_tokens(model)]
    (folder / "vocab.json").write_text(json.dumps({token: id for id, token in enumerate(tokens)}), "utf-8")
    tokenizer = M2M100Tokenizer(str(folder / "vocab.json"), str(folder / "sentencepiece.bpe.model"))
    return save(folder, _m2m_100(tokenizer.vocab_size + 108), tokenizer)


def _m2m_100(vocab_size: int) -> PreTrainedModel:
    torch.manual_seed(0)
    model = M2M100ForConditionalGeneration(M2M100Config(
        vocab_size=vocab_size, d_model=16, encoder_layers=1, decoder_layers=1, encoder_attention_heads=2,
        decoder_attention_heads=2, encoder_ffn_dim=16, decoder_ffn_dim=16, max_position_embeddings=64, pad_token_id=1,
        bos_token_id=0, eos_token_id=2, decoder_start_token_id=2,
    ))
    return spread_out(model)


def mbart_50(folder: Path) -> Path:
    """The folder of a random mBART-50."""
    tokenizer = MBart50Tokenizer(vocab=[(token, -1.0) for token in ("<unk>", "<s>", "</s>", *_tokens(_sentencepiece(
        SENTENCES)))])
    torch.manual_seed(0)
    model = MBartForConditionalGeneration(MBartConfig(
        vocab_size=len(tokenizer), d_model=16, encoder_layers=1, decoder_layers=1, encoder_attention_heads=2,
        decoder_attention_heads=2, encoder_ffn_dim=16, decoder_ffn_dim=16, max_position_embeddings=64, pad_token_id=1,
        bos_token_id=0, eos_token_id=2, decoder_start_token_id=2, forced_eos_token_id=None,
    ))
    return save(folder, spread_out(model), tokenizer)


def bart(folder: Path) -> Path:
    """The folder of a random BART, whose tokens are of bytes."""
    learnt = Tokenizer(models.BPE())
    learnt.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    learnt.train_from_iterator(SENTENCES * 4, trainers.BpeTrainer(
        vocab_size=330, special_tokens=["<s>", "<pad>", "</s>", "<unk>", "<mask>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    core = json.loads(learnt.to_str())["model"]
    return save(folder, foreign_model("bart", vocab_size=len(core["vocab"])), RobertaTokenizer(
        vocab=core["vocab"], merges=[tuple(one) for one in core["merges"]]))


def t5(folder: Path, *, tags: Sequence[str] = (), **tasks: str) -> Path:
    """The folder of a random T5 with a prefix for each of its `tasks`, such as `translation_en_to_fr`; or of a MADLAD,
    with `tags`."""
    tokenizer = foreign_tokenizer()
    tokenizer.add_tokens(list(tags))
    model = foreign_model("t5", vocab_size=len(tokenizer))
    model.config.task_specific_params = {name: {"prefix": prefix} for name, prefix in tasks.items()} or None
    return save(folder, model, tokenizer)


def _sentencepiece(texts: Sequence[str], model_type: str = "unigram") -> bytes:
    import sentencepiece

    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter([*texts] * 4), model_writer=model, vocab_size=60 if model_type == "unigram" else 120,
        hard_vocab_limit=False, model_type=model_type, bos_id=-1, eos_id=-1,
        unk_id=0, minloglevel=2)
    return model.getvalue()


def _tokens(model: bytes) -> list[str]:
    """The vocabulary of a SentencePiece model, without `<unk>`."""
    import sentencepiece

    processor = sentencepiece.SentencePieceProcessor(model_proto=model)
    return list(processor.id_to_piece(list(range(1, len(processor)))))


def foreign_model(kind: str, *, vocab_size: int = 460, seed: int = 0) -> PreTrainedModel:
    """A Marian, BART or T5 of two heads and two layers (three in the decoder, but for T5, which cannot cache that)."""
    torch.manual_seed(seed)
    ids = {"pad_token_id": 0, "eos_token_id": 2, "tie_word_embeddings": False}  # untied: a tied one repeats its input
    sizes = {"vocab_size": vocab_size, "d_model": 16, "encoder_layers": 2, "decoder_layers": 3,
             "encoder_attention_heads": 2, "decoder_attention_heads": 2, "encoder_ffn_dim": 32, "decoder_ffn_dim": 32,
             "max_position_embeddings": 64}
    model: PreTrainedModel
    if kind == "marian":
        model = MarianMTModel(MarianConfig(**sizes, **ids, bos_token_id=1, decoder_start_token_id=0))
    elif kind == "bart":
        model = BartForConditionalGeneration(BartConfig(**sizes, **ids, bos_token_id=1, decoder_start_token_id=2))
    elif kind == "t5":
        model = T5ForConditionalGeneration(T5Config(vocab_size=vocab_size, d_model=16, d_kv=8, d_ff=32, num_layers=2,
                                                    num_heads=2, decoder_start_token_id=0, **ids))
    else:
        raise ValueError(kind)
    model.generation_config.forced_eos_token_id = None
    model.generation_config.forced_bos_token_id = 1 if kind == "bart" else None
    model.generation_config.max_length = 24
    return spread_out(model, std=0.3 if kind == "t5" else 0.5)  # T5 does not divide by sqrt(d): 0.5 makes it one-hot


def seq2see(*, seed: int = 0, model_type: str = "bpe") -> tuple[Seq2SeeForConditionalGeneration, Seq2SeeTokenizer]:
    """A Seq2See of two encoder and three decoder layers that translates from English to French and to German."""
    tokenizer = train_tokenizer(SENTENCES * 4, vocab_size=400, languages=["de", "fr"], model_type=model_type)
    torch.manual_seed(seed)
    config = Seq2SeeConfig(
        vocab_size=len(tokenizer), d_model=16, encoder_layers=2, decoder_layers=3, encoder_attention_heads=2,
        decoder_attention_heads=2, encoder_ffn_dim=32, decoder_ffn_dim=32, max_position_embeddings=64,
        language_pairs=[["en", "fr"], ["en", "de"]],
    )
    model = Seq2SeeForConditionalGeneration(config)
    model.generation_config.max_length = 24
    model.generation_config.forced_bos_token_id = tokenizer.tag_id("fr")
    spread_out(model)
    return model, tokenizer


def make(kind: str) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    return seq2see() if kind == "seq2see" else (foreign_model(kind), foreign_tokenizer())


KINDS = ["marian", "bart", "t5", "seq2see"]
# A BART differs from a Marian in its embeddings alone, which laws that do not end there see in the long tier.
MOST_KINDS = ["marian", pytest.param("bart", marks=pytest.mark.long), "t5", "seq2see"]


def spread_out(model: PreTrainedModel, *, std: float = 0.5) -> PreTrainedModel:
    """Resample every trained matrix, wide enough that attention is far from uniform and from one-hot."""
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if weight.dim() > 1 and "embed_positions" not in name:
                weight.normal_(std=std)
    return model.eval()


def save(folder: Path, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> Path:
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def calibrate_by_hand(run: Path, language: str, calibrator: Calibrator) -> Calibration:
    """Leave a calibration beside a model, as if it had been fitted."""
    figure = Estimate(0.1, 0.05, 0.2)
    ways = {way: Reliability(calibrator, figure, figure, (Bin(5, 0.5, 0.4), Bin(5, 0.9, 1.0))) for way in WAYS}
    check = SentenceCheck("dev.tsv", True, Bin(60, 0.8, 0.8), (Bin(10, 0.1, 0.1), Bin(50, 0.9, 0.9)))
    sentences = SentenceCalibration(SentenceCalibrator(0.1, 0.7, 2.0, 0.5), 100, ("dev.tsv",), (check,))
    languages = {language: LanguageCalibration(7, 70, 1, 10, 0.7, "both", ways, sentences)}
    made = Calibration("the validation pairs", languages, fingerprint(run))
    made.save(run / "calibration.json")
    return made

"""The tokenizer: text to token ids and back, for any Unicode text, with a tag for each target language.

A target begins with the tag of its language, a source has none: `labels = <2fr> Le chat ... </s>`.  `tokenizer(text)`
parses special tokens in the text, like Hugging Face tokenizers.  `encode_source` and `encode_target` never do: for them
a typed `</s>` is four characters.  A saved folder names the stock class TokenizersBackend, so AutoTokenizer loads it
without this package.  Our own code calls `Seq2SeeTokenizer.from_pretrained(folder)`.
"""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer
from tokenizers.models import Unigram
from transformers import AutoTokenizer, BatchEncoding, TokenizersBackend

from seq2see.errors import UserError, as_user_error
from ..modeling import Seq2SeeConfig
from .layout import END, FIRST_TAG, PAD, SPECIAL_TOKENS, START, TAG_SLOTS, UNKNOWN, tag_slots, tagged_languages
from .subwords import ModelType, template, train_backend
from .words import TokenSpan, refuse_surrogates, token_spans

MODEL_MAX_LENGTH = 1024  # Seq2SeeConfig.max_position_embeddings, unless a run changes it


class Seq2SeeTokenizer(TokenizersBackend):
    """The tokenizer of Seq2See models: BPE or Unigram, with byte fallback and language tags.

    `tokenizer(source, text_target=target)` returns `labels` with the tag of `tgt_lang`.  Set `tgt_lang` in the call, in
    `from_pretrained`, or as an attribute.  The stock TokenizersBackend cannot add a tag: its labels are `target </s>`,
    which the model rejects.

    Whether special tokens in a text are recognised is a setting of the backend, which all threads share.  So threads
    that share a tokenizer may all call `encode_*`, or all call the tokenizer itself, but must not mix the two.

    There is deliberately no `__init__`: with one, transformers would rebuild the tokenizer from parts of
    tokenizer.json.
    """

    _tokenizer: Tokenizer
    init_kwargs: dict[str, Any]

    @property
    def tgt_lang(self) -> str | None:
        """The language of `text_target`, saved with the tokenizer; by default the first of `languages`."""
        return self.init_kwargs.get("tgt_lang") or next(iter(self.languages), None)

    @tgt_lang.setter
    def tgt_lang(self, language: str) -> None:
        self.tag_id(language)
        self.init_kwargs["tgt_lang"] = language

    def __call__(self, *texts: Any, tgt_lang: str | None = None, **how: Any) -> BatchEncoding:
        """As in transformers; `tgt_lang` is the language of `text_target` for this call."""
        kept = dict(self.init_kwargs)
        try:
            if tgt_lang is not None:
                self.tgt_lang = tgt_lang
            return super().__call__(*texts, **how)
        finally:
            self.init_kwargs = kept

    @property
    def languages(self) -> list[str]:
        """The target languages that have a tag, in the order of their tag slots."""
        slots = self.convert_ids_to_tokens(list(range(FIRST_TAG, FIRST_TAG + TAG_SLOTS)))
        return tagged_languages(slots)

    @property
    def model_type(self) -> ModelType:
        """How it segments words: see `train_backend`."""
        return "unigram" if isinstance(self._tokenizer.model, Unigram) else "bpe"

    @property
    def blank_token_ids(self) -> list[int]:
        """The ids of the tokens that contain only white space, without the byte tokens that spell rarer spaces."""
        return sorted(id for text, id in self.get_vocab().items() if text.isspace())

    def tag_id(self, language: str) -> int:
        if language not in self.languages:
            known = ", ".join(self.languages) or "none"
            raise UserError(f"the tokenizer has no target language {language!r}; it has {known}")
        return FIRST_TAG + self.languages.index(language)

    def add_language(self, language: str) -> int:
        """Assign a language the next free tag slot and return the tag's id; a language that already has a tag keeps it.
        """
        languages = self.languages
        if language not in languages:
            new = tag_slots([*languages, language])
            state = json.loads(self._tokenizer.to_str())
            names = dict(zip(tag_slots(languages), new, strict=True))
            for token in state["added_tokens"]:
                token["content"] = names.get(token["content"], token["content"])
            known = state["model"]["vocab"]
            state["model"]["vocab"] = (
                [[names.get(token, token), score] for token, score in known] if self.model_type == "unigram"
                else {names.get(token, token): i for token, i in known.items()}
            )
            self._tokenizer = Tokenizer.from_str(json.dumps(state))
        return self.tag_id(language)

    def train_new_from_iterator(self, text_iterator: Iterable[str | Sequence[str]], vocab_size: int,
                                *_: Any, **other: Any) -> "Seq2SeeTokenizer":
        """Train a tokenizer with the same tags on other texts; the iterator yields texts or batches of texts.

        This method uses `train_tokenizer`, because transformers' own method would leave out the byte tokens.  It cannot
        add special tokens.
        """
        if any(other.get(name) for name in ("new_special_tokens", "special_tokens_map")):
            raise UserError("a Seq2See vocabulary has only its own special tokens: omit this argument")
        texts = [text for texts in text_iterator for text in ([texts] if isinstance(texts, str) else texts)]
        return train_tokenizer(texts, vocab_size=vocab_size, languages=self.languages, model_type=self.model_type)

    def encode_source(self, text: str) -> list[int]:
        """The ids of the tokens, then of `</s>`.

        Raises UserError for a lone surrogate, which is half a character.
        """
        return self.encode_sources([text])[0]

    def encode_target(self, text: str, *, language: str) -> list[int]:
        """The ids of the language's tag, the tokens and `</s>`: a row of labels."""
        return self.encode_targets([text], [language])[0]

    def encode_sources(self, texts: Sequence[str]) -> list[list[int]]:
        return [[*ids, self.eos_token_id] for ids in self._ids(texts)]

    def encode_targets(self, texts: Sequence[str], languages: Sequence[str]) -> list[list[int]]:
        tags = {language: self.tag_id(language) for language in set(languages)}
        rows = zip(languages, self._ids(texts), strict=True)
        return [[tags[language], *ids, self.eos_token_id] for language, ids in rows]

    def decode_text(self, ids: Iterable[int]) -> str:
        """The text of a source or target, without tag, start, end and padding."""
        return str(self.decode(list(ids), skip_special_tokens=True, clean_up_tokenization_spaces=False))

    def spans(self, ids: Sequence[int], text: str, *, language: str) -> list[TokenSpan]:
        """The word and the characters of `text` that each token covers: see `token_spans`."""
        return token_spans(self, ids, text, language=language)

    def _ids(self, texts: Sequence[str]) -> list[list[int]]:
        for text in texts:
            refuse_surrogates(text)
        if not texts:
            return []
        # Not `self(...)`, which returns much more, takes twice as long, and resets these three.
        self._tokenizer.encode_special_tokens = True
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        return [encoding.ids for encoding in self._tokenizer.encode_batch(list(texts), add_special_tokens=False)]

    # The two hooks with which `tokenizer(source, text_target=target)` distinguishes the sides.
    def _switch_to_input_mode(self) -> None:
        self._tokenizer.post_processor = template(tag=None, tokenizer=self._tokenizer)

    def _switch_to_target_mode(self) -> None:
        language = self.tgt_lang
        tag = None if language is None else str(self.convert_ids_to_tokens(self.tag_id(language)))
        self._tokenizer.post_processor = template(tag=tag, tokenizer=self._tokenizer)

    def _save_pretrained(self, save_directory: Any, file_names: tuple[str, ...], *args: Any, **kwargs: Any) -> Any:
        """Save in stock format: the name of the stock class, and no flag that hides special tokens."""
        config_file = Path(file_names[0])
        config = json.loads(config_file.read_text(encoding="utf-8"))
        config["tokenizer_class"] = TokenizersBackend.__name__
        config.pop("split_special_tokens", None)
        text = json.dumps(config, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
        config_file.write_text(text, encoding="utf-8")
        self._switch_to_input_mode()
        return super()._save_pretrained(save_directory, file_names, *args, **kwargs)


def train_tokenizer(
    texts: Iterable[str], *, vocab_size: int, languages: Sequence[str], model_type: ModelType = "bpe"
) -> Seq2SeeTokenizer:
    """Learn a joint vocabulary of source and target texts, with a tag for each target language; see `train_backend`."""
    return Seq2SeeTokenizer(
        tokenizer_object=train_backend(texts, vocab_size=vocab_size, languages=languages, model_type=model_type),
        pad_token=PAD,
        bos_token=START,
        eos_token=END,
        unk_token=UNKNOWN,
        model_max_length=MODEL_MAX_LENGTH,
    )


def load_tokenizer(folder: Path) -> Seq2SeeTokenizer:
    """The tokenizer in a checkpoint's folder.

    Raises UserError if it cannot be read.
    """
    with as_user_error(f"the tokenizer in {folder} cannot be read"):
        tokenizer: Seq2SeeTokenizer = Seq2SeeTokenizer.from_pretrained(folder, local_files_only=True)
        special = (tokenizer.pad_token, tokenizer.bos_token, tokenizer.eos_token, tokenizer.unk_token)
    if special != SPECIAL_TOKENS or tokenizer.convert_tokens_to_ids(list(special)) != list(range(FIRST_TAG)):
        raise UserError(f"the tokenizer in {folder} must have the special tokens {', '.join(SPECIAL_TOKENS)}")
    return tokenizer


AutoTokenizer.register(Seq2SeeConfig, tokenizer_class=Seq2SeeTokenizer)

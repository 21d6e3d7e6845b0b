"""Text to ids and back: two implementations that give the same ids.

`Seq2SeeCodec` loads the tokenizer.json of a Seq2See checkpoint with the `tokenizers` library alone, in milliseconds and
without torch.  `TokenizerCodec` wraps any transformers tokenizer.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seq2see.errors import UserError, as_user_error
from seq2see.importing import IMPORTS
from ..tokenizer.layout import END, FIRST_TAG, TAG_SLOTS, tagged_languages
from ..tokenizer.tagging import first_ids, tagging

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase


class Seq2SeeCodec:
    """The codec of a Seq2See checkpoint.

    `tags` are the ids of the target languages; empty if a model has none.  Raises UserError if the tokenizer.json
    cannot be read.
    """

    def __init__(self, folder: Path):
        with IMPORTS:
            from tokenizers import Tokenizer

        with as_user_error(f"the tokenizer in {folder} cannot be read"):
            self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.encode_special_tokens = True
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        slots = self.tokens()[FIRST_TAG : FIRST_TAG + TAG_SLOTS]
        self.tags = {language: id for id, language in enumerate(tagged_languages(slots), FIRST_TAG)}
        end = self._tokenizer.token_to_id(END)
        if end is None:
            raise UserError(f"the tokenizer in {folder} has no {END}: it is not a Seq2See tokenizer")
        self._end = end

    def encode(self, texts: Sequence[str], *, source: str = "", target: str = "") -> list[list[int]]:
        """Source ids of texts to translate from `source` to `target`, including `</s>`.

        With "" as a language, the tokenizer's own setting applies.  Special tokens in a text are plain text.
        """
        return self._encode(texts)

    def _encode(self, texts: Sequence[str]) -> list[list[int]]:
        found = self._tokenizer.encode_batch_fast(list(texts), add_special_tokens=False) if texts else []
        return [[*one.ids, self._end] for one in found]

    def begin(self, text: str, *, language: str) -> list[int]:
        """The ids of a forced prefix, without tag and `</s>`."""
        return self._encode([text])[0][:-1]

    def decode(self, ids: Sequence[int]) -> str:
        """The text of target ids, without tags and special tokens."""
        return str(self._tokenizer.decode(list(ids), skip_special_tokens=True))

    def tokens(self) -> list[str]:
        """The vocabulary, by id."""
        return [str(self._tokenizer.id_to_token(id)) for id in range(self._tokenizer.get_vocab_size())]


class TokenizerCodec:
    """The codec of any transformers tokenizer, with the configuration of its model; otherwise like `Seq2SeeCodec`."""

    def __init__(self, tokenizer: PreTrainedTokenizerBase, config: Any):
        with IMPORTS:
            from ..tokenizer import encoding
            from ..tokenizer.tokenization_seq2see import Seq2SeeTokenizer

        self.tokenizer: Any = tokenizer
        self._config = config
        self._encoding = encoding  # kept: an import in `encode` would wait while another model loads
        if isinstance(tokenizer, Seq2SeeTokenizer):
            self.tags = {language: tokenizer.tag_id(language) for language in tokenizer.languages}
        else:
            self.tags = first_ids(tokenizer)

    def encode(self, texts: Sequence[str], *, source: str = "", target: str = "") -> list[list[int]]:
        tags = tagging(self._config, self.tokenizer, source, target)
        with as_user_error("the tokenizer cannot encode this text"):
            return [self._encoding.encode_source(self.tokenizer, text, tagging=tags) for text in texts]

    def begin(self, text: str, *, language: str) -> list[int]:
        with as_user_error("the tokenizer cannot encode this text"):
            ids = self._encoding.encode_target(self.tokenizer, text, language=language, first=None)
        ids = ids[:-1] if ids[-1] == self.tokenizer.eos_token_id else ids
        return ids[1:] if self.tags else ids

    def decode(self, ids: Sequence[int]) -> str:
        return self._encoding.decode_target(self.tokenizer, ids)

    def tokens(self) -> list[str]:
        return [str(token) for token in self.tokenizer.convert_ids_to_tokens(range(len(self.tokenizer)))]


Codec = Seq2SeeCodec | TokenizerCodec

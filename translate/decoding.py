"""The decoding options and their bounds.

Keyword arguments in Python, the command line, request bodies and the page all use this table.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, make_dataclass
from functools import cached_property
from typing import Annotated, Any, get_type_hints

from pydantic import Field

from seq2see.errors import UserError
from seq2see.rules import SHORT_SOURCE
from seq2see.validation import STRICT, checked

MOST_BEAMS = 64
MOST_POSITIONS = 2**15  # tokens, for a model without a position table
DEFAULT_LENGTH = 512  # tokens, if neither the checkpoint nor the caller sets a limit
SAMPLING = {"temperature": 1.0, "top_k": 0, "top_p": 1.0}  # one of them turns on sampling; the defaults


def option(least: float, most: float, description: str) -> Any:
    return field(default=None, metadata={"ge": least, "le": most, "description": description})


@dataclass(frozen=True)
class DecodingOptions:
    """The options of a search for translations; None means the checkpoint's default.

    Samples depend only on `seed`, the source and the index of the alternative.  Every hypothesis begins with the ids of
    `prefix`: the language tag and the caller's prefix.  `GenerationDefaults.resolve` sets it.

    Raises:
        UserError: an option out of bounds.
    """

    alternatives: int | None = option(1, MOST_BEAMS, "number of hypotheses for each text, best first")
    num_beams: int | None = option(1, MOST_BEAMS, "beam width; 1 is greedy search")
    max_new_tokens: int | None = option(
        1, MOST_POSITIONS, "maximum tokens of a hypothesis, including its language tag and </s>")
    length_penalty: float | None = option(-10, 10, "values above 1 favour longer hypotheses")
    repetition_penalty: float | None = option(0.1, 10, "values above 1 penalise tokens already written")
    no_repeat_ngram_size: int | None = option(0, 100, "size of n-grams that must not repeat; 0: no limit")
    temperature: float | None = option(0.01, 100, "sampling temperature")
    top_k: int | None = option(0, 2**20, "sample from the k most probable tokens; 0: from all")
    top_p: float | None = option(0.001, 1, "sample from the smallest set of tokens with this total probability")
    seed: int | None = option(0, 2**53 - 1, "random seed: the same seed gives the same samples")
    prefix: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        checked(Bounds, {name: getattr(self, name) for name in OPTIONS})
        if self.sampling and self.num_beams not in (None, 1):
            raise UserError(f"num_beams is {self.num_beams}, but sampling (temperature, top_k, top_p) has no beams",
                            exit_code=2)

    @property
    def sampling(self) -> bool:
        return self.temperature is not None or self.top_k is not None or self.top_p is not None

    def searches_as(self, other: "DecodingOptions") -> bool:
        """Whether two resolved options differ only in options that do not change the probability of a translation."""
        may_differ = ("alternatives", "num_beams", "seed")
        return all(getattr(self, name) == getattr(other, name) for name in OPTIONS if name not in may_differ)

    @property
    def penalised(self) -> bool:
        """Whether the search changes the model's probabilities, so that its scores are not sums of log-probabilities.
        """
        return self.repetition_penalty not in (None, 1) or bool(self.no_repeat_ngram_size)

    def normaliser(self, tokens: int) -> float:
        """The divisor that turns a hypothesis's log-probability into its score."""
        return float(max(tokens, 1) ** (1.0 if self.length_penalty is None else self.length_penalty))


OPTIONS = {one.name: one for one in fields(DecodingOptions) if one.metadata}
Bounds = make_dataclass("Bounds", [(name, one.type, field(metadata=one.metadata)) for name, one in OPTIONS.items()],
                        namespace={"__pydantic_config__": STRICT})
NO_OPTIONS = DecodingOptions()


Id = Annotated[int, Field(ge=0)]


@dataclass(frozen=True)
class GenerationSettings:
    """The numbers that are read from a generation_config.json, with their bounds; other settings are ignored."""

    __pydantic_config__ = STRICT
    num_beams: Annotated[int, Field(ge=1)] | None = None
    max_length: Annotated[int, Field(ge=2)] | None = None
    min_length: int | None = None
    length_penalty: float | None = None
    repetition_penalty: Annotated[float, Field(gt=0)] | None = None
    no_repeat_ngram_size: Id | None = None
    eos_token_id: Id | list[Id] | None = None
    pad_token_id: int | None = None
    bos_token_id: Id | None = None
    decoder_start_token_id: Id | None = None
    forced_bos_token_id: Id | None = None
    forced_eos_token_id: Id | list[Id] | None = None
    bad_words_ids: list[list[Id]] | None = None
    suppress_tokens: list[int] | None = None
    begin_suppress_tokens: list[int] | None = None
    min_new_tokens: int | None = None
    encoder_no_repeat_ngram_size: Id | None = None
    encoder_repetition_penalty: Annotated[float, Field(gt=0)] | None = None


def settings_not_taken(config: Mapping[str, Any]) -> list[str]:
    """The settings of a checkpoint that no engine takes: sampling, which is the caller's choice, and searches that
    transformers would load from the Hub.
    """
    found = [name for name in ("do_sample", "penalty_alpha", "stop_strings") if config.get(name)]
    return found + ["num_beam_groups"] * ((config.get("num_beam_groups") or 1) > 1)


def check_generation(config: Mapping[str, Any], *, tokens: object, where: str) -> None:
    """Check the settings of a generation_config.json.

    Raises UserError if a setting has a wrong type, or if a start or end token is not among the `tokens`, if their
    number is known.
    """
    checked(GenerationSettings, {name: config.get(name) for name in get_type_hints(GenerationSettings)}, where=where)
    for name in ("eos_token_id", "decoder_start_token_id"):
        ids = config.get(name)
        for id in [ids] if isinstance(ids, int) else ids or ():
            if isinstance(tokens, int) and id >= tokens:
                raise UserError(f"{name} in {where} is {id}, and the model has {tokens} tokens: copy the file again")


@dataclass(frozen=True)
class GenerationDefaults:
    """A checkpoint's defaults for decoding, from generation_config.json, and the number of positions of its model."""

    config: Mapping[str, Any]
    positions: int | None  # None: no limit (T5)

    @property
    def source_sentences(self) -> int:
        """The maximum number of sentences in a source: as in training, if the checkpoint records it."""
        return max(1, int(self.config.get("source_sentences") or 1))

    @property
    def source_tokens(self) -> int | None:
        """The maximum number of tokens in a source: longer ones were not in training, or exceed the positions."""
        seen = self.config.get("source_pieces")
        known = [self.positions, max(seen, SHORT_SOURCE) if seen else None]
        return min((limit for limit in known if limit), default=None)

    @property
    def end(self) -> frozenset[int]:
        """The ids that end a hypothesis."""
        ids = self.config.get("eos_token_id")
        return frozenset([ids] if isinstance(ids, int) else ids or ())

    @cached_property
    def usual(self) -> DecodingOptions:
        """The checkpoint's default options."""
        return self.resolve()

    def resolve(self, options: DecodingOptions = NO_OPTIONS, *, first: int | None = None) -> DecodingOptions:
        """The caller's options, with the checkpoint's defaults for None.

        Sampling is the caller's choice: a checkpoint that samples by default is searched instead.  There are at least
        as many beams as alternatives.  `first` is the id that every hypothesis must begin with (a language tag),
        instead of the checkpoint's default.  Raises UserError for more tokens than positions.
        """
        limit = options.max_new_tokens
        if limit and self.positions and limit > self.positions:
            raise UserError(f"max_new_tokens is {limit}, expected at most {self.positions}", exit_code=2)
        given = {name: value for name, value in self.config.items() if value is not None}
        first = given.get("forced_bos_token_id") if first is None else first
        longest = min(self.positions or DEFAULT_LENGTH, given.get("max_length", DEFAULT_LENGTH + 1) - 1, MOST_POSITIONS)

        def either(name: str, default: Any) -> Any:
            value = getattr(options, name)
            return given.get(name, default) if value is None else value

        alternatives = options.alternatives or 1
        sampled: dict[str, Any] = {name: getattr(options, name) or usual for name, usual in SAMPLING.items()}
        return DecodingOptions(
            alternatives=alternatives,
            num_beams=1 if options.sampling else max(either("num_beams", 1), alternatives),
            max_new_tokens=limit or longest,
            length_penalty=either("length_penalty", 1.0),
            repetition_penalty=either("repetition_penalty", 1.0),
            no_repeat_ngram_size=either("no_repeat_ngram_size", 0),
            **(sampled if options.sampling else {}),
            seed=options.seed or 0,
            prefix=() if first is None else (first,),
        )

"""A wrong setting, option or field gets one line: the key, its value, what was expected."""

import json
from dataclasses import dataclass, field
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seq2see.errors import UserError
from seq2see.serve.apis.bodies import bad_request
from seq2see.serve.apis.v1 import TranslateBody
from seq2see.serve.settings import read_settings
from seq2see.training.config import load_config
from seq2see.translate.decoding import DecodingOptions
from seq2see.validation import STRICT, checked


@dataclass(frozen=True)
class Part:
    path: str
    share: float = field(default=1.0, metadata={"ge": 0, "lt": 1})


@dataclass(frozen=True)
class Whole:
    __pydantic_config__ = STRICT

    count: int = field(default=1, metadata={"ge": 1, "le": 5})
    often: int | None = field(default=None, metadata={"ge": 1})
    name: str | list[str] = "x"
    parts: list[Part] | None = None
    pair: tuple[str, ...] = ()
    how: Literal["a", "b"] = "a"
    on: bool | Literal["force"] = False


@pytest.mark.parametrize(("given", "told"), [
    ({"count": 0}, "count in f is 0, expected at least 1"),
    ({"count": 6}, "count in f is 6, expected at most 5"),
    ({"count": True}, "count in f is true, expected a whole number"),
    ({"count": 2.0}, "count in f is 2.0, expected a whole number"),
    ({"count": "2"}, 'count in f is "2", expected a whole number'),
    ({"count": None}, "count in f is null, expected a whole number"),
    ({"often": 0}, "often in f is 0, expected at least 1"),
    ({"name": 3}, "name in f is 3, expected a text or a list, such as [a, b]"),
    ({"name": ["a", None]}, "name[1] in f is null, expected a text"),
    ({"how": "c"}, "how in f is \"c\", expected 'a' or 'b'"),
    ({"on": 1}, "on in f is 1, expected true or false or 'force'"),
    ({"pair": "ab"}, 'pair in f is "ab", expected a list, such as [a, b]'),
    ({"parts": {}}, "parts in f is {}, expected a list, such as [a, b]"),
    ({"parts": ["a"]}, 'parts[0] in f is "a", expected key: value lines'),
    ({"parts": [{"path": "a"}, {"path": "a", "share": 1}]}, "parts[1].share in f is 1, expected below 1"),
    ({"parts": [{"path": "a", "share": float("nan")}]}, "parts[0].share in f is NaN, expected a finite number"),
    ({"parts": [{"share": 0}]}, "parts[0].path in f: missing"),
    ({"parts": [{"pth": "a"}]}, "parts[0].pth in f: unknown key; did you mean parts[0].path?"),
    ({"cuont": 2, "count": 0}, "cuont in f: unknown key; did you mean count?"),
    ({7: 1}, "7 in f: unknown key; expected one of count, how, name, often, on, pair, parts"),
    ([], "f is [], expected key: value lines"),
])
def test_the_key_the_value_and_what_was_expected(given: Any, told: str) -> None:
    with pytest.raises(UserError) as refused:
        checked(Whole, given, where="f")
    assert (str(refused.value), refused.value.exit_code) == (told, 2)


def test_what_json_spells_as_a_list_or_a_whole_number_is_taken_and_nothing_else_is_changed() -> None:
    made = checked(Whole, {"pair": ["a", "b"], "parts": [{"path": "p", "share": 0}], "often": None, "on": "force"})
    assert made == Whole(pair=("a", "b"), parts=[Part("p", 0.0)], on="force")
    assert type(made.parts[0].share) is float


def options(**fields: Any) -> str:
    with pytest.raises(UserError) as refused:
        DecodingOptions(**fields)
    return str(refused.value)


def body(**fields: Any) -> str:
    with pytest.raises(ValueError) as refused:
        TranslateBody.model_validate_json(json.dumps({"texts": ["a"]} | fields))
    return str(bad_request(refused.value))


def settings(**fields: Any) -> str:
    with pytest.raises(UserError) as refused:
        read_settings(None, [f"{key}={json.dumps(value)}" for key, value in fields.items()])
    return str(refused.value)


def recipe(**fields: Any) -> str:
    with pytest.raises(UserError) as refused:
        load_config("storybook", [f"generation.{key}={json.dumps(value)}" for key, value in fields.items()])
    return str(refused.value)


@pytest.mark.parametrize(("value", "problem"), [
    (0, "expected at least 1"), (2.5, "expected a whole number"), ("4", "expected a whole number"),
    (True, "expected a whole number"),
])
def test_every_way_in_tells_it_in_the_same_words(value: Any, problem: str) -> None:
    """Except that an answer over HTTP, which others may see, does not repeat what was sent."""
    shown = json.dumps(value)
    assert options(num_beams=value) == f"num_beams is {shown}, {problem}"
    assert recipe(num_beams=value) == f"generation.num_beams in storybook is {shown}, {problem}"
    assert settings(beams=value) == f"beams in the command line is {shown}, {problem}"
    assert body(num_beams=value) == f"num_beams: {problem}"


def test_a_body_is_told_its_place_and_never_its_text() -> None:
    secret = "the user's text"
    assert body(texts=["a", [secret]]) == "texts[1]: expected a text"
    assert body(texts=secret) == "texts: expected a list, such as [a, b]"
    assert body(format=secret) == "format: expected 'text' or 'html'"
    assert body(beams=secret) == "beams: unknown key"


ANYTHING = st.recursive(
    st.sampled_from([None, True, "\ud800"]) | st.integers() | st.floats() | st.text(max_size=5) | st.binary(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@given(st.dictionaries(st.sampled_from([*Whole.__dataclass_fields__, "path", "other"]), ANYTHING, max_size=3))
def test_whatever_is_written_it_is_taken_or_told_in_one_line(written: dict[str, Any]) -> None:
    try:
        made = checked(Whole, written, where="f")
    except UserError as error:
        assert "\n" not in str(error) and "Traceback" not in str(error) and error.exit_code == 2
    else:
        assert 1 <= made.count <= 5 and made.how in ("a", "b")

"""Keys, rates, settings: who may, how often, and that a mistake in them costs one clear line."""

import base64
import dataclasses
from importlib import resources
from types import SimpleNamespace

import pytest
import yaml

from seq2see.errors import UserError
from seq2see.serve import access as access_module
from seq2see.serve.access import Access, Caller, read_keys
from seq2see.serve.errors import APIError
from seq2see.serve.settings import ServerSettings, read_settings

KEY = "correct-horse-battery"


def request(address="10.0.0.1", **headers):
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return SimpleNamespace(headers=named, client=SimpleNamespace(host=address))


@pytest.fixture
def keys(tmp_path):
    path = tmp_path / "keys"
    path.write_text(f"# who may\nann {KEY}  # since May\n\nbob another-long-key\n")
    return read_keys(str(path))


@pytest.fixture
def clock(monkeypatch):
    clock = SimpleNamespace(now=100.0)
    monkeypatch.setattr(access_module, "monotonic", lambda: clock.now)
    return clock


# --- keys


def basic(password):
    return "Basic " + base64.b64encode(f"any:{password}".encode()).decode()


@pytest.mark.parametrize("headers", [
    {"authorization": f"Bearer {KEY}"}, {"authorization": f"bearer  {KEY} "}, {"x_api_key": KEY},
    {"authorization": basic(KEY)},
])  # fmt: skip
def test_a_key_is_known_by_its_name(keys, headers):
    assert Access(keys).caller(request(**headers)) == Access(keys).caller(request("10.0.0.2", **headers)) == "ann"


@pytest.mark.parametrize("headers", [
    {}, {"authorization": "Bearer"}, {"authorization": "Bearer wrong-key-entirely"}, {"x_api_key": KEY[:-1]},
    {"x_api_key": KEY.upper()}, {"authorization": "Basic !!!"}, {"authorization": basic("ann")},
    {"authorization": "Bearer \udcff"},
])  # fmt: skip
def test_no_key_or_a_wrong_one_is_refused(keys, headers):
    with pytest.raises(APIError) as api_error:
        Access(keys).caller(request(**headers))
    assert api_error.value.status == 403
    assert not any(value in api_error.value.message for value in headers.values())


def test_without_keys_anybody_may_and_no_token_is_read():
    assert Access().caller(request(authorization="Bearer hf_secret")) == "10.0.0.1"


def test_keys_are_not_kept_as_they_are(keys):
    assert KEY not in repr(keys) and KEY.encode() not in b"".join(keys)


def test_a_key_may_have_a_hash_in_it(tmp_path):
    path = tmp_path / "keys"
    path.write_text("ann abcdefgh#ijklmnop\nbob #abcdefghij\n")
    with pytest.raises(UserError, match="key 2 of"):  # of bob's line only a name is left
        read_keys(str(path))
    path.write_text("ann abcdefgh#ijklmnop # since May\n")
    access = Access(read_keys(str(path)))
    assert access.caller(request(), "abcdefgh#ijklmnop") == "ann"
    with pytest.raises(APIError):
        access.caller(request(), "abcdefgh")


def test_keys_come_from_the_environment_too(monkeypatch):
    monkeypatch.setenv("SEQ2SEE_API_KEYS", f"ann {KEY},bob another-long-key")
    assert sorted(read_keys(None).values()) == ["ann", "bob"]


@pytest.mark.parametrize("line", ["ann", "ann short", f"ann {KEY} more"])
def test_a_line_that_is_no_key_is_told_without_showing_it(tmp_path, line):
    path = tmp_path / "keys"
    path.write_text(line)
    with pytest.raises(UserError, match="key 1 of .*keys: expected a name") as error:
        read_keys(str(path))
    assert KEY not in str(error.value) and "short" not in str(error.value)


def test_a_keys_file_without_keys_does_not_open_the_server(tmp_path):
    (tmp_path / "keys").write_text("# none yet\n")
    with pytest.raises(UserError, match="has no keys"):
        read_keys(str(tmp_path / "keys"))
    with pytest.raises(UserError, match="cannot read the keys"):
        read_keys(str(tmp_path / "nowhere"))


def test_right_keys_are_never_throttled_and_wrong_ones_until_a_while_later(keys, clock):
    """Behind a proxy all callers have one address: wrong keys of one must not lock out the others."""
    access = Access(keys)
    for _ in range(5 * access_module.WRONG_KEYS):
        assert access.caller(request(), KEY) == "ann"
    for _ in range(access_module.WRONG_KEYS):
        with pytest.raises(APIError, match="unknown API key"):
            access.caller(request(), "wrong-key-entirely")
    with pytest.raises(APIError, match="too many wrong API keys") as api_error:
        access.caller(request(), "wrong-key-entirely")
    assert access.caller(request(), KEY) == "ann"
    clock.now += int(api_error.value.headers["Retry-After"])
    with pytest.raises(APIError, match="unknown API key"):
        access.caller(request(), "wrong-key-entirely")


# --- rates


@pytest.fixture
def limited(clock):
    return Access(rate=60)


ANN, BOB = Caller("ann"), Caller("bob")


def test_a_caller_has_so_many_texts_a_minute(limited, clock):
    for _ in range(60):
        limited.spend(ANN, 1)
    with pytest.raises(APIError) as api_error:
        limited.spend(ANN, 1)
    assert (api_error.value.status, api_error.value.code) == (429, "rate_limit")
    clock.now += int(api_error.value.headers["Retry-After"])
    limited.spend(ANN, 1)
    with pytest.raises(APIError):
        limited.spend(ANN, 2)


def test_others_are_not_charged(limited):
    limited.spend(ANN, 60)
    limited.spend(BOB, 60)
    limited.spend(Caller("10.0.0.2"), 60)
    with pytest.raises(APIError):
        limited.spend(ANN, 1)


def test_a_request_larger_than_a_minutes_worth_can_be_made_at_all(limited, clock):
    limited.spend(ANN, 1000)
    with pytest.raises(APIError):
        limited.spend(ANN, 1)
    clock.now += 61
    limited.spend(ANN, 60)


def test_idle_minutes_do_not_add_up(limited, clock):
    for _ in range(3):
        clock.now += 6_000
        limited.spend(ANN, 60)
        with pytest.raises(APIError):
            limited.spend(ANN, 1)


@pytest.mark.parametrize("rate", [1, 7, 60, 600, 100_000])
def test_who_waits_as_long_as_told_is_let_in(rate, clock):
    """And nobody is told to wait for nothing."""
    access = Access(rate=rate)
    for texts in (1, 2, rate // 2 + 1, rate):
        access.spend(ANN, rate)
        with pytest.raises(APIError) as api_error:
            access.spend(ANN, texts)
        seconds = int(api_error.value.headers["Retry-After"])
        assert seconds >= 1
        clock.now += seconds
        access.spend(ANN, texts)
        clock.now += 60


def test_many_addresses_do_not_fill_the_memory(limited, monkeypatch):
    monkeypatch.setattr(access_module, "MOST_ACCOUNTS", 10)
    for number in range(100):
        limited.spend(Caller(str(number)), 1)
    assert len(limited._texts._full_at) == 10


def test_no_rate_means_no_rate():
    Access(rate=0).spend(ANN, 10**9)


# --- settings


def test_the_packaged_file_states_every_key_with_its_default_and_explains_it():
    text = resources.files("seq2see.configs").joinpath("serve.yaml").read_text("utf-8")
    tree = yaml.safe_load(text)
    assert list(tree) == [one.name for one in dataclasses.fields(ServerSettings)]
    assert all(" # " in line for line in text.splitlines() if line and line[0] != "#")
    plain = {key: list(value) if isinstance(value, tuple) else value
             for key, value in dataclasses.asdict(ServerSettings()).items()}
    assert tree == plain


def test_a_file_and_overrides_make_settings(tmp_path):
    path = tmp_path / "s.yaml"
    path.write_text("texts: 3\nwait_ms: 2\ncors_origins: [https://a.example]\n")
    made = read_settings(str(path), ["texts=4", "page=false"])
    assert (made.texts, made.wait_ms, made.cors_origins, made.page) == (4, 2.0, ("https://a.example",), False)


@pytest.mark.parametrize(("text", "told"), [
    ("txets: 3", r"unknown key txets in .*; did you mean texts\?"),
    ("texts: many", "texts in .* is 'many': Input should be a valid integer"),
    ("texts: true", "valid integer"),
    ("texts: 0", "greater than or equal to 1"),
    ("texts: 1.5", "valid integer"),
    ("wait_ms: .inf", "finite number"),
    ("wait_ms: .nan", "finite number"),
    ("page: 1", "valid boolean"),
    ("cors_origins: '*'", "valid list, such as"),
    ("frame_ancestors: ['a.example; script-src *']", "frame_ancestors in .*match pattern"),
    ("frame_ancestors: [\"a\\nb\"]", "frame_ancestors in .*match pattern"),
    ("keys_file: 3", "valid string"),
    ("- texts", "contains list"),
    ("a: [", "is not YAML"),
    ("3: 4", "unknown key 3"),
])  # fmt: skip
def test_a_mistake_in_a_file_is_one_clear_line(tmp_path, text, told):
    path = tmp_path / "s.yaml"
    path.write_text(text)
    with pytest.raises(UserError, match=told) as error:
        read_settings(str(path))
    assert error.value.exit_code == 2 and "\n" not in str(error.value)


@pytest.mark.parametrize("override", ["texts", "texts=", "=3", "texts=[", "texst=3"])
def test_a_mistake_in_an_override_is_one_clear_line(override):
    with pytest.raises(UserError) as error:
        read_settings(None, [override])
    assert error.value.exit_code == 2


def test_by_default_this_machine_is_called_by_its_own_names_only():
    settings = ServerSettings()
    assert "*" not in settings.hosts("127.0.0.1") and "localhost" in settings.hosts("127.0.0.1")
    assert settings.hosts("0.0.0.0") == ["*"]
    assert ServerSettings(allowed_hosts=("mt.example",)).hosts("127.0.0.1") == ["mt.example"]

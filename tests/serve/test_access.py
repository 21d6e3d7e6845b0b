"""Keys, rates, settings: who may, how often, and that a mistake in them costs one clear line."""

import base64
import dataclasses
from contextlib import suppress
from importlib import resources
from types import SimpleNamespace

import pytest
import yaml

from seq2see.errors import UserError
from seq2see.serve import access as access_module
from seq2see.serve.access import AccessControl, Caller, read_keys
from seq2see.serve.api_errors import APIError
from seq2see.serve.settings import ServerSettings, read_settings

KEY = "correct-horse-battery"
ANN, BOB = Caller("ann"), Caller("bob")


def request(**headers):
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return SimpleNamespace(headers=named, client=SimpleNamespace(host="10.0.0.1"))


def basic(password):
    return "Basic " + base64.b64encode(f"any:{password}".encode()).decode()


@pytest.fixture
def keys(tmp_path, monkeypatch):
    monkeypatch.setenv("SEQ2SEE_API_KEYS", "cid another-long-key,dan one-more-long-key")
    path = tmp_path / "keys"
    path.write_text(f"\ufeff# who may\nann {KEY}  # since May\n\nbob with#a-hash\n", "utf-8")
    return read_keys(str(path))


@pytest.fixture
def clock(monkeypatch):
    clock = SimpleNamespace(now=100.0)
    monkeypatch.setattr(access_module, "monotonic", lambda: clock.now)
    return clock


# --- keys


@pytest.mark.parametrize(("headers", "name"), [
    ({"authorization": f"bearer  {KEY} "}, "ann"), ({"x_api_key": "with#a-hash"}, "bob"),
    ({"authorization": basic(KEY)}, "ann"), ({"x_api_key": "another-long-key"}, "cid"),
    ({"x_api_key": "with#a-hash", "authorization": basic("of-the-proxy-before")}, "bob"),
])
def test_a_key_is_known_by_its_name_and_not_kept_as_it_is(keys, headers, name):
    assert AccessControl(keys).authenticate(request(**headers)) == Caller(name, "10.0.0.1")
    assert KEY not in repr(keys)


@pytest.mark.parametrize("headers", [
    {}, {"authorization": "Bearer"}, {"x_api_key": KEY[:-1]}, {"x_api_key": KEY.upper()},
    {"authorization": "Basic !!!"}, {"authorization": basic("ann")}, {"authorization": "Bearer \udcff"},
])
def test_no_key_or_a_wrong_one_is_refused_and_not_repeated(keys, headers):
    with pytest.raises(APIError) as refused:
        AccessControl(keys).authenticate(request(**headers))
    assert refused.value.status == 403
    assert not any(value in refused.value.message for value in headers.values())


@pytest.mark.parametrize(("text", "told"), [
    ("ann short", "line 1 of .*keys: expected a name"), (f"ann {KEY} more", "line 1 of .*keys: expected a name"),
    ("bob #abcdefghij", "line 1 of"), ("# none yet", "has no keys"),
    (f"# two\n\nann {KEY}\nbob {KEY}", "line 4 of .* that no other name has"), ("ann Schlüssel", "ASCII characters"),
])
def test_a_keys_file_that_is_none_opens_no_server_and_is_told_without_showing_it(tmp_path, monkeypatch, text, told):
    if told != "has no keys":
        monkeypatch.setenv(access_module.KEYS_VARIABLE, "carl another-long-key,")
    (tmp_path / "keys").write_text(text, "utf-8")
    with pytest.raises(UserError, match=told) as refused:
        read_keys(str(tmp_path / "keys"))
    assert not {KEY, "short", "abcdefghij"} & set(str(refused.value).split())


def test_right_keys_are_never_throttled_and_wrong_ones_until_a_while_later(keys, clock):
    """Behind a proxy all callers have one address: wrong keys of one must not lock out the others."""
    access = AccessControl(keys)
    for _ in range(5 * access_module.WRONG_KEYS):
        assert access.authenticate(request(), KEY).account == "ann"
    for _ in range(access_module.WRONG_KEYS):
        with pytest.raises(APIError, match="unknown API key"):
            access.authenticate(request(), "wrong-key-entirely")
    with pytest.raises(APIError, match="too many wrong API keys") as refused:
        access.authenticate(request(), "wrong-key-entirely")
    assert access.authenticate(request(), KEY).account == "ann"
    clock.now += int(refused.value.headers["Retry-After"])
    with pytest.raises(APIError, match="unknown API key"):
        access.authenticate(request(), "wrong-key-entirely")


# --- rates


@pytest.mark.parametrize("amounts", [[1] * 60, [60], [25, 25, 10]])
def test_in_no_sixty_seconds_more_is_allowed(clock, amounts):
    limited, allowed = AccessControl(texts_per_minute=60), []
    for _ in range(4 * 300):
        clock.now += 0.1
        for amount in amounts:
            with suppress(APIError):
                limited.check_rate(ANN, amount)
                allowed.append((clock.now, amount))
    most = max(sum(amount for when, amount in allowed if 0 <= when - start < 59.999) for start, _ in allowed)
    assert most == 60 and sum(amount for _, amount in allowed) == 120


def test_a_list_waits_for_as_much_as_it_needs(clock):
    limited = AccessControl(texts_per_minute=60)
    for amount in (40, 20):
        limited.check_rate(ANN, amount)
        clock.now += 10
    for amount, seconds in ((1, 40), (40, 40), (41, 50), (60, 50)):
        with pytest.raises(APIError) as refused:
            limited.check_rate(ANN, amount)
        assert refused.value.headers["Retry-After"] == str(seconds)
    clock.now += 40
    limited.check_rate(ANN, 40)


def test_a_list_that_no_minute_allows_is_not_told_to_wait(clock):
    with pytest.raises(APIError, match="61 texts: at most 60 a minute are allowed") as refused:
        AccessControl(texts_per_minute=60).check_rate(ANN, 61)
    assert (refused.value.status, refused.value.code) == (400, "too_many_texts") and not refused.value.headers
    AccessControl().check_rate(ANN, 100_000)


def test_accounts_that_were_idle_for_a_minute_are_forgotten(clock):
    limited = AccessControl(texts_per_minute=60)
    for number in range(5):
        limited.check_rate(Caller(f"other {number}"), 1)
    clock.now += 61
    limited.check_rate(ANN, 1)
    assert list(limited._texts._spent) == ["ann"]


def test_others_are_not_charged_and_idle_minutes_do_not_add_up(clock):
    limited = AccessControl(texts_per_minute=60)
    for _ in range(3):
        clock.now += 6_000
        limited.check_rate(ANN, 60)
        limited.check_rate(BOB, 60)
        with pytest.raises(APIError) as refused:
            limited.check_rate(ANN, 1)
        assert (refused.value.status, refused.value.code) == (429, "rate_limit")


def test_of_too_many_accounts_the_least_recently_active_is_forgotten_first(monkeypatch, clock):
    """Who goes on sending stays limited, however many others come."""
    monkeypatch.setattr(access_module, "MOST_ACCOUNTS", 3)
    limited = AccessControl(texts_per_minute=60)
    for number in range(20):
        clock.now += 0.001
        limited.check_rate(ANN, 2)
        limited.check_rate(Caller(f"other {number}"), 60)
    for caller in (ANN, Caller("other 19"), Caller("other 18")):
        with pytest.raises(APIError, match="more than 60 texts per minute"):
            limited.check_rate(caller, 60)
    limited.check_rate(Caller("other 3"), 60)  # forgotten


@pytest.mark.parametrize("rate", [1, 7, 600, 100_000])
def test_who_waits_as_long_as_told_is_let_in(rate, clock):
    """And nobody is told to wait for nothing."""
    access = AccessControl(texts_per_minute=rate)
    for texts in (1, min(2, rate), rate // 2 + 1, rate):
        access.check_rate(ANN, rate)
        with pytest.raises(APIError) as refused:
            access.check_rate(ANN, texts)
        seconds = int(refused.value.headers["Retry-After"])
        assert seconds >= 1
        clock.now += seconds
        access.check_rate(ANN, texts)
        clock.now += 60


# --- settings


def test_the_packaged_file_states_every_key_with_its_default_and_explains_it():
    text = resources.files("seq2see.configs").joinpath("serve.yaml").read_text("utf-8")
    assert all(" # " in line for line in text.splitlines() if line and line[0] != "#")
    defaults = dataclasses.asdict(ServerSettings())
    plain = {key: list(value) if isinstance(value, tuple) else value for key, value in defaults.items()}
    assert yaml.safe_load(text) == plain


def test_a_file_and_overrides_make_settings(tmp_path):
    path = tmp_path / "s.yaml"
    path.write_text("texts: 3\nwait_ms: 2\ncors_origins: [https://a.example]\n")
    made = read_settings(str(path), ["texts=4", "page=false"])
    assert (made.texts, made.wait_ms, made.cors_origins, made.page) == (4, 2.0, ("https://a.example",), False)


@pytest.mark.parametrize(("text", "told"), [
    ("txets: 3", r"^txets in .*: unknown key; did you mean texts\?"),
    ("texts: 0", "^texts in .*s.yaml is 0, expected at least 1$"),
    ("wait_ms: .inf", "wait_ms in .* is Infinity, expected a finite number"),
    ("cors_origins: '*'", 'cors_origins in .* is "\\*", expected a list, such as'),
    ("cors_origins: [https://a.example/]", r"cors_origins\[0\] in .*: expected an origin such as .*, without a slash"),
    ("trusted_proxies: [nginx]", r"trusted_proxies\[0\] in .*: expected an IP address, a network such as 10.0.0.0/8"),
    ("frame_ancestors: ['a.example; script-src *']", r"frame_ancestors\[0\] in .*, expected a text that matches"),
    ("texts: true", "texts in .* is true, expected a whole number"),
    ("rate: 3", "^rate in .*: unknown key"),
    ("root_path: /mt/", 'root_path in .*: expected a folder such as /mt, without a slash at the end'),
    ("a: [", "is not YAML"),
    ("characters: 10\nbeams: 2\ncharacters: 20", "characters is set twice, in lines 1 and 3"),
])
def test_a_mistake_in_a_file_is_one_clear_line(tmp_path, text, told):
    path = tmp_path / "s.yaml"
    path.write_text(text)
    with pytest.raises(UserError, match=told) as refused:
        read_settings(str(path))
    assert refused.value.exit_code == 2 and "\n" not in str(refused.value)


def test_by_default_this_machine_is_called_by_its_own_names_only():
    settings = ServerSettings()
    assert settings.hosts("127.0.0.1") == ["127.0.0.1", "localhost", "[::1]"]
    assert settings.hosts("0.0.0.0") == ["*"]
    assert ServerSettings(allowed_hosts=("mt.example",)).hosts("127.0.0.1") == ["mt.example"]

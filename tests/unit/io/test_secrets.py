"""What is taken out of texts, and what stays."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mtlspec.io.secrets import clean_address, without_secrets


@pytest.fixture(autouse=True)
def no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for part in ("URI", "USERNAME", "PASSWORD", "TOKEN"):
        monkeypatch.delenv(f"MLFLOW_TRACKING_{part}", raising=False)


@pytest.mark.parametrize(
    ("address", "clean"),
    [
        ("http://TOKEN@host:5000/base", "http://host:5000/base"),
        ("http://me:p@ss@word@host", "http://host"),
        ("https://me:p/s?s#@host/api", "https://host/api"),
        ("HTTP://me:pw@host", "HTTP://host"),
        ("http://me:@host", "http://host"),
        ("postgresql+psycopg2://me:pw@host:99/db?password=pw&sslmode=x", "postgresql+psycopg2://host:99/db?password=***&sslmode=***"),
        ("me:pw@host:5000", "host:5000"),
        ("http://mlflow:pw@mlflow.example/mlflow", "http://mlflow.example/mlflow"),
        ("sqlite:////home/a@b/mlflow.db", "sqlite:////home/a@b/mlflow.db"),
        ("file:///home/a@b/mlruns", "file:///home/a@b/mlruns"),
        ("http://host:5000", "http://host:5000"),
        ("databricks", "databricks"),
    ],
)  # fmt: skip
def test_an_address_says_where_it_leads_and_nothing_else(address: str, clean: str) -> None:
    assert clean_address(address) == clean
    assert clean_address(clean) == clean


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("No adapter for 'foo://me:pw@host/x'", "No adapter for 'foo://host/x'"),
        ("with url: /get?name=study&token=abc (Caused", "with url: /get?name=***&token=*** (Caused"),
        ("{'Authorization': 'Bearer a.b-c', 'Accept': '*/*'}", "{'Authorization': '***', 'Accept': '*/*'}"),
        ("authorization: Basic bWU6cHc=\nHost: x", "authorization: ***\nHost: x"),
        ("Set-Cookie: session=abc; Path=/", "Set-Cookie: ***; Path=/"),
        ("X-Api-Key: abc, password=abc", "X-Api-Key: ***, password=***"),
        ("sent Bearer abcdefgh", "sent Bearer ***"),
        ("cls_token: [CLS], tokens: 3200, a basic idea", "cls_token: [CLS], tokens: 3200, a basic idea"),
    ],
)
def test_urls_queries_and_headers_are_cleaned_wherever_they_stand(text: str, clean: str) -> None:
    assert without_secrets(text) == clean


def test_what_the_variables_hold_is_known_in_every_form(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_USERNAME", "annabelle")
    monkeypatch.setenv("MLFLOW_TRACKING_PASSWORD", "hunter")
    monkeypatch.setenv("MLFLOW_TRACKING_TOKEN", "t0k3n")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://bob:s%40cret@host")
    text = "annabelle hunter2 xt0k3nx YW5uYWJlbGxlOmh1bnRlcg== s@cret s%40cret Ym9iOnNAY3JldA== (bob) bobsled"
    assert without_secrets(text) == "*** ***2 x***x *** *** *** *** (***) bobsled"


def test_a_user_called_like_mlflow_leaves_messages_readable() -> None:
    text = "API request to /api/2.0/mlflow/runs at mlflow.example failed for mlflow."
    cleaned = "API request to /api/2.0/mlflow/runs at mlflow.example failed for ***."
    assert without_secrets(text, "http://mlflow:pw@mlflow.example") == cleaned


@given(
    st.text(st.characters(codec="ascii", categories=("L", "N", "P", "S")), min_size=4),
    st.sampled_from(["http://{}@host/x", "https://me:{}@host", "mysql+pymysql://me:{}@host:1/db", "{}@host"]),
)
def test_no_password_survives_whatever_it_is_made_of(password: str, form: str) -> None:
    secret = f"Zq{password}"  # not a part of what is around it
    address = form.format(secret)
    assert secret not in clean_address(address)
    assert secret not in without_secrets(f"RestException: {secret}, asked {address}.", address)

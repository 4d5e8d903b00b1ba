from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.config import Config, config_from_arguments, load_config, load_guardrails
from audit.errors import AuditError, ConfigError
from audit.guardrail import Guardrail

MODELS = '[models]\nbaseline = "a.parquet"\ncandidate = "b.parquet"\n'


@pytest.fixture
def load(tmp_path):
    def _load(text: str | bytes) -> Config:
        path = tmp_path / "audit.toml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return load_config(path)

    return _load


@pytest.fixture
def refusal(load, tmp_path):
    """The message for a file, without the file's name, which every line begins with."""

    def _refusal(text: str | bytes) -> str:
        with pytest.raises(ConfigError) as caught:
            load(text)
        prefix = f"{tmp_path / 'audit.toml'}: "
        lines = str(caught.value).splitlines()
        assert all(line.startswith(prefix) for line in lines)
        return "\n".join(line.removeprefix(prefix) for line in lines)

    return _refusal


def test_the_designs_example_is_read(load):
    config = load(
        """
        [audit]
        name = "Home feed, candidate 7"
        surface = "feed"
        k = [50, 1, 3, 10, 10]
        viewport = 10
        as_of = 2013-07-15

        [models]
        baseline = "baseline.parquet"
        candidate = ["seed1.parquet", "seed2.parquet"]

        [relevance]
        path = "relevance.parquet"
        source = "judgments"

        [catalog]
        path = "catalog.parquet"
        creator_id = "director"

        [history]
        path = "history.parquet"

        [guardrails]
        profile = "launch"
        "tail_share@10" = { max_drop = 0.10, relative = true }
        "catalog_coverage@10" = [{ max_drop = 1, severity = "warn" }, { min = 0.2, segment = "country" }]
        """
    )
    assert config.audit.name == "Home feed, candidate 7"
    assert config.audit.k == [1, 3, 10, 50]
    assert config.audit.as_of == dt.date(2013, 7, 15)
    assert config.audit.seed == 0
    assert config.models["candidate"] == ["seed1.parquet", "seed2.parquet"]
    assert config.catalog is not None
    assert config.catalog.creator_id == "director"
    assert config.users is None
    assert config.guardrails["tail_share@10"] == Guardrail(max_drop=0.1, relative=True)
    assert config.guardrails["catalog_coverage@10"] == [
        Guardrail(max_drop=1.0, severity="warn"),
        Guardrail(min=0.2, segment="country"),
    ]


def test_defaults(load):
    config = load(MODELS)
    assert config.audit.k == [1, 3, 10]
    assert config.audit.viewport == 10
    assert config.audit.surface == "feed"
    assert config.guardrails == {"profile": "launch"}
    assert config.conventions.gain == "exponential"


def test_paths_stay_as_written(load):
    assert load(MODELS).models == {"baseline": "a.parquet", "candidate": "b.parquet"}


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("2013-07-15", dt.date(2013, 7, 15)),
        ("2013-07-15T12:00:00", dt.datetime(2013, 7, 15, 12)),  # noqa: DTZ001  local, as written
        ("2013-07-15T12:00:00Z", dt.datetime(2013, 7, 15, 12, tzinfo=dt.UTC)),
    ],
)
def test_as_of_is_a_date_or_a_time(load, written, read):
    as_of = load(f"[audit]\nas_of = {written}\n{MODELS}").audit.as_of
    assert as_of == read
    assert type(as_of) is type(read)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            f"[audit]\nviewpoint = 3\n{MODELS}",
            "[audit]: unknown key 'viewpoint'. Did you mean 'viewport'? Valid: name, surface, k, viewport, "
            "as_of, baseline, metrics, plugins, seed, least_cell.",
        ),
        (
            MODELS + '[relevence]\npath = "r.csv"\n',
            "unknown section 'relevence'. Did you mean 'relevance'? Valid: audit, models, "
            "recommendations, relevance, catalog, creators, history, users, pools, eligible, impressions, clicks, "
            "conventions, engine, guardrails, findings.",
        ),
        (
            MODELS + '[conventions]\ngian = "linear"\n',
            "[conventions]: unknown key 'gian'. Did you mean 'gain'?",
        ),
        (
            MODELS + '[guardrails]\n"ndcg@10" = { max_dorp = 0.1, max_rise = 1 }\n',
            "[guardrails] \"ndcg@10\": unknown key 'max_dorp'. Did you mean 'max_drop'? Valid: max_drop, "
            "max_rise, min, max, non_inferior, superior, equivalent, relative, target, severity, segment, evidence.",
        ),
        (
            MODELS
            + '[guardrails]\n"ndcg@10" = [{ max_drop = 0.1 }, { max_drop = 0.1, segmnt = "x" }]\n',
            "[guardrails] \"ndcg@10\" entry 2: unknown key 'segmnt'. Did you mean 'segment'?",
        ),
    ],
)
def test_unknown_keys_name_the_place_and_the_nearest(refusal, text, message):
    found = refusal(text)
    assert found.startswith(message)
    assert len(found.splitlines()) == 1


def test_a_misspelt_required_section_is_said_once(refusal):
    found = refusal('[modles]\nbaseline = "a"\ncandidate = "b"\n')
    assert found.startswith("unknown section 'modles'. Did you mean 'models'?")
    assert "missing" not in found


def test_a_missing_section_and_a_missing_key(refusal):
    assert refusal("") == "[models] is missing."
    assert refusal(MODELS + "[relevance]\ngrade = 'rating'\n") == "[relevance] path is missing."


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('viewport = "10"', '[audit] viewport: expected a whole number; found "10".'),
        ("viewport = 1.5", "[audit] viewport: expected a whole number; found 1.5."),
        ("viewport = true", "[audit] viewport: expected a whole number; found true."),
        (
            "viewport = 0",
            "[audit] viewport: should be greater than or equal to 1; found 0.",
        ),
        ("name = 7", "[audit] name: expected text in quotes; found 7."),
        ("k = 10", "[audit] k: expected a list in [ ]; found 10."),
        ("k = []", "[audit] k: needs at least 1; found none."),
        ("k = [1, 'x']", '[audit] k entry 2: expected a whole number; found "x".'),
        ("k = [0]", "[audit] k: K starts at 1."),
        (
            'as_of = "2013-07-15"',
            "[audit] as_of: expected a date without quotes, such as 2013-07-15; found "
            '"2013-07-15".',
        ),
        (
            "as_of = 12:30:00",
            "[audit] as_of: expected a date without quotes, such as 2013-07-15; found 12:30:00.",
        ),
        (
            'surface = "fed"',
            "[audit] surface: unknown value 'fed'. Did you mean 'feed'? Valid: single_answer, list, "
            "find_all, grid, feed, candidates.",
        ),
    ],
)
def test_wrong_values_in_audit(refusal, line, message):
    assert refusal(f"[audit]\n{line}\n{MODELS}") == message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("audit = 3\n" + MODELS, "[audit]: expected a table; found 3."),
        (
            "[models]\nbaseline = 3\ncandidate = 'b'\n",
            "[models] baseline: expected text in quotes or a list in [ ]; found 3.",
        ),
        (
            "[models]\nbaseline = 'a'\ncandidate = ['b', 3]\n",
            "[models] candidate entry 2: expected text in quotes; found 3.",
        ),
        (
            MODELS + "[relevance]\npath = 'r'\ngrades = { 5 = 3.5 }\n",
            "[relevance] grades 5: expected a whole number; found 3.5.",
        ),
        (
            MODELS + "[relevance]\npath = 'r'\nthreshold = 4\ngrades = { 5 = 3 }\n",
            "[relevance]: give grades or threshold, not both.",
        ),
        (
            MODELS + '[guardrails]\n"ndcg@10" = 0.1\n',
            '[guardrails] "ndcg@10": expected a table; found 0.1.',
        ),
        (
            MODELS + '[guardrails]\n"ndcg@10" = [3]\n',
            '[guardrails] "ndcg@10" entry 1: expected a table; found 3.',
        ),
        (
            MODELS + '[guardrails]\n"ndcg@10" = { max_drop = "x" }\n',
            '[guardrails] "ndcg@10" max_drop: expected a number; found "x".',
        ),
        (
            MODELS + '[guardrails]\n"ndcg@10" = { max_drop = true }\n',
            '[guardrails] "ndcg@10" max_drop: expected a number; found true.',
        ),
        (
            MODELS + '[guardrails]\n"ndcg@10" = { max_drop = inf }\n',
            '[guardrails] "ndcg@10" max_drop: should be a finite number; found inf.',
        ),
        (
            MODELS + '[guardrails]\n"ndcg@10" = { min = nan }\n',
            '[guardrails] "ndcg@10" min: should be a finite number; found nan.',
        ),
        (
            MODELS + '[guardrails]\n"ndcg@10" = { max_drop = 0.1, relative = 1 }\n',
            '[guardrails] "ndcg@10" relative: expected true or false; found 1.',
        ),
        (
            MODELS + '[guardrails]\n"ndcg@10" = { max_drop = 0.1, min = 0 }\n',
            '[guardrails] "ndcg@10": give exactly one of max_drop, max_rise, min, max, non_inferior, superior, equivalent.',
        ),
        (
            MODELS + '[guardrails]\n"ndcg@10" = { min = 0.1, relative = true }\n',
            '[guardrails] "ndcg@10": min bounds the value itself and cannot be relative.',
        ),
        (
            MODELS + '[guardrails]\n"ndcg@10" = "launch"\n',
            '[guardrails]: "ndcg@10" needs a bound, such as { max_drop = 0.1 }.',
        ),
        (
            MODELS + '[guardrails]\n"ndcg@10" = true\n',
            '[guardrails]: "ndcg@10" needs a bound; false leaves out those of the profile.',
        ),
        (
            MODELS + '[guardrails]\n"ndcg@10" = { superior = false }\n',
            '[guardrails] "ndcg@10" superior: superior is true, or the margin by which it must be better.',
        ),
        (
            MODELS + '[guardrails]\n"ndcg@10" = { equivalent = 0 }\n',
            '[guardrails] "ndcg@10" equivalent: should be greater than 0; found 0.',
        ),
        (
            MODELS + '[guardrails]\n"ndcg@10" = { max = 1, target = 0.3 }\n',
            '[guardrails] "ndcg@10": max bounds the value itself and has no target.',
        ),
        (
            MODELS + '[guardrails]\n"ndcg@10" = { max_drop = 1, target = 0, relative = true }\n',
            '[guardrails] "ndcg@10": nothing is relative to a target of 0; leave out relative.',
        ),
        (
            MODELS + '[guardrails]\n"ndcg@10" = { min = 0.1, segment = ["country", "country"] }\n',
            '[guardrails] "ndcg@10" segment: segment names one attribute, or several different ones.',
        ),
        (
            MODELS + '[guardrails]\ndeclared_on = "last week"\n',
            "[guardrails]: declared_on is a day, such as 2013-07-15: when they were settled.",
        ),
        (
            MODELS + "[guardrails]\ndeclared_by = 7\n",
            "[guardrails]: declared_by is a name in quotes: who settled the guardrails.",
        ),
        (
            MODELS + "[guardrails]\nprofile = { max_drop = 0.1 }\n",
            '[guardrails]: profile is a name, such as "launch".',
        ),
        (
            "[models]\nbaseline = 'a'\n",
            "[models] needs the baseline and at least one candidate.",
        ),
        (
            "[models]\nold = 'a'\nnew = 'b'\n",
            "[models] has no 'baseline', the baseline; it has old, new.",
        ),
    ],
)
def test_wrong_values_elsewhere(refusal, text, message):
    assert refusal(text) == message


def test_every_problem_is_told_at_once(refusal):
    found = refusal(f"[audit]\nviewport = 'x'\nsede = 1\n{MODELS}[history]\n").splitlines()
    assert [line.split(":")[0] for line in found] == [
        "[audit] viewport",
        "[audit]",
        "[history] path is missing.",
    ]


def test_a_missing_file_points_to_init(tmp_path):
    with pytest.raises(ConfigError, match=r"audit\.toml: there is no such file.*recaudit init"):
        load_config(tmp_path / "audit.toml")


def test_a_folder_is_not_a_file(tmp_path):
    with pytest.raises(ConfigError, match=r"cannot be read: Is a directory\."):
        load_config(tmp_path)


def test_toml_errors_name_the_line(refusal):
    assert "at line 2, column" in refusal("[audit]\nname = Home feed\n")
    assert refusal("[audit]\n[audit]\n").startswith("is not valid TOML: Cannot declare")


def test_bytes_that_are_no_text(refusal):
    assert refusal(b"# caf\xe9\n") == "is not UTF-8 text (byte 6)."


@given(st.binary(max_size=60) | st.text(max_size=60).map(str.encode))
def test_anything_at_all_is_read_or_refused_readably(tmp_path_factory, content):
    path = tmp_path_factory.getbasetemp() / "any.toml"
    path.write_bytes(content)
    try:
        config = load_config(path)
    except AuditError as error:
        assert str(error).startswith(f"{path}: ")
    else:
        assert len(config.models) >= 2


TOML_VALUES = st.recursive(
    st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.dates() | st.times(),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=5), inner, max_size=2),
    max_leaves=4,
)  # fmt: skip


@given(
    section=st.sampled_from(list(Config.model_fields)),
    key=st.sampled_from(["k", "path", "profile", "ndcg@10", "baseline", "segments", "zzz"]),
    value=TOML_VALUES,
)
def test_any_value_anywhere_is_taken_or_explained(section, key, value):
    from pydantic import ValidationError

    from audit.config import _toml_place
    from audit.validation import sentences

    data = {"models": {"baseline": "a", "candidate": "b"}, section: {key: value}}
    try:
        Config.model_validate(data, strict=True)
    except ValidationError as error:
        found = sentences(error, data, Config, _toml_place)
        assert found
        assert all(text.endswith(".") for text in found)


class TestFromArguments:
    def test_paths_and_settings(self):
        config = config_from_arguments(
            baseline="a.csv",
            candidates=["b.csv"],
            relevance="r.csv",
            catalog="i.csv",
            k=[10, 1],
            viewport=None,
            as_of="2013-07-15",
            guardrails="none",
        )
        assert config.models == {"baseline": "a.csv", "candidate": "b.csv"}
        assert config.relevance is not None
        assert config.relevance.path == "r.csv"
        assert config.history is None
        assert config.audit.k == [1, 10]
        assert config.audit.viewport == 10
        assert config.audit.as_of == dt.date(2013, 7, 15)
        assert config.guardrails == {"profile": "none"}

    def test_names(self):
        config = config_from_arguments(
            baseline="eigenrec=runs/e.csv", candidates=["ease=b=1.csv", "runs/itemknn.csv.gz"]
        )
        assert config.audit.baseline == "eigenrec"
        assert config.models == {
            "eigenrec": "runs/e.csv",
            "ease": "b=1.csv",
            "itemknn": "runs/itemknn.csv.gz",
        }

    def test_a_path_with_an_equals_sign_that_exists_is_a_path(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        Path("day=1").mkdir()
        config = config_from_arguments(baseline="a.csv", candidates=["day=1"])
        assert config.models["candidate"] == "day=1"

    def test_two_models_of_one_name(self):
        with pytest.raises(ConfigError, match=r"there is a model 'x' already; give it a name"):
            config_from_arguments(baseline="a.csv", candidates=["x/x.csv", "y/x.csv"])

    @pytest.mark.parametrize(
        ("settings", "message"),
        [
            ({"surface": "gird"}, "--surface: unknown value 'gird'. Did you mean 'grid'?"),
            ({"viewport": 0}, "--viewport: should be greater than or equal to 1; found 0."),
            ({"k": [0]}, "--k: K starts at 1."),
            ({"seed": -1}, "--seed: should be greater than or equal to 0; found -1."),
            ({"as_of": "yesterday"}, "--as-of yesterday: write a date such as 2013-07-15"),
        ],
    )
    def test_wrong_settings_are_named_as_options(self, settings, message):
        with pytest.raises(ConfigError) as caught:
            config_from_arguments(baseline="a.csv", candidates=["b.csv"], **settings)
        assert str(caught.value).startswith(message)

    def test_a_time_with_a_zone(self):
        config = config_from_arguments(
            baseline="a.csv", candidates=["b.csv"], as_of="2013-07-15T12:00:00+00:00"
        )
        assert config.audit.as_of == dt.datetime(2013, 7, 15, 12, tzinfo=dt.UTC)

    @pytest.mark.parametrize("pools", [["q.csv"], ["other=q.csv"], ["baseline=p", "baseline=q"]])
    def test_a_pool_is_of_one_model(self, pools):
        with pytest.raises(ConfigError, match=r"--pool NAME=PATH. The models are baseline, candid"):
            config_from_arguments(baseline="a.csv", candidates=["b.csv"], pools=pools)


def test_guardrails_of_every_word_and_who_declared_them(load):
    config = load(
        MODELS
        + """[guardrails]
declared_by = "Ranking council"
declared_on = 2024-05-17
"ndcg@10" = [{ superior = true }, { superior = 0.01 }, { non_inferior = 0.02, relative = true }]
"ild@10" = { equivalent = 0.01, evidence = "point", segment = ["country", "gender"] }
"recall@10" = { max_drop = 0.1, relative = true, target = 0.4 }
"novelty@10" = false
"""
    ).guardrails
    assert [entry.superior for entry in config["ndcg@10"]] == [0, 0.01, None]
    assert config["ild@10"].evidence == "point"
    assert config["novelty@10"] is False
    kept = load_guardrails_again(config)
    assert kept["declared_on"] == "2024-05-17"
    assert kept["ndcg@10"][0] == {
        "superior": 0.0,
        "relative": False,
        "severity": "fail",
        "evidence": "interval",
    }


def load_guardrails_again(guardrails):
    """As a result keeps them."""
    from audit.arguments import plain_guardrails

    return plain_guardrails(guardrails)


def test_guardrails_alone_are_read_from_any_file_that_has_them(tmp_path):
    path = tmp_path / "other.toml"
    path.write_text('title = "of nothing else"\n[guardrails]\nndcg = { min = 0.1 }\n')
    assert load_guardrails(path) == {"ndcg": Guardrail(min=0.1)}
    path.write_text("[guardrails]\nndcg = { mni = 0.1 }\n")
    with pytest.raises(
        ConfigError,
        match=r"other\.toml: \[guardrails\] ndcg: unknown key 'mni'. Did you mean 'min'",
    ):
        load_guardrails(path)
    path.write_text("[guardrail]\n")
    with pytest.raises(ConfigError, match=r"other\.toml: has no section \[guardrails\]"):
        load_guardrails(path)

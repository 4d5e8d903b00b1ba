from __future__ import annotations

import json
import xml.etree.ElementTree as ET

import pytest

from benchmarks import __main__ as command
from benchmarks import plot, publish, tables
from benchmarks.publish import BEGIN, END
from benchmarks.scales import SCALES
from benchmarks.summary import medians


def run(scale, task, kind, wall, **more):
    return {
        "scale": scale, "task": task, "kind": kind, "round": 0, "wall": wall, "cpu": wall, "peak": 2e9,
        "error": None, "stages": {}, "values": {}, **more,
    }  # fmt: skip


@pytest.fixture
def record():
    stages = {"reading": 2.0, "measuring": 1.0, "comparing": 1.0, "in all": 4.5}
    return {
        "machine": {
            "processor": "A processor", "cores": 2, "memory": 16e9, "system": "Linux x86_64",
            "python": "3.11.7", "load": 0.1, "versions": {"numpy": "2.4.6"},
        },
        "repeat": 5,
        "data": {
            "S": {"users": 20_000, "items": 20_000, "bytes": {}},
            "S-5000": {"users": 20_000, "items": 5_000, "bytes": {}},
            "M": {"users": 200_000, "items": 100_000, "bytes": {}},
        },
        "runs": [
            run("S", "full", "string", 0.5),
            run("S", "full", "integer", 0.4),
            run("S-5000", "full", "integer", 0.2),
            run("M", "full", "string", 5.0, stages=stages),
            run("M", "accuracy", "string", 2.0, stages=stages),
            run("M", "pyarrow", "string", 1.0),
            run("M", "ranx", "string", 40.0, values={"ndcg@10": [0.5, "default"]}),
        ],
        "references": {"M": {"default": {"ndcg@10": 0.5}}},
        "unavailable": {"evidently": "cannot be installed: no"},
        "costs": {
            "scale": "S",
            "wall": {"base": 0.3, "metric ild": 0.35, "models 3": 0.5},
            "cpu": {"base": 0.4, "metric ild": 0.5, "models 3": 0.75},
        },
    }  # fmt: skip


def cells(table):
    return [[cell.strip() for cell in line[1:-1].split("|")] for line in table.splitlines()]


def test_a_table_is_aligned_markdown():
    assert tables.table(["", "s"], [["one", "1.0"], ["eleven", "11.0"]]) == (
        "|        |    s |\n| ------ | ---: |\n| one    |  1.0 |\n| eleven | 11.0 |"
    )


def test_times_give_the_ratio_of_our_full_audit(record):
    rows = cells(tables.times(medians(record), "M"))
    ranx = next(row for row in rows if row[0].startswith("ranx"))
    assert ranx[1:] == ["string", "40.00", "40.00", "40.00", "40.00", "2.00", "0.12"]


def test_stages(record):
    rows = cells(tables.stages(medians(record), "M"))
    assert rows[0] == ["seconds", "ids", "reading", "measuring", "comparing", "in all"]
    assert rows[2][2:] == ["2.00", "1.00", "1.00", "4.50"]


def test_limits_are_judged_at_their_scale_or_shown_at_another(record):
    rows = {row[0]: row[1:] for row in cells(tables.limits(medians(record)))}
    assert rows["full audit, string ids / ranx"] == ["M", "0.15 ×", "0.12 ×", "holds"]
    assert rows["full audit, string ids / reading with pyarrow"] == [
        "L",
        "4.00 ×",
        "5.00 ×",
        "at M",
    ]
    assert rows["full audit, string ids / RecTools"] == ["M", "0.50 ×", "", "not measured"]


def test_growth(record):
    rows = {row[0]: row[1:] for row in cells(tables.growth(record, medians(record)))}
    assert rows["users, string ids"] == ["20,000 200,000", "0.500 5.00", "1.00"]
    assert rows["items, 20,000 users"] == ["5,000 20,000", "0.200 0.400", "0.50"]


def test_growth_needs_two_sizes(record):
    record["runs"] = record["runs"][-1:]
    assert tables.growth(record, medians(record)) == "Measured at one size only."


def test_stages_of_others_only(record):
    record["runs"] = record["runs"][-1:]
    assert tables.stages(medians(record), "M") == ""


def test_costs(record):
    rows = cells(tables.costs(record))
    assert rows[3] == ["metric ild", "0.350", "0.500", "+0.10"]
    assert tables.costs({"costs": None}) == "Not measured."
    record["costs"]["richer"] = ["metric sdcg"]
    for of in ("wall", "cpu"):
        record["costs"][of] |= {"base, richer": 2.0, "metric sdcg": 2.5}
    assert cells(tables.costs(record))[-1] == ["metric sdcg", "2.50", "2.50", "+0.50"]
    record["costs"]["unmeasured"] = {"sdcg": "no sessions", "nsdcg": "no sessions"}
    last = tables.costs(record).splitlines()[-1]
    assert last == "Not measured, because no sessions: sdcg, nsdcg."


def test_agreement(record):
    assert cells(tables.agreement(record))[2] == ["ranx", "M", "1", "1", "0e+00", ""]
    record["references"]["M"]["default"]["ndcg@10"] = 0.4
    assert cells(tables.agreement(record))[2] == ["ranx", "M", "1", "0", "1e-01", "ndcg@10"]


def test_everything_names_what_was_left_out(record):
    text = tables.everything(record, medians(record))
    assert "- evidently: cannot be installed: no" in text
    assert "### M: 200,000 users, 100,000 items" in text
    assert "### S:" not in text  # measured for the growth only


def test_a_busy_machine_is_said_to_be_busy(record):
    assert "load" not in tables.machine_text(record)
    record["machine"]["load"] = 2.5
    assert "load 2.5 before the runs" in tables.machine_text(record)


class TestPublish:
    def test_only_what_is_between_the_markers_changes(self):
        text = f"before\n{BEGIN}\nold\n{END}\nafter\n"
        once = publish.between(text, "new")
        assert once == f"before\n{BEGIN}\n\nnew\n\n{END}\nafter\n"
        assert publish.between(once, "new") == once

    @pytest.mark.parametrize("text", ["", BEGIN, END, f"{END}{BEGIN}"])
    def test_without_markers(self, text):
        with pytest.raises(ValueError):
            publish.between(text, "new")

    def test_the_page_has_its_markers(self):
        page = (publish.HERE / "README.md").read_text(encoding="utf-8")
        assert publish.between(page, "new").count("new") >= 1

    def test_the_page_and_the_figure(self, record, tmp_path):
        (tmp_path / "README.md").write_text(f"{BEGIN}\n{END}\n", encoding="utf-8")
        publish.publish(record, medians(record), tmp_path)
        page = (tmp_path / "README.md").read_text(encoding="utf-8")
        assert f"({publish.FIGURE})" in page
        assert "A processor, 2 cores, 16 GB" in page
        figure = ET.parse(tmp_path / publish.FIGURE)
        text = " ".join(figure.getroot().itertext())
        assert "ranx, string ids" in text
        assert "exponent 1.00" in text


def test_the_figure_of_little(record, tmp_path):
    record["runs"], record["costs"] = record["runs"][:1], None
    plot.draw(record, medians(record), tmp_path / "figure.png")
    assert (tmp_path / "figure.png").stat().st_size > 1_000


class TestCommand:
    def test_the_issues_command(self):
        asked = command.parser().parse_args(
            ["--scale", "M", "--peers", "rectools,ranx", "--json", "FILE"]
        )
        assert asked.scale == (SCALES["M"],)
        assert asked.peers == ("rectools", "ranx")
        assert asked.repeat == 5
        assert asked.ids == ("integer", "string")
        assert asked.costs == SCALES["S"]

    def test_all_and_none(self):
        parse = command.parser().parse_args
        assert parse(["--peers", "all"]).peers == tuple(command.PEERS)
        assert parse(["--peers", "none"]).peers == ()
        assert parse(["--costs", "none"]).costs is None
        assert [s.name for s in parse(["--scale", "S,L"]).scale] == ["S", "L"]

    @pytest.mark.parametrize(
        "wrong",
        [
            ["--peers", "nobody"],
            ["--scale", "Q"],
            ["--repeat", "0"],
            ["--only", "x"],
            ["--ids", "x"],
        ],
        ids=str,
    )
    def test_what_is_refused(self, wrong, capsys):
        with pytest.raises(SystemExit) as stopped:
            command.parser().parse_args(wrong)
        assert stopped.value.code == 2
        assert wrong[1] in capsys.readouterr().err or wrong[0] == "--repeat"

    def test_a_saved_record_is_shown_again(self, record, tmp_path, capsys):
        (tmp_path / "record.json").write_text(json.dumps(record), encoding="utf-8")
        again = tmp_path / "again.json"
        command.main(["--from", str(tmp_path / "record.json"), "--json", str(again)])
        assert "full audit, string ids / ranx" in capsys.readouterr().out
        saved = json.loads(again.read_text(encoding="utf-8"))
        judged = {one["title"]: one for one in saved["limits"]}
        assert judged["full audit, string ids / ranx"]["status"] == "holds"
        assert saved["agreement"][0]["agrees"]
        assert [m["wall"] for m in saved["medians"] if m["task"] == "ranx"] == [40.0]

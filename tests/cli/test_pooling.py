from __future__ import annotations

import pandas as pd
import pytest

from audit.cli import main  # noqa: F401  the command is there


@pytest.fixture
def configured(tmp_path):
    for model, items in (("a", [1, 2]), ("b", [3, 1])):
        pd.DataFrame({"user_id": [7, 7], "item_id": items, "rank": [1, 2]}).to_csv(
            tmp_path / f"{model}.csv", index=False
        )
    pd.DataFrame({"user_id": [7, 7], "item_id": [1, 2], "grade": [1, 0]}).to_csv(
        tmp_path / "r.csv", index=False
    )
    path = tmp_path / "audit.toml"
    path.write_text('[models]\nbaseline = "a.csv"\nb = "b.csv"\n[relevance]\npath = "r.csv"\n')
    return path


def test_the_queue_is_written_and_never_lost(cli, configured, tmp_path):
    out = tmp_path / "q.csv"
    done = cli("pool", configured, "--out", out)
    assert done.code == 0, done.err
    assert (
        f"wrote {out}: 1 items to judge" in done.out or f"wrote {out}: 1 item to judge" in done.out
    )
    [row] = pd.read_csv(out).to_dict("records")
    assert (row["user_id"], row["item_id"], row["model"], row["rank"]) == (7, 3, "b", 1)
    again = cli("pool", configured, "--out", out)
    assert again.code == 2
    assert "somebody may have filled it in" in again.err
    assert cli("pool", configured, "--out", out, "--force", "--both", "--limit", 5).code == 0


def test_where_it_cannot_be_written(cli, configured, tmp_path):
    done = cli("pool", configured, "--out", tmp_path / "absent" / "q.csv")
    assert done.code == 2
    assert "cannot be written" in done.err

"""Which ranker do users prefer?  From the log of interleaved lists to a decision."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from audit.clicks.interleaving.sequential import confidence_sequence
from audit.clicks.log import ImpressionLog, missing, read_log
from audit.clicks.resample import buckets_of, divide, percentiles, replicated, units_of
from audit.dataset.model import F64, I64
from audit.errors import ConfigError
from audit.inputs.times import NONE

if TYPE_CHECKING:
    import pandas as pd

ALPHA = 0.05
SUSPICIOUS = 0.001
"""A validity check fails below this p."""


@dataclass(frozen=True, eq=False, kw_only=True)
class InterleavingResult:
    """Who won, by how much, and whether the experiment is sound."""

    wins_a: int
    wins_b: int
    ties: int
    """With as much credit for both; lists without a click are among them unless they were dropped."""
    no_click: int
    """Lists without a click."""
    delta_ab: float
    """(wins of A + ½ ties) / lists − ½: above 0, A is preferred (Chapelle, Joachims, Radlinski & Yue, TOIS 30, 2012)."""
    ci_low: float
    ci_high: float
    """95 %, bootstrap of users (of lists where there are no users)."""
    p_value: float
    """Exact sign test over users' preferences (over lists where there are none)."""
    winner: str | None
    """``A`` or ``B`` where the interval excludes 0 and the checks hold; else ``None``."""
    sequence: pd.DataFrame
    """``n``, ``low``, ``high``: Δ's confidence sequence after each list or user; may be looked at any time."""
    stopped_at: int | None
    """The first n at which the sequence excluded 0."""
    checks: pd.DataFrame
    """``check``, ``value``, ``expected``, ``p_value``, ``holds``."""
    valid: bool
    reasons: list[str]
    """Checks that failed, in words."""
    pairs: pd.DataFrame
    """Of several rankers: ``a``, ``b``, ``wins_a``, ``wins_b``, ``ties``, ``delta_ab``, ``p_value`` of each pair."""
    unit: str

    def __str__(self) -> str:
        who = f"{self.winner} is preferred" if self.winner else "no preference shown"
        text = (
            f"{who}: Δ_AB = {self.delta_ab:+.4f} (95 % {self.ci_low:+.4f} to {self.ci_high:+.4f}), A {self.wins_a:,}, "
            f"B {self.wins_b:,}, ties {self.ties:,}, p = {self.p_value:.3g}"
        )
        return "\n".join([text, *(f"  not valid: {reason}" for reason in self.reasons)])


def interleaving_result(
    log: Any, *, no_click: Literal["tie", "drop"] = "tie", shared_prefix: Literal["keep", "drop"] = "keep",
    a: str | None = None, b: str | None = None, seed: int = 0, columns: Mapping[str, str] | None = None,
) -> InterleavingResult:  # fmt: skip
    """Decide from a log of interleaved lists.

    A click is worth the row's ``credit`` (positive for A) where the log has one, else 1 for its ``team``.  A log with
    ``rank_a`` and ``rank_b`` alone is one of balanced interleaving: who has more of the clicked items above the depth at
    which the lowest click could be found.

    Parameters
    ----------
    log
        ``impression_id``, ``item_id``, ``position``, ``click``, and ``team``, ``credit`` or ``rank_a`` and ``rank_b``; ``user_id``
        and ``timestamp`` where there are.
    no_click
        Lists without a click: ``tie``, or ``drop`` (left out of Δ).
    shared_prefix
        ``drop``: clicks on top positions that both rankers fill alike count for nobody (needs ``rank_a``, ``rank_b``).  They cannot
        tell the rankers apart, and whose they are is chance.
    a, b
        Names of two teams, where they are not A and B or there are more than two.

    Raises
    ------
    InputError, ConfigError
        The log cannot be read, or has nothing to give credit by.
    """
    if no_click not in ("tie", "drop") or shared_prefix not in ("keep", "drop"):
        raise ConfigError("no_click is 'tie' or 'drop', shared_prefix 'keep' or 'drop'.")
    read = read_log(log, columns=columns)
    starts = read.starts[:-1]
    one, other = _teams(read, a, b)
    clicked = read.click.astype(np.float64)
    if shared_prefix == "drop":
        clicked = np.where(_shared(read), 0.0, clicked)
    score, credit = _scores(read, clicked, one, other)
    any_click = np.add.reduceat(clicked, starts) > 0
    kept = any_click if no_click == "drop" else np.ones(len(starts), bool)
    sign = np.sign(np.where(np.abs(score) < 1e-12, 0.0, score))
    if not kept.any():
        raise ConfigError("interleaving: no list has a click that counts.")
    unit, units = units_of(read)
    unit_of_list = units[starts][kept]
    sign, number = sign[kept], int(kept.sum())
    bucket, buckets = buckets_of(np.unique(unit_of_list, return_inverse=True)[1], seed)
    sums = np.stack(
        [np.bincount(bucket, sign, buckets), np.bincount(bucket, minlength=buckets)], axis=1
    ).astype(np.float64)
    low, high = percentiles(replicated([sums], [lambda s: 0.5 * divide(s[..., 0], s[..., 1])], seed))  # fmt: skip
    preference = _by_unit(unit_of_list, sign)
    p = _sign_test(int((preference > 0).sum()), int((preference < 0).sum()))
    checks, reasons = _checks(read, credit, one)
    sequence, stopped = _sequence(read, starts[kept], unit_of_list, sign, unit)
    delta = 0.5 * float(sign.sum()) / number
    decided = not reasons and (low[0] > 0 or high[0] < 0)
    return InterleavingResult(
        wins_a=int((sign > 0).sum()), wins_b=int((sign < 0).sum()), ties=int((sign == 0).sum()),
        no_click=int((~any_click).sum()), delta_ab=delta, ci_low=float(low[0]), ci_high=float(high[0]), p_value=p,
        winner=("A" if delta > 0 else "B") if decided else None, sequence=sequence, stopped_at=stopped,
        checks=checks, valid=not reasons, reasons=reasons, pairs=_pairs(read, clicked, kept), unit=unit,
    )  # fmt: skip


def _teams(log: ImpressionLog, a: str | None, b: str | None) -> tuple[int, int]:
    """The codes of the two teams that are compared; −1 where the log has none."""
    if log.team is None:
        return -1, -1
    names = [a or log.teams[0], b or (log.teams[1] if len(log.teams) > 1 else "")]
    for name in names:
        if name and name not in log.teams:
            raise ConfigError(f"interleaving: no team '{name}'; the teams are {', '.join(log.teams)}.")  # fmt: skip
    return log.teams.index(names[0]), log.teams.index(names[1]) if names[1] else -2


def _scores(log: ImpressionLog, clicked: F64, one: int, other: int) -> tuple[F64, F64 | None]:
    """Each list's credit, positive for A; and each row's, where rows have one."""
    starts = log.starts
    if log.credit is not None and (log.team is None or len(log.teams) <= 2):
        credit = log.complete("credit", "to give credit for clicks")
    elif log.team is not None:
        credit = np.where(log.team == one, 1.0, np.where(log.team == other, -1.0, 0.0))
    elif log.rank_a is not None and log.rank_b is not None:
        return _balanced(log, clicked), None
    else:
        why = "to know whose click it is ('credit', or 'rank_a' and 'rank_b', would also do)"
        raise ConfigError(missing("team", why))
    return np.add.reduceat(clicked * credit, starts[:-1]), credit


def _balanced(log: ImpressionLog, clicked: F64) -> F64:
    """Clicks among the first k of A less those among the first k of B (Joachims, 2002).

    k is the least depth at which A or B holds the lowest clicked item.
    """
    starts = log.starts[:-1]
    list_of = np.repeat(np.arange(len(starts)), np.diff(log.starts))
    assert log.rank_a is not None and log.rank_b is not None
    ranks = [np.where(np.isnan(r), np.inf, r) for r in (log.rank_a, log.rank_b)]
    place = np.where(clicked > 0, log.position, 0)
    lowest = np.maximum.reduceat(place, starts)[list_of]
    nearest = np.minimum(*ranks)
    k = np.maximum.reduceat(np.where((place == lowest) & (place > 0), nearest, 0.0), starts)[list_of]  # fmt: skip
    found = [np.add.reduceat(clicked * (r <= k), starts) for r in ranks]
    return np.asarray(found[0] - found[1])


def _shared(log: ImpressionLog) -> Any:
    """Rows of the top positions that both rankers fill alike."""
    if log.rank_a is None or log.rank_b is None:
        raise ConfigError(missing("rank_a", "(with rank_b) to know which positions the rankers share"))  # fmt: skip
    same = (log.rank_a == log.position) & (log.rank_b == log.position)
    # All rows above in the list are the same, too.
    broken = np.cumsum(~same)
    before = np.concatenate(([0], broken))[log.starts[:-1]]
    return broken == np.repeat(before, np.diff(log.starts))


def _by_unit(unit: I64, sign: F64) -> F64:
    return np.bincount(np.unique(unit, return_inverse=True)[1], sign).astype(np.float64)


def _sign_test(wins: int, losses: int) -> float:
    """Two-sided and exact; 1 where nobody won."""
    from scipy.stats import binomtest

    return float(binomtest(wins, wins + losses).pvalue) if wins + losses else 1.0


def _checks(log: ImpressionLog, credit: F64 | None, one: int) -> tuple[pd.DataFrame, list[str]]:
    """What holds of any sound experiment, whoever is better."""
    import pandas as pd
    from scipy.special import ndtr
    from scipy.stats import binomtest

    rows: list[tuple[str, float, float, float]] = []
    starts = log.starts
    if log.team is not None and len(log.teams) == 2:
        first = log.team[starts[:-1]]
        first = first[first >= 0]
        if len(first):
            own = int((first == one).sum())
            rows.append(("first_slot_share", own / len(first), 0.5, float(binomtest(own, len(first)).pvalue)))  # fmt: skip
    if credit is not None and len(log.teams) <= 2:
        # A click on a row drawn at random from the list is worth this.
        random = np.add.reduceat(credit, starts[:-1]) / np.diff(starts)
        spread = float(random.std(ddof=1)) / np.sqrt(len(random)) if len(random) > 1 else 0.0
        value = float(random.mean())
        z = abs(value) / spread if spread > 0 else (0.0 if abs(value) < 1e-9 else np.inf)
        rows.append(("credit_of_random_clicks", value, 0.0, float(2 * ndtr(-z))))
    frame = pd.DataFrame(rows, columns=["check", "value", "expected", "p_value"])
    frame["holds"] = frame["p_value"] >= SUSPICIOUS
    words = {
        "first_slot_share": "A fills the first position of {:.1%} of lists, where half is expected",
        "credit_of_random_clicks": "clicks at random are worth {:+.4f} to A, where 0 is expected",
    }
    reasons = [
        f"{words[check].format(value)} (p = {p:.2g}): the lists are not interleaved as they should be"
        for check, value, p, holds in frame[["check", "value", "p_value", "holds"]].itertuples(index=False)
        if not holds
    ]  # fmt: skip
    return frame, reasons


def _sequence(
    log: ImpressionLog, rows: I64, unit: I64, sign: F64, kind: str
) -> tuple[pd.DataFrame, int | None]:
    """Lists in the order of time; of a user, the mean of all their lists, at the time of the last."""
    import pandas as pd

    when = np.arange(len(rows))
    if log.timestamp is not None and (log.timestamp[rows] != NONE).all():
        when = np.argsort(np.argsort(log.timestamp[rows], kind="stable"))
    values, last = sign, when
    if kind == "user":
        of = np.unique(unit, return_inverse=True)[1]
        values = np.bincount(of, sign) / np.bincount(of)
        last = np.zeros(len(values), np.int64)
        np.maximum.at(last, of, when)
    low, high = confidence_sequence((values[np.argsort(last, kind="stable")] + 1) / 2, alpha=ALPHA)
    low, high = low - 0.5, high - 0.5
    out = np.flatnonzero((low > 0) | (high < 0))
    frame = pd.DataFrame({"n": np.arange(1, len(low) + 1), "low": low, "high": high})
    return frame, int(out[0]) + 1 if len(out) else None


def _pairs(log: ImpressionLog, clicked: F64, kept: Any) -> pd.DataFrame:
    """Each pair of teams: who had more clicks in a list (team-draft multileaving)."""
    import pandas as pd

    rows = []
    if log.team is not None and len(log.teams) > 1:
        starts = log.starts[:-1]
        clicks = [np.add.reduceat(clicked * (log.team == i), starts)[kept] for i in range(len(log.teams))]  # fmt: skip
        for i, first in enumerate(log.teams):
            for j in range(i + 1, len(log.teams)):
                wins, losses = int((clicks[i] > clicks[j]).sum()), int((clicks[i] < clicks[j]).sum())  # fmt: skip
                number = len(clicks[i])
                rows.append((first, log.teams[j], wins, losses, number - wins - losses, 0.5 * (wins - losses) / number, _sign_test(wins, losses)))  # fmt: skip
    return pd.DataFrame(rows, columns=["a", "b", "wins_a", "wins_b", "ties", "delta_ab", "p_value"])

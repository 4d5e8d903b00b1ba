"""A surrogate report for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from audit.learning.conflict import SurrogateReport


def text(report: SurrogateReport) -> str:
    """Means, orders, where training looks, and what was found."""
    cut = f"the first {report.truncation}" if report.truncation else "the whole list"
    parts = [
        f"Means over {report.users:,} users\n\n{report.values.to_string(float_format='{:.4f}'.format)}",
        "Do the loss and NDCG order the models alike? (Kendall's τ between −loss and NDCG@K, 95 % interval over users)\n\n"
        + report.table.to_string(index=False, float_format="{:.2f}".format, na_rep="–"),
        f"Where training looks: it sees {cut}, people see {report.viewport}\n"
        "(trained: share of |ΔNDCG| inside the viewport that training sees; spent: share of training's |ΔNDCG| inside the viewport)\n\n"
        + report.attention.to_string(float_format="{:.3f}".format, na_rep="–"),
    ]
    if report.shared_items is not None and report.shared_items < 1:
        parts.append(
            f"Caution: the models share {report.shared_items:.0%} of their items. A loss is over a model's own list and on the scale of its own\n"
            "scores; to compare checkpoints, let each score the same candidates."
        )
    if not report.findings:
        parts.append(f"Nothing found: no loss orders two models against NDCG@{report.viewport}.")
    for finding in report.findings:
        evidence = "\n".join(f"    {label}: {value}" for label, value in finding.evidence.items())
        parts.append(
            f"{finding.severity.upper()} {finding.rule}: {finding.title}\n{evidence}\n  {finding.meaning}\n  {finding.advice}"
        )
    return "\n\n".join(parts)

"""Who read this, and what they decided: a page to be filled in by hand and filed."""

from __future__ import annotations

from audit import formatting as fmt
from audit.render.context import VERDICT_LABELS, Context, listing
from audit.render.view import Section, SignOff, Text


def build(context: Context) -> Section:
    """A reviewer's decision on each candidate."""
    audit, result = context.result.audit, context.result
    breached = [g for g in result.guardrail_results if g.status == "breached"]
    undecided = [g for g in result.guardrail_results if g.status == "undecided"]
    warnings = [f for f in result.findings if f.severity != "info"]
    facts = [
        ("Audit", audit.name),
        ("Compared", f"{listing(audit.candidates)} against the baseline {audit.baseline}"),
        ("Verdict", VERDICT_LABELS[result.verdict]),
        ("Guardrails", f"{fmt.count(len(breached))} breached, {fmt.count(len(undecided))} undecided, of {fmt.count(len(result.guardrail_results))}"),
        ("Findings", f"{fmt.count(len(warnings))} that fail or warn"),
    ]  # fmt: skip
    return Section(
        id="sign-off",
        title="Sign-off",
        blocks=(
            Text(
                text="The verdict above is the tool’s; the decision is a person’s. To be filled in by whoever "
                "answers for the launch and for fairness to creators and users."
            ),
            SignOff(
                id="decision",
                facts=tuple(facts),
                choices=("Launch", "Launch under the conditions below", "Do not launch"),
                fields=(("Conditions", 4), ("Reviewer and role", 1), ("Date", 1), ("Signature", 1)),
            ),
        ),
    )

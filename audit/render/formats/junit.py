"""JUnit XML: each guardrail and each finding is a test case.

A case fails exactly where it keeps the verdict from being a pass or a warning, so that the colour of a
build agrees with the exit code of ``recaudit run``:

=============================================== ==========================================
guardrail breached, severity ``fail``           failure of type ``breached``
guardrail undecided, severity ``fail``          failure of type ``undecided`` (the verdict is
                                                inconclusive: skipping it would hide that)
the same with severity ``warn``                 passes, with a warning in its output
guardrail not measured                          skipped, with the reason
finding of severity ``fail``                    failure of type ``finding``
finding of severity ``warn`` or ``info``        passes, with its text in its output
=============================================== ==========================================
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING

from audit import formatting as fmt
from audit.render.formats import Format
from audit.render.text import visible

if TYPE_CHECKING:
    from audit.result import AuditResult, Finding, GuardrailResult


def document(result: AuditResult) -> ET.Element:
    """The report as an element; a suite a candidate."""
    root = ET.Element("testsuites", name=visible(result.audit.name))
    for verdict in result.verdicts:
        suite = ET.SubElement(root, "testsuite", name=visible(verdict.model))
        properties = ET.SubElement(suite, "properties")
        for name, text in (("verdict", verdict.verdict), ("reason", verdict.reason)):
            ET.SubElement(properties, "property", name=name, value=visible(text))
        for guardrail in result.guardrail_results:
            if guardrail.model == verdict.model:
                _guardrail(suite, guardrail)
        for finding in result.findings:
            if finding.model == verdict.model:
                _finding(suite, finding)
        _count(suite, suite.findall("testcase"))
    _count(root, root.findall("testsuite/testcase"))
    return root


def _count(element: ET.Element, cases: list[ET.Element]) -> None:
    element.set("tests", str(len(cases)))
    for plural, tag in (("failures", "failure"), ("skipped", "skipped")):
        element.set(plural, str(sum(case.find(tag) is not None for case in cases)))
    element.set("errors", "0")


def _case(suite: ET.Element, kind: str, name: str) -> ET.Element:
    return ET.SubElement(
        suite, "testcase", classname=f"{suite.get('name')}.{kind}", name=visible(name)
    )


def _guardrail(suite: ET.Element, g: GuardrailResult) -> None:
    name = (
        g.guardrail
        if g.segment == "all" or g.segment in g.guardrail
        else f"{g.guardrail}, {g.segment}"
    )
    case = _case(suite, "guardrails", name)
    observed = fmt.estimate(
        g.observed, g.ci_low, g.ci_high, g.level, as_percent=g.relative, sign=g.about_change
    )
    text = f"{g.status}: observed {observed}" + (f"; {g.note}" if g.note else "")
    if g.users_to_decide:
        whose = "" if g.segment == "all" else f" of {g.segment}"
        text += f"; about {fmt.counted(g.users_to_decide, 'user')}{whose} would decide"
    if g.status == "not measured":
        ET.SubElement(case, "skipped", message=visible(g.note or "not measured"))
    elif g.status in ("breached", "undecided") and g.severity == "fail":
        ET.SubElement(case, "failure", type=g.status, message=visible(text))
    else:
        warning = "warning: " if g.status in ("breached", "undecided") else ""
        ET.SubElement(case, "system-out").text = visible(warning + text)


def _finding(suite: ET.Element, finding: Finding) -> None:
    case = _case(suite, "findings", f"{finding.rule}: {finding.title}")
    evidence = "\n".join(f"{label}: {text}" for label, text in finding.evidence.items())
    text = visible("\n".join(filter(None, (finding.meaning, evidence, finding.advice))))
    if finding.severity == "fail":
        failure = ET.SubElement(case, "failure", type="finding", message=visible(finding.title))
        failure.text = text
    else:
        ET.SubElement(case, "system-out").text = f"{finding.severity}: {text}"


def render(result: AuditResult) -> bytes:
    """The report of ``result``."""
    root = document(result)
    ET.indent(root)
    body = ET.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{body}\n'.encode()


FORMAT = Format("junit", "junit.xml", "guardrails and findings as test cases (JUnit XML)", render)

"""matplotlib's SVG made small and plain, and made to follow a page's light and dark mode."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

from audit.render.figures.style import FONT_SIZE, TOKENS

SVG = "http://www.w3.org/2000/svg"
XLINK = "{http://www.w3.org/1999/xlink}href"

TIP = "tip: "
"""Begins the name (``gid``) of a mark that says something when pointed at: what follows it."""

_NUMBER = re.compile(r"-?\d+\.\d{2,}")
_COMMAND = re.compile(r" ?([MLCQzZ]) ?")
_REFERENCE = re.compile(r"url\(#([^)]+)\)")
_FONT = re.compile(r"(?:(?P<weight>bold|\d{3}) )?(?P<size>[\d.]+)px (?P<family>.+)")
_SIZE = f"{FONT_SIZE:g}px"
_DEFAULTS = {"stroke-linecap": "butt", "fill-opacity": "1", "stroke-opacity": "1", "opacity": "1"}


def tidy(document: str) -> str:
    """Drop what a figure does not need, and write styles as attributes.

    A content-security policy without ``unsafe-inline`` forbids style attributes and elements.
    Coordinates keep a tenth of a point.
    """
    ET.register_namespace("", SVG)
    root = ET.fromstring(document)
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag in (f"{{{SVG}}}metadata", f"{{{SVG}}}style"):
                parent.remove(child)
    for element in root.iter():
        _plain(element)
    for element in root.iter():
        if element.get("id", "").startswith(TIP):
            element.set("data-tip", element.attrib.pop("id").removeprefix(TIP))
    used = _used(root)
    _once(root)
    for element in root.iter():
        if element.get("id") not in used:
            element.attrib.pop("id", None)
    root.set("stroke-linejoin", "round")
    root.set("font-size", _SIZE)
    _drop_empty(root)
    return ET.tostring(root, encoding="unicode")


def _plain(element: ET.Element) -> None:
    element.tail = None
    if element.tag != f"{{{SVG}}}text":
        element.text = None
    if XLINK in element.attrib:
        element.set("href", element.attrib.pop(XLINK))
    for declaration in filter(None, (element.attrib.pop("style", "")).split(";")):
        name, _, value = (part.strip() for part in declaration.partition(":"))
        if name == "font":
            _font(element, value)
        elif _DEFAULTS.get(name) != value:
            element.set(name, value)
    for name, value in element.attrib.items():
        if name not in ("id", "href", "font-family"):
            short = _NUMBER.sub(lambda m: f"{float(m[0]):.1f}", value)
            short = " ".join(short.split())
            element.set(name, _COMMAND.sub(r"\1", short) if name == "d" else short)
    if element.get("font-size", "").removesuffix("px") == _SIZE.removesuffix("px"):
        del element.attrib["font-size"]  # the root has it
    if element.get("transform", "").startswith(("rotate(0 ", "rotate(-0 ")):
        del element.attrib["transform"]


def _font(element: ET.Element, value: str) -> None:
    match = _FONT.fullmatch(value)
    if match is None:
        raise ValueError(f"unexpected font '{value}' in a figure")
    element.set("font-size", match["size"])
    element.set("font-family", "Noto Sans, Noto Sans Math")
    if match["weight"]:
        element.set("font-weight", match["weight"])


def _used(root: ET.Element) -> set[str]:
    used: set[str] = set()
    for element in root.iter():
        for name, value in element.attrib.items():
            if name == "href":
                used.add(value.removeprefix("#"))
            used.update(_REFERENCE.findall(value))
    return used


def _once(root: ET.Element) -> None:
    """Leave to a mark what its drawing says already."""
    drawings = {e.get("id"): e for e in root.iter() if e.get("id")}
    for use in root.iter(f"{{{SVG}}}use"):
        drawing = drawings.get(use.get("href", "").removeprefix("#"))
        if drawing is not None and "stroke" in drawing.attrib and "fill" not in drawing.attrib:
            for name in ("stroke", "stroke-width"):
                if drawing.get(name) == use.get(name):
                    use.attrib.pop(name, None)


def _drop_empty(root: ET.Element) -> None:
    """Merge groups that say nothing, and drop empty ones."""
    group = f"{{{SVG}}}g"
    for element in root.iter():
        children: list[ET.Element] = []
        for child in element:
            inner = child
            while inner.tag == group and not inner.attrib and len(inner) == 1:
                inner = inner[0]
            if not (inner.tag == group and len(inner) == 0) and not _invisible(inner):
                children.append(inner)
        element[:] = children


def _invisible(element: ET.Element) -> bool:
    """A path without colour that nothing refers to."""
    return (
        element.tag == f"{{{SVG}}}path"
        and element.get("fill") == "none"
        and element.get("stroke", "none") == "none"
        and "id" not in element.attrib
    )


def isolated(document: str, name: str) -> str:
    """``document`` for inlining: ids made unique with ``name``, as wide as its place."""
    return ET.tostring(_isolate(document, name), encoding="unicode")


def themed(document: str, name: str, alt: str) -> str:
    """As :func:`isolated`, with colours as classes, and ``alt`` as its name.

    The page's style sheet gives the classes ``f-…`` (fill) and ``s-…`` (stroke) their colours.
    """
    root = _isolate(document, name)
    for element in root.iter():
        element.attrib.pop("font-family", None)
        classes = [
            f"{attribute[0]}-{TOKENS[value.lower()]}"
            for attribute in ("fill", "stroke")
            if (value := element.get(attribute, "")).lower() in TOKENS
        ]
        for attribute in ("fill", "stroke"):
            if element.get(attribute, "").lower() in TOKENS:
                del element.attrib[attribute]
        if element.tag == f"{{{SVG}}}text" and not classes:
            classes.append("f-ink")
        if classes:
            element.set("class", " ".join(classes))
    root.set("role", "img")
    root.set("aria-label", alt)
    return ET.tostring(root, encoding="unicode")


def _isolate(document: str, name: str) -> ET.Element:
    root = ET.fromstring(document)
    found = [element.attrib["id"] for element in root.iter() if "id" in element.attrib]
    ids = {old: f"{name}-{i}" for i, old in enumerate(found)}
    for element in root.iter():
        for attribute, value in list(element.attrib.items()):
            if attribute == "data-tip":
                continue
            if attribute == "id":
                element.set("id", ids[value])
            elif attribute == "href":
                element.set("href", "#" + ids[value.removeprefix("#")])
            else:
                element.set(attribute, _REFERENCE.sub(lambda m: f"url(#{ids[m[1]]})", value))
    root.set("width", "100%")
    for attribute in ("height", "version"):
        root.attrib.pop(attribute, None)
    return root

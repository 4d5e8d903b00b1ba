"""The report in Debian's Chromium: read, sorted, filtered, switched, printed, and held against WCAG 2.2 AA."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from audit.render.formats.html import document

pytestmark = pytest.mark.browser

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
WIDTHS = (360, 768, 1440)
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright

    assert CHROMIUM, "needs chromium: apt install chromium"
    with sync_playwright() as p:
        found = p.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield found
        found.close()


@pytest.fixture(scope="module")
def pages(views, tmp_path_factory):
    folder = tmp_path_factory.mktemp("reports")
    found = {name: folder / f"{name}.html" for name in views}
    for name, path in found.items():
        path.write_text(document(views[name]), encoding="utf-8")
    return found


@pytest.fixture
def visit(browser, pages):
    """Opens a report; afterwards fails on any message of the console, error or request."""
    contexts, trouble = [], []

    def go(which="full", width=1440, scheme="light", script=True):
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, java_script_enabled=script,
            reduced_motion="reduce", accept_downloads=True,
        )  # fmt: skip
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda m: trouble.append(f"console: {m.text}"))
        page.on("pageerror", lambda e: trouble.append(f"error: {e}"))
        address = pages[which].as_uri()
        page.on(
            "request",
            lambda r: trouble.append(f"request: {r.url}") if r.url.partition("#")[0] != address
            and not r.url.startswith("blob:") else None,
        )  # fmt: skip
        page.goto(address)
        return page

    yield go
    for context in contexts:
        context.close()
    assert trouble == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_axe_finds_nothing(visit, width, scheme):
    from axe_playwright_python.sync_playwright import Axe

    page = visit(width=width, scheme=scheme)
    # The policy forbids scripts that are not the report's own: axe comes in through the debugger.
    found = Axe().run(page, options={"runOnly": RULES})
    assert found.violations_count == 0, found.generate_report()
    assert len(found.response["passes"]) > 25  # it looked


@pytest.mark.parametrize("script", [True, False])
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("which", ["full", "minimal", "many"])
def test_nothing_is_wider_than_the_page(visit, which, width, script):
    page = visit(which, width=width, script=script)
    size = page.locator("html").evaluate("e => [e.scrollWidth, e.clientWidth]") if script else None
    if size is None:
        shot = page.locator("main").bounding_box()
        assert shot is not None
        size = [shot["x"] + shot["width"], width]
    assert size[0] <= size[1]


def test_without_a_script_everything_can_be_read(visit):
    page = visit(script=False)
    assert page.locator("details.variant summary").count() > 0
    assert page.locator(".variant.main table").first.is_visible()
    assert page.locator("button").count() == 0
    page.locator("details.variant summary").first.click()
    assert page.locator("details.variant table").first.is_visible()


def column(table, i: int) -> list[str]:
    return table.locator(f"tbody tr > :nth-child({i + 1})").all_inner_texts()


def test_a_table_is_sorted_by_number_and_back(visit):
    page = visit()
    table = page.locator("#guardrails table")
    heading = table.locator("thead th", has_text="Observed")
    i = table.locator("thead th").all_inner_texts().index("Observed")

    def numbers():
        texts = [row.locator(f":nth-child({i + 1})").first.inner_text() for row in table.locator("tbody tr").all() if row.locator("td").count()]  # fmt: skip
        return [float(t.replace("\u2212", "-").replace("\u202f%", "")) for t in texts]

    heading.locator("button").click()
    assert heading.get_attribute("aria-sort") == "ascending"
    bodies = table.locator("tbody").count()
    found = numbers()
    size = len(found) // bodies
    groups = [found[j * size : (j + 1) * size] for j in range(bodies)]
    assert groups == [sorted(g) for g in groups]
    assert len(set(found)) > 2
    heading.locator("button").press("Enter")
    assert heading.get_attribute("aria-sort") == "descending"
    found = numbers()
    assert found[:size] == sorted(found[:size], reverse=True)


def test_a_table_is_filtered(visit):
    page = visit()
    box = page.get_by_label("Filter rows: Guardrails", exact=False)
    table = page.locator("#guardrails table")
    before = table.locator("tbody tr:visible").count()
    box.fill("tail_share")
    rows = [r for r in table.locator("tbody tr:visible").all() if r.locator("td").count()]
    assert rows
    assert all("tail_share" in r.inner_text() for r in rows)
    assert table.locator("tbody tr:visible").count() < before
    box.fill("")
    assert table.locator("tbody tr:visible").count() == before


def test_k_and_candidate_are_switched_in_place(visit):
    page = visit()
    box = page.locator("#scorecards")
    assert box.locator("table:visible").count() == 1
    assert "NDCG@10" in box.locator("table:visible").inner_text()
    box.get_by_label("K", exact=True).select_option("3")
    assert box.locator("table:visible").count() == 1
    assert "NDCG@3" in box.locator("table:visible").inner_text()
    box.get_by_label("Candidate").select_option("ials")
    assert "ials against eigenrec" in box.locator("table:visible").locator("caption").inner_text()


def test_definitions_and_numbers_are_told_on_focus_and_on_hover(visit):
    page = visit()
    page.locator("#scorecards table:visible a.term", has_text="MAP@10").focus()
    tip = page.locator("#tip")
    assert tip.is_visible()
    assert "What does MAP tell?" in tip.inner_text()
    page.keyboard.press("Escape")
    assert not tip.is_visible()
    page.locator("#trade-off [data-tip]").first.hover()
    assert tip.inner_text().startswith("ease: relevance +51")


def test_numbers_of_a_figure_are_downloaded(visit, tmp_path):
    page = visit()
    page.locator("#deciles summary").click()
    with page.expect_download() as started:
        page.locator("#deciles").get_by_role("button", name="Save CSV").click()
    started.value.save_as(tmp_path / "out.csv")
    lines = (tmp_path / "out.csv").read_text(encoding="utf-8").splitlines()
    assert started.value.suggested_filename == "deciles-data.csv"
    assert lines[0] == '"Tenth","eigenrec","ease","ials","relevance"'
    assert lines[1].split(",")[1] == '"0.58"'  # the number itself, not its rounding
    assert len(lines) == 11


def test_a_link_opens_what_it_leads_to(visit):
    page = visit()
    details = page.locator("#forest details")
    assert details.get_attribute("open") is None
    page.evaluate("location.hash = 'forest-data'")
    page.wait_for_function("document.querySelector('#forest details').open")
    anchor = page.locator(".callout .anchor").first
    assert (anchor.get_attribute("href") or "").startswith("#finding-")


def test_it_prints_whole(visit, tmp_path):
    page = visit()
    page.pdf(path=tmp_path / "print.pdf", prefer_css_page_size=True)
    text = subprocess.run(
        ["pdftotext", "-layout", str(tmp_path / "print.pdf"), "-"], capture_output=True, text=True, check=True
    ).stdout  # fmt: skip
    for part in ("Scorecard: ease against eigenrec", "Every measure of every model", "Sign-off", "Signature"):  # fmt: skip
        assert part in text, part
    assert "Copy CSV" not in text
    assert "first 3 positions" not in text

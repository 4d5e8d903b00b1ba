"""What a visitor installs: the metadata, the pins, the Makefile, and the built wheel."""

from __future__ import annotations

import os
import re
import shutil
import stat
import subprocess
import sys
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]


def pins() -> dict[str, str]:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    found = [line.split("==") for line in lines if not line.startswith("#")]
    return {canonicalize_name(name): version for name, version in found}


def requirements() -> list[Requirement]:
    texts = [*PROJECT["dependencies"], *(text for extra in EXTRAS.values() for text in extra)]
    return [parsed for parsed in map(Requirement, texts) if parsed.name != "recaudit"]


class TestPins:
    def test_each_line_is_one_exact_release(self):
        for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines():
            assert line.startswith("#") or re.fullmatch(
                r"[A-Za-z0-9._-]+==[0-9][0-9A-Za-z.]*", line
            )

    @pytest.mark.parametrize("requirement", requirements(), ids=str)
    def test_each_requirement_is_pinned_within_its_bounds(self, requirement):
        assert requirement.specifier.contains(pins()[canonicalize_name(requirement.name)])

    @pytest.mark.parametrize("requirement", requirements(), ids=str)
    def test_each_requirement_has_a_lower_bound(self, requirement):
        assert [spec.operator for spec in requirement.specifier] == [">="]

    def test_nothing_names_a_package_index(self):
        for name in ("constraints.txt", "pyproject.toml", "Makefile", ".ci/run"):
            text = (ROOT / name).read_text(encoding="utf-8")
            assert not re.search(r"https?://|--(extra-)?index-url|--find-links", text), name


class TestMetadata:
    def test_all_is_every_optional_part(self):
        users = set(EXTRAS) - {
            "all",
            "dev",
            "test",
            "browser",
            "spark",
        }  # Spark is large, and needs Java
        assert EXTRAS["all"] == [f"recaudit[{','.join(sorted(users))}]"]

    def test_the_changelog_knows_this_version(self):
        changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
        assert re.search(rf"^## \[{re.escape(PROJECT['version'])}\]", changelog, re.MULTILINE)

    def test_the_licence_is_the_whole_text(self):
        text = (ROOT / "LICENSE").read_text(encoding="utf-8")
        assert text.split("\n", 2)[:2] == [
            " " * 33 + "Apache License",
            " " * 27 + "Version 2.0, January 2004",
        ]
        assert "   9. Accepting Warranty or Additional Liability." in text
        assert PROJECT["license"] == "Apache-2.0 AND OFL-1.1"
        assert all((ROOT / name).is_file() for name in PROJECT["license-files"])

    def test_the_command_is_there(self):
        from audit import cli

        assert PROJECT["scripts"] == {"recaudit": "audit.cli:main"}
        assert callable(cli.main)

    def test_types_are_shipped(self):
        assert (ROOT / "audit" / "py.typed").is_file()


class TestReadme:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")

    def test_commands_it_shows_are_targets(self):
        makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
        shown = set(re.findall(r"\bmake ([a-z-]+)", self.readme))
        assert {"demo", "test"} <= shown
        assert all(f"\n{target}:" in makefile for target in shown)

    def test_files_it_links_to_exist(self):
        for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")):
            for link in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
                assert "://" in link or (page.parent / link).exists(), f"{page.name}: {link}"

    def test_commands_it_shows_exist(self):
        from audit.cli import app

        commands = {command.name for command in app.registered_commands}
        commands |= {group.name for group in app.registered_groups}
        pages = self.readme + (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
        code = "".join(re.findall(r"```sh\n(.*?)```", pages, re.DOTALL))
        shown = set(re.findall(r"^(?:\.venv/bin/)?recaudit ([a-z-]+)", code, re.MULTILINE))
        assert shown == commands


class TestMakefile:
    @pytest.fixture
    def make(self, tmp_path):
        """``make(target, python)`` in a folder that holds only the Makefile."""
        shutil.copy(ROOT / "Makefile", tmp_path)

        def run(target: str, python: Path) -> subprocess.CompletedProcess[str]:
            return subprocess.run(
                ["make", target, f"PYTHON={python}"],
                cwd=tmp_path,
                capture_output=True,
                text=True,
                check=False,
                env={"PATH": os.environ["PATH"]},
            )

        return run

    @pytest.fixture
    def fake_python(self, tmp_path):
        """A program that answers as a Python of some version does, with or without ``ensurepip``."""

        def write(version: str, *, ensurepip: bool) -> Path:
            path = tmp_path / "fake" / "python"
            path.parent.mkdir()
            new = tuple(map(int, version.split("."))) >= (3, 11)
            path.write_text(
                "#!/bin/sh\n"
                'case "$2" in\n'
                f"*print*) echo {version};;\n"
                f"*ensurepip*) exit {int(not ensurepip)};;\n"
                f"*) exit {int(not new)};;\n"
                "esac\n"
            )
            path.chmod(path.stat().st_mode | stat.S_IXUSR)
            return path

        return write

    def test_an_old_python_is_refused(self, make, fake_python):
        python = fake_python("3.9", ensurepip=True)
        done = make("demo", python)
        assert done.returncode != 0
        assert f"recaudit needs Python 3.11 or newer; found: {python} (3.9)." in done.stderr
        assert "make demo PYTHON=" in done.stderr

    def test_no_python_is_said(self, make, tmp_path):
        done = make("test", tmp_path / "absent")
        assert done.returncode != 0
        assert "recaudit needs Python 3.11 or newer; found: none." in done.stderr

    def test_debians_missing_package_is_named(self, make, fake_python):
        done = make("demo", fake_python("3.12", ensurepip=False))
        assert done.returncode != 0
        assert "apt install python3-venv" in done.stderr
        assert "needs Python" not in done.stderr

    def test_help_names_every_public_target(self, make):
        makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
        targets = re.findall(r"^\.PHONY: ([a-z-]+)$", makefile, re.MULTILINE)
        listed = re.findall(
            r"^  make ([a-z-]+)", make("help", Path(sys.executable)).stdout, re.MULTILINE
        )
        assert listed == targets

    def test_ci_is_a_valid_executable_script(self):
        script = ROOT / ".ci" / "run"
        assert os.access(script, os.X_OK)
        subprocess.run(["bash", "-n", script], check=True)
        assert "make test" in script.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    out = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [
            sys.executable,
            "-m",
            "pip",
            "wheel",
            "--quiet",
            "--no-deps",
            "--wheel-dir",
            out,
            ROOT,
        ],
        check=True,
    )
    return next(out.glob("*.whl"))


@pytest.mark.slow
class TestWheel:
    def test_it_holds_the_package_and_nothing_else(self, wheel):
        names = zipfile.ZipFile(wheel).namelist()
        info = f"recaudit-{PROJECT['version']}.dist-info"
        assert {name.split("/")[0] for name in names} == {"audit", info}
        assert {f"{info}/licenses/LICENSE", f"{info}/licenses/NOTICE"} <= set(names)

    def test_it_holds_every_file_of_the_package(self, wheel):
        package = ROOT / "audit"
        ours = {
            str(path.relative_to(ROOT))
            for path in package.rglob("*")
            if path.is_file() and path.suffix not in (".pyc", ".nbi", ".nbc")
        }
        packed = {name for name in zipfile.ZipFile(wheel).namelist() if name.startswith("audit/")}
        assert packed == ours

    def test_it_runs_from_a_new_environment(self, wheel, tmp_path):
        venv.create(tmp_path / "env", with_pip=True)
        python = tmp_path / "env" / "bin" / "python"
        pinned = ["--constraint", ROOT / "constraints.txt"]
        subprocess.run([python, "-m", "pip", "install", "--quiet", *pinned, wheel], check=True)
        command = tmp_path / "env" / "bin" / "recaudit"

        def run(*arguments: str) -> subprocess.CompletedProcess[str]:
            return subprocess.run(
                [command, *arguments], cwd=tmp_path, capture_output=True, text=True, check=False
            )

        assert run("--version").stdout == f"recaudit {PROJECT['version']}\n"
        assert "NDCG" in run("explain", "ndcg").stdout
        demo = run("demo")
        assert demo.returncode == 2
        assert "Clone the source repository" in demo.stderr

"""The public face: everything in ``audit.__all__``, sorted, importable, documented, and light."""

from __future__ import annotations

import inspect
import subprocess
import sys

import pytest

import audit


def test_names_are_sorted_and_complete():
    assert audit.__all__ == sorted(audit.__all__)
    assert len(set(audit.__all__)) == len(audit.__all__)
    assert set(audit.__all__) == set(audit._HOME)
    assert {"compare", "evaluate", "run", "load_result", "metric"} <= set(audit.__all__)
    assert dir(audit) == audit.__all__


@pytest.mark.parametrize("name", audit.__all__)
def test_everything_public_is_importable_and_documented(name):
    thing = getattr(audit, name)
    doc = inspect.getdoc(thing)
    assert doc
    assert doc.splitlines()[0].endswith((".", ":"))
    assert thing.__module__ == audit._HOME[name]


@pytest.mark.parametrize("name", ["check", "compare", "evaluate", "load_result", "metric", "run"])
def test_functions_say_what_they_take_return_and_raise(name):
    doc = inspect.getdoc(getattr(audit, name))
    assert "Raises\n------" in doc or "raised as" in doc
    signature = inspect.signature(getattr(audit, name))
    assert signature.return_annotation is not inspect.Signature.empty
    assert all(p.annotation is not inspect.Parameter.empty for p in signature.parameters.values())


@pytest.mark.parametrize("name", audit._ROOMS)
def test_rooms_with_a_face_of_their_own_are_importable_and_documented(name):
    room = getattr(audit, name)
    assert room.__name__ == f"audit.{name}"
    assert set(room.__all__) <= set(dir(room))
    assert all(inspect.getdoc(getattr(room, one)) for one in room.__all__)


def test_unknown_names_are_attribute_errors():
    with pytest.raises(AttributeError, match="module 'audit' has no attribute 'comparee'"):
        audit.comparee  # noqa: B018


def test_importing_the_package_pulls_in_nothing_heavy():
    code = (
        "import sys, audit; dir(audit); "
        "heavy = {'numpy', 'pandas', 'pyarrow', 'numba', 'scipy', 'sklearn', 'matplotlib', 'pydantic'}; "
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"

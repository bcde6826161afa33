"""Set-up says in one line what is missing, and does nothing twice."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from book.build import browser, environment
from book.build.places import ROOT
from book.build.report import Refusal, run

FIND = ROOT / "book/build/find_python.sh"


def find_python(folder: Path, argument: str = "") -> subprocess.CompletedProcess[str]:
    """Run the search with only the programs of one folder on the path."""
    return subprocess.run(
        ["/bin/sh", FIND, argument], env={"PATH": str(folder)}, capture_output=True, text=True, check=False
    )


def fake_python(path: Path, version: str, modules: bool = True) -> None:
    """A program that answers the two questions which the search asks a Python."""
    path.write_text(f'#!/bin/sh\ncase "$2" in *ensurepip*) exit {0 if modules else 1};; *) echo {version};; esac\n')
    path.chmod(0o755)


def test_the_first_python_in_range_is_taken_and_a_shim_that_refuses_is_passed_over(tmp_path: Path) -> None:
    fake_python(tmp_path / "python3", "3.14")
    (tmp_path / "python3.13").write_text("#!/bin/sh\necho no such version >&2\nexit 127\n")
    (tmp_path / "python3.13").chmod(0o755)
    fake_python(tmp_path / "python3.12", "3.12")
    assert find_python(tmp_path).stdout == "python3.12\n"


def test_a_python_without_venv_is_passed_over_for_one_that_has_it(tmp_path: Path) -> None:
    fake_python(tmp_path / "python3", "3.11", modules=False)
    fake_python(tmp_path / "python3.12", "3.12")
    assert find_python(tmp_path).stdout == "python3.12\n"


@pytest.mark.parametrize(
    ("programs", "words"),
    [
        ({}, "no Python found"),
        ({"python3": ("3.9", True), "python": ("3.14", True)}, r"is needed; found only 3\.9 3\.14"),
        ({"python3": ("3.11", False)}, r"Python 3\.11 has no venv module: install it .*python3\.11-venv"),
    ],
    ids=["none", "unsupported", "no venv"],
)
def test_what_is_missing_is_one_line(tmp_path: Path, programs: dict[str, tuple[str, bool]], words: str) -> None:
    for name, (version, modules) in programs.items():
        fake_python(tmp_path / name, version, modules)
    done = find_python(tmp_path)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert re.search(words, done.stderr)


def test_a_named_python_is_the_only_candidate(tmp_path: Path) -> None:
    fake_python(tmp_path / "python3", "3.12")
    assert find_python(tmp_path, "python3.10").returncode == 1


@pytest.mark.parametrize(
    ("said", "cause"),
    [
        ("WARNING: Retrying ... NewConnectionError('...')\nERROR: No matching distribution", "no network"),
        (
            "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device",
            "disk is full",
        ),
        ("ERROR: No matching distribution found for x==1", "No matching distribution found for x==1"),
        ("", "gave no reason"),
    ],
)
def test_pip_is_put_into_one_line(said: str, cause: str) -> None:
    line = environment.explain(said)
    assert cause in line
    assert "\n" not in line


def test_too_little_disk_is_refused_before_the_download(tmp_path: Path) -> None:
    with pytest.raises(Refusal, match=r"the disk is full: .* has .* GB free, installing needs"):
        environment.check_disk(tmp_path, needed=10**18)


def test_a_full_disk_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    def main() -> None:
        raise OSError(28, "No space left on device", "page.html")

    with pytest.raises(SystemExit, match=r"^error: the disk is full, at page\.html"):
        run(main)


def test_the_environment_is_what_the_requirements_say() -> None:
    """A second ``make setup`` finds its stamp, prints nothing and is quick."""
    done = subprocess.run(["make", "setup"], cwd=ROOT, capture_output=True, text=True, check=True, timeout=30)
    assert done.stdout == ""


def test_a_changed_requirement_changes_the_fingerprint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = environment.fingerprint((3, 12))
    other = tmp_path / "requirements.txt"
    other.write_text(environment.REQUIREMENTS.read_text() + "one-more==1.0\n")
    monkeypatch.setattr(environment, "REQUIREMENTS", other)
    assert environment.fingerprint((3, 12)) != before
    assert environment.fingerprint((3, 11)) != environment.fingerprint((3, 12))


def test_every_requirement_is_exact_and_says_why() -> None:
    for line in (ROOT / "requirements.txt").read_text().splitlines():
        if line and not line.startswith(("#", "-c")):
            assert re.fullmatch(r"[A-Za-z0-9_.-]+==[\w.]+ +# \S.*", line), line


def test_installed_packages_agree_with_each_other() -> None:
    done = subprocess.run([sys.executable, "-m", "pip", "check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_packages_import_from_any_folder(tmp_path: Path) -> None:
    clean = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    code = "from importlib.util import find_spec as f; import sys; print(*[f(n).origin for n in sys.argv[1:]])"
    names = ["sim", "widgets", "book.build"]
    done = subprocess.run(
        [sys.executable, "-c", code, *names],
        cwd=tmp_path,
        env=clean,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == [str(ROOT / name.replace(".", "/") / "__init__.py") for name in names]


def test_help_names_every_target() -> None:
    text = (ROOT / "Makefile").read_text()
    phony = re.search(r"^\.PHONY: (.*)$", text, re.MULTILINE)
    assert phony
    shown = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert [name for name in phony[1].split() if f"make {name} " not in shown] == []


def test_a_browser_named_in_the_environment_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BROWSER_PATH", shutil.which("true") or "/bin/true")
    assert browser.installed() == os.environ["BROWSER_PATH"]
    monkeypatch.setenv("BROWSER_PATH", "/no/such/browser")
    assert browser.installed() is None


def test_no_browser_at_all_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(browser, "find", lambda: None)
    monkeypatch.setattr(browser, "install_package", lambda: False)
    monkeypatch.setattr(browser, "download", lambda: False)
    with pytest.raises(Refusal, match="the tests need a browser: install Chromium or Google Chrome"):
        browser.main()


@pytest.mark.slow
def test_no_network_is_one_line(tmp_path: Path) -> None:
    """A clone with nothing installed and a package index that refuses."""
    for name in ("Makefile", "requirements.txt", "constraints.txt"):
        shutil.copy(ROOT / name, tmp_path / name)
    shutil.copytree(ROOT / "book/build", tmp_path / "book/build")
    shutil.copy(ROOT / "book/__init__.py", tmp_path / "book/__init__.py")
    closed = {
        **os.environ,
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_INDEX_URL": "http://127.0.0.1:9/",
        "PIP_RETRIES": "0",
    }
    closed.pop("PIP_FIND_LINKS", None)
    done = subprocess.run(
        ["make", "setup", f"PYTHON={Path(sys.base_prefix) / 'bin/python3'}"],
        cwd=tmp_path,
        env=closed,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    said = [line for line in done.stderr.splitlines() if not line.startswith("make")]
    assert said == ["error: cannot install requirements.txt: no network: the package index cannot be reached"]


def test_the_clone_comes_after_pythonpath_and_before_the_libraries(tmp_path: Path) -> None:
    """A page of another copy runs on that copy, and a library's package called tests hides none of ours."""
    told = os.environ | {"PYTHONPATH": str(tmp_path)}
    said = subprocess.run(
        [sys.executable, "-c", "import sys; print(*sys.path, sep='\\n')"],
        env=told, cwd=tmp_path, capture_output=True, text=True, check=True,
    ).stdout.splitlines()
    libraries = next(index for index, path in enumerate(said) if path.endswith("site-packages"))
    assert said.index(str(tmp_path)) < said.index(str(ROOT)) < libraries

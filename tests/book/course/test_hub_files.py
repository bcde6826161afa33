"""What a hub is made of, as far as it can be looked at without one."""

from __future__ import annotations

import ast
import json
import re
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from book.build.places import CONSTRAINTS, ROOT
from book.course import kit
from book.course.hub import install, singleuser

HUB = ROOT / "book" / "course" / "hub"
CLUSTER = HUB / "kubernetes"


def values(name: str) -> Any:
    return yaml.safe_load((CLUSTER / name).read_text(encoding="utf-8"))


def test_values_have_keys_and_types_that_the_chart_declares() -> None:
    schema = json.loads((CLUSTER / "keys.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft7Validator.check_schema(schema)
    jsonschema.validate(values("values.yaml"), schema)


def test_a_misspelt_key_does_not_pass() -> None:
    schema = json.loads((CLUSTER / "keys.schema.json").read_text(encoding="utf-8"))
    wrong = values("values.yaml")
    wrong["singleuser"]["memroy"] = {}
    with pytest.raises(jsonschema.ValidationError, match="memroy"):
        jsonschema.validate(wrong, schema)


def test_hub_and_exchange_share_a_token_that_nobody_could_use() -> None:
    token = values("values.yaml")["hub"]["services"]["ngshare"]["apiToken"]
    assert token == values("ngshare.yaml")["ngshare"]["hub_api_token"] == "NGSHARE_TOKEN"


def test_configuration_in_values_is_python() -> None:
    for text in values("values.yaml")["hub"]["extraConfig"].values():
        compile(text, "extraConfig", "exec")


def test_the_image_hands_on_only_what_students_may_read() -> None:
    final = (CLUSTER / "Dockerfile").read_text(encoding="utf-8").split("\nFROM ")[-1]
    assert re.findall(r"^(?:COPY|ADD) (.*)", final, re.MULTILINE) == [
        "--from=build /opt/receive-path /opt/receive-path"
    ]


def test_the_proxy_and_all_that_it_needs_are_pinned_with_checksums() -> None:
    wanted = json.loads((HUB / "proxy" / "package.json").read_text(encoding="utf-8"))["dependencies"]
    locked = json.loads((HUB / "proxy" / "package-lock.json").read_text(encoding="utf-8"))["packages"]
    assert locked[""]["dependencies"] == wanted
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", version) for version in wanted.values())
    assert all(package["integrity"] for name, package in locked.items() if name)


def test_no_package_of_the_hub_is_pinned_twice_at_different_releases() -> None:
    found: dict[str, str] = {}
    for line in (install.pins() + CONSTRAINTS.read_text(encoding="utf-8")).splitlines():
        if pin := re.match(r"([\w.-]+)==([\w.]+)", line):
            name = re.sub(r"[-_.]+", "-", pin[1]).lower()
            assert found.setdefault(name, pin[2]) == pin[2], name
    assert {"jupyterhub", "nbgrader", "numba"} <= set(found)


def test_students_get_every_package_that_sim_and_widgets_import_at_once() -> None:
    """At once: when a module is imported. What a function imports when it is called may be missing, and says so."""
    own, given = {"sim", "widgets"}, {re.sub(r"[-.]", "_", name).lower() for name in kit.NEEDED}
    given |= {"traitlets"}  # ipywidgets brings it
    missing: dict[str, str] = {}
    for package in kit.PACKAGES:
        for path in (ROOT / package).rglob("*.py"):
            for name in imported(path):
                if path.parent.name == "wasm":  # the engine of pages; nothing of the kit imports it
                    continue
                if name.lower() not in given and name not in own | set(sys.stdlib_module_names):
                    missing[name] = path.relative_to(ROOT).as_posix()
    assert missing == {}


def imported(path: Path) -> set[str]:
    """Top-level packages that a module imports outside of functions."""
    found: set[str] = set()
    waiting: list[ast.AST] = [ast.parse(path.read_text(encoding="utf-8"))]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            found.add(node.module.split(".")[0])
        elif not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and not _only_for_types(node):
            waiting += ast.iter_child_nodes(node)
    return found


def _only_for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def test_a_student_sees_the_compiled_engine_by_links_and_a_teacher_has_a_copy(tmp_path: Path) -> None:
    shared = tmp_path / "compiled" / "numba-1" / "entry.nbi"
    shared.parent.mkdir(parents=True)
    shared.write_bytes(b"code")
    assert singleuser.show(tmp_path / "compiled", tmp_path / "student") == 1
    assert singleuser.show(tmp_path / "compiled", tmp_path / "student") == 0
    assert singleuser.show(tmp_path / "compiled", tmp_path / "teacher", copied=True) == 1
    assert (tmp_path / "student/numba-1/entry.nbi").is_symlink()
    assert not (tmp_path / "teacher/numba-1/entry.nbi").is_symlink()
    assert (tmp_path / "teacher/numba-1/entry.nbi").read_bytes() == b"code"


def test_no_student_reads_who_the_others_are(tmp_path: Path) -> None:
    install.configure(tmp_path)
    assert (tmp_path / "settings.toml").stat().st_mode & 0o777 == 0o600


def test_settings_once_written_stay(tmp_path: Path) -> None:
    (tmp_path / "settings.toml").write_text("# mine\n")
    install.configure(tmp_path)
    assert (tmp_path / "settings.toml").read_text() == "# mine\n"


def test_a_students_server_has_neither_formgrader_nor_course_list(tmp_path: Path) -> None:
    install.configure(tmp_path)
    told = json.loads((tmp_path / "etc/student/jupyter_server_config.d/nbgrader.json").read_text())
    assert not any(told["ServerApp"]["jpserver_extensions"].values())
    assert not (tmp_path / "etc/teacher/jupyter_server_config.d").exists()
    assert (tmp_path / "state").stat().st_mode & 0o777 == 0o700, "cookies and tokens are the hub's alone"

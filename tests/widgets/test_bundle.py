"""The bundler: modules become one script that runs in node as the modules would."""

from __future__ import annotations

import gzip
import shutil
import subprocess
from pathlib import Path

import pytest

from widgets import assets, bundle, static
from widgets.bundle import Bundle, BundleError


def write(folder: Path, **modules: str) -> Path:
    for name, text in modules.items():
        (folder / f"{name}.mjs").write_text(text)
    return folder


def run(script: str) -> str:
    node = shutil.which("node")
    if node is None:  # the browser tests run the same bundle; node only makes a shorter report
        pytest.skip("no node on this machine")
    return subprocess.run([node, "-e", script], capture_output=True, text=True, check=True).stdout.strip()


def test_imports_exports_defaults_and_lists_reach_each_other(tmp_path: Path) -> None:
    write(
        tmp_path,
        low="export const one = 1;\nexport function two() { return 2 }\nconst x = 3;\nexport { x as three };",
        high='import { one, two, three as drei } from "./low.mjs";\nexport default one + two() + drei;\n',
    )
    made = Bundle(tmp_path)
    made.add("high")
    assert run(f'{made.text}console.log($use("high").default)') == "6"


def test_a_module_runs_once(tmp_path: Path) -> None:
    write(
        tmp_path,
        low="let n = 0;\nexport const next = () => ++n;\n",
        a='import { next } from "./low.mjs";\nexport const a = next();',
        b='import { a } from "./a.mjs";\nimport { next } from "./low.mjs";\nexport const b = a + 9 * next();',
    )
    made = Bundle(tmp_path)
    made.add("b")
    assert run(f'{made.text}console.log($use("b").b)') == "19"


def test_a_source_is_the_text_of_a_script_that_needs_nothing_else(tmp_path: Path) -> None:
    write(
        tmp_path,
        low='// a comment\nexport const word = `a "quoted" </script> word`;\n',
        work='import { word } from "./low.mjs";\nconsole.log(word);\n',
        page='import text from "./work.mjs?source";\nexport { text };\n',
    )
    made = Bundle(tmp_path)
    made.add("page")
    source = run(f'{made.text}console.log($use("page").text)')
    assert run(source) == 'a "quoted" </script> word'


def test_what_cannot_be_bundled_is_named(tmp_path: Path) -> None:
    write(
        tmp_path,
        star='import * as low from "./low.mjs";\n',
        low="",
        a='import { b } from "./b.mjs";\n',
        b='import { a } from "./a.mjs";\n',
        lost='import { c } from "./nowhere.mjs";\n',
    )
    with pytest.raises(BundleError, match=r"star\.mjs: cannot bundle `import \* as low"):
        Bundle(tmp_path).add("star")
    with pytest.raises(BundleError, match="in a circle: a -> b -> a"):
        Bundle(tmp_path).add("a")
    with pytest.raises(BundleError, match=r"no module nowhere\.mjs, imported by lost\.mjs"):
        Bundle(tmp_path).add("lost")


@pytest.mark.parametrize("name", assets.MODULES)
def test_a_widget_is_at_most_30_kb_gzipped_without_the_engine(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(assets, "ENGINE", Path("nowhere.wasm"))
    assets.module.cache_clear()
    try:
        assert len(gzip.compress(assets.module(name).encode(), 9)) <= 30_000
    finally:
        assets.module.cache_clear()


def test_the_page_script_is_classic_and_asks_nobody() -> None:
    script = static.bundle()
    assert not [line for line in script.splitlines() if line.startswith(("import ", "export "))]
    assert "fetch(" not in script
    assert "http" not in script.replace("http://www.w3.org/2000/svg", "")


def test_every_module_of_the_project_is_in_the_page_script() -> None:
    script = static.bundle()
    missing = [path.stem for path in bundle.JS.glob("*.mjs") if f'$f["{path.stem}"] =' not in script]
    assert missing == []


def test_an_element_keeps_its_state_inside_its_script() -> None:
    made = static.element("LineCost", {"text": "</script><b>"}, "<svg></svg>")
    assert made.count("</script>") == 1
    with pytest.raises(ValueError, match="no widget 'Nothing'; there are ReceivePathLab, LineCost"):
        static.element("Nothing", {}, "")

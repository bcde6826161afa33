"""Practice on a page from a file: Python's problems and verdicts, the engine's answers, a score that stays."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from typing import Any

import pytest
import traitlets
from axe_playwright_python.sync_playwright import Axe

from sim.exercises.formula import amount
from sim.exercises.problem import KINDS, expected, practice
from sim.exercises.typed import NotANumber, number
from tests.conftest import Watched
from tests.widgets.panel_page import PanelPage
from widgets import Practice
from widgets.bundle import Bundle

pytestmark = pytest.mark.browser
SEEDS = 90
FACTORS = (1, 1.004, 1.03, 0.5, 8, 0.001, -1)
#: Draws, solves and checks every problem that needs no engine; runs get a number that Python gives them.
EVERYTHING = """
const { begin, question, solve, explanation, expected, check } = $use("problem");
(async () => {
  const out = [];
  for (const kind of kinds)
    for (let seed = 1; seed <= seeds; seed++) {
      const [known] = begin(kind, seed);
      const solved = await solve(kind, known);
      const truth = solved[kind.steps.at(-1).name];
      const said = factors.map((factor) => check(kind, solved, truth * factor).message);
      out.push([kind.name, seed, known, question(kind, known), truth, explanation(kind, solved), expected(kind), said]);
    }
  console.log(JSON.stringify(out));
})();
"""


def test_a_page_has_thousands_of_problems_as_python_has_them() -> None:
    node = shutil.which("node")
    if node is None:  # the page itself is compared below; node only compares more of them
        pytest.skip("no node on this machine")
    bundle = Bundle()
    bundle.add("problem")
    kinds = [kind for kind in KINDS.values() if not kind.scenarios]
    given = {"kinds": [kind.to_dict() for kind in kinds], "seeds": SEEDS, "factors": FACTORS}
    script = "".join(f"const {name} = {json.dumps(value)};\n" for name, value in given.items())
    done = subprocess.run(
        [node, "-"], input=script + bundle.text + EVERYTHING, capture_output=True, text=True, check=True
    )
    found = json.loads(done.stdout)
    assert len(found) == len(kinds) * SEEDS > 3000
    for name, seed, known, text, truth, explanation, form, said in found:
        problem = practice(name, seed)
        assert (known, text, truth) == (problem.known, problem.text, problem.answer()), (name, seed)
        assert explanation == problem.explanation(), (name, seed)
        assert form == expected(problem.kind)
        assert said == [problem.check(truth * factor).message for factor in FACTORS], (name, seed)


@pytest.fixture(scope="module")
def address(write_page: Callable[..., str]) -> str:
    return write_page("practice", Practice())


@pytest.fixture
def opened(watch: Callable[..., Any], address: str) -> Callable[..., PanelPage]:
    return lambda hash_="", **options: PanelPage(watch(address + hash_, **options))


def answer(page: PanelPage, number: float) -> str:
    """Type a number, check it with the Enter key, and read what is said."""
    field = page.page.get_by_label("Your answer")
    field.fill(repr(number))
    page.after(lambda: field.press("Enter"))
    return page.summary()


def score(page: PanelPage) -> str:
    return page.page.locator(".rp-mark").inner_text().partition("kept in this browser: ")[2]


def test_an_answer_is_checked_explained_and_counted_once(opened: Callable[..., PanelPage]) -> None:
    page = opened("#practice?kind=gro-time&seed=7")
    problem = practice("gro-time", 7)
    assert page.page.locator(".rp-question").inner_text() == problem.text
    wrong = problem.answer() * 1.5
    assert answer(page, wrong) == problem.check(wrong).message == "Not yet: too high."
    assert page.page.locator(".rp-way li").count() == 0
    assert score(page) == "1 tried, 0 right at once, 0 right later, 0 answer shown"
    assert answer(page, problem.answer()) == problem.check(problem.answer()).message
    assert page.page.locator(".rp-way li").all_inner_texts() == problem.explanation()
    assert answer(page, wrong) == "Not yet: too high."
    assert score(page) == "1 tried, 0 right at once, 1 right later, 0 answer shown"
    page.page.reload()
    page.page.wait_for_selector("[data-settled=true]")
    assert score(page) == "1 tried, 0 right at once, 1 right later, 0 answer shown"
    page.page.locator("summary", has_text="All numbers").click()
    page.page.get_by_role("button", name="Forget these").click()
    assert score(page).startswith("0 tried")
    assert page.watched.errors == []
    assert page.watched.foreign == []


def test_another_problem_a_hint_and_the_answer(opened: Callable[..., PanelPage]) -> None:
    page = opened()
    page.after(lambda: page.control("kind").select_option("packet-ring"))
    page.after(lambda: page.page.get_by_role("button", name="Another problem").click())
    problem = practice("packet-ring", 2)
    assert page.page.locator(".rp-question").inner_text() == problem.text
    page.page.get_by_role("button", name="Hint").click()
    assert page.page.locator(".rp-hint").inner_text() == problem.kind.hint
    page.after(lambda: page.page.get_by_role("button", name="Show the answer").click())
    assert page.page.locator(".rp-way li").all_inner_texts() == problem.explanation()
    assert page.summary() == f"The answer: {amount(problem.answer(), problem.unit)}."
    answer(page, problem.answer())
    assert score(page) == "1 tried, 0 right at once, 0 right later, 1 answer shown"
    assert page.copied("Copy as Python") == 'Practice("packet-ring", seed=2)'
    page.after(lambda: page.control("seed").press("Escape"))
    assert page.page.locator(".rp-question").inner_text() == practice("packet-ring", 1).text
    assert not page.page.locator(".rp-hint").is_visible()
    page.page.get_by_role("button", name="Check").click()
    assert page.summary() == "Type a number first."


@pytest.mark.parametrize("name", ["run-defer", "run-queues"])
def test_the_engine_of_the_page_answers_as_pythons_does(opened: Callable[..., PanelPage], name: str) -> None:
    page = opened(f"#practice?kind={name}&seed=5")
    problem = practice(name, 5)
    assert page.page.locator(".rp-question").inner_text() == problem.text
    assert answer(page, problem.answer() * 2) == "Not yet: too high."
    drawn = page.after(lambda: page.page.get_by_role("button", name="Show the answer").click())
    assert drawn["solved"] == pytest.approx(problem.solved, rel=1e-9)
    assert page.watched.errors == []


def test_a_run_for_an_earlier_problem_is_not_taken_for_a_later_one(opened: Callable[..., PanelPage]) -> None:
    page = opened("#practice?kind=run-defer&seed=3")
    page.page.get_by_label("Your answer").fill("50")
    page.page.evaluate(
        """() => {
          document.querySelector(".rp-problem button[type=submit]").click();
          const kind = document.querySelector('[data-knob="kind"]');
          kind.value = "gro-time";
          kind.dispatchEvent(new Event("change"));
        }"""
    )
    page.page.wait_for_timeout(1500)
    assert page.page.locator(".rp-question").inner_text() == practice("gro-time", 3).text
    assert page.summary() == ""
    assert page.page.locator(".rp-way li").count() == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_a_phone_and_axe_finds_nothing(opened: Callable[..., PanelPage], scheme: str) -> None:
    page = opened("#practice?kind=spin-time", viewport={"width": 375, "height": 800}, color_scheme=scheme)
    page.page.get_by_role("button", name="Hint").click()
    page.after(lambda: page.page.get_by_role("button", name="Show the answer").click())
    page.page.locator("summary", has_text="All numbers").click()
    assert page.page.evaluate("document.documentElement.scrollWidth") <= 375
    found = Axe().run(page.page, context=".rp-panel").response["violations"]
    assert [rule["id"] for rule in found if rule["impact"] in {"serious", "critical"}] == []


def test_without_scripts_a_worked_problem_stands_there(watch: Callable[..., Watched], address: str) -> None:
    page = watch(address, java_script_enabled=False).page
    problem = practice("line-bound", 1)
    worked = page.locator(".rp-worked")
    assert problem.text in worked.inner_text()
    assert worked.locator("li").all_inner_texts() == problem.explanation()


def test_python_reads_what_was_typed_and_refuses_what_is_not_there() -> None:
    widget = Practice(chapter="reading", seed=4)
    assert widget.kind == "share-to-ns"
    assert widget.verdict is None
    widget.typed = repr(widget.problem.answer())
    assert widget.verdict is not None
    assert widget.verdict.right
    assert widget.sidecars == {}
    with pytest.raises(traitlets.TraitError, match="no kind 'gro-time' here"):
        widget.kind = "gro-time"
    with pytest.raises(KeyError, match="the nearest is 'amdahl'"):
        Practice("amdal")
    with pytest.raises(KeyError, match="no chapter"):
        Practice(chapter="reads")
    with pytest.raises(traitlets.TraitError, match="seed"):
        Practice(seed=0)


def test_a_page_reads_numbers_as_python_does() -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("no node on this machine")
    texts = [
        "38.48", "38,48", "0,583", "−1,5", "1,234.5", "1.234,5", "1,234,567", "1.234.567", "1 234", "1e-05", ".5",
        "3,848", "12,3456", "1,2,3", "1.2.3", "1,23.4", "x", "--1", "1.2,3,4", "inf", "12,345",
        "012,345", "-3,848", "5.", "1,234.",
    ]  # fmt: skip
    bundle = Bundle()
    bundle.add("typed")
    script = (
        f"{bundle.text}const read = (t) => {{"
        "try { return $use('typed').number(t) } catch (e) { return e.message } };"
        f"console.log(JSON.stringify({json.dumps(texts)}.map(read)));"
    )
    done = subprocess.run([node, "-"], input=script, capture_output=True, text=True, check=True)

    def read(text: str) -> float | str:
        try:
            return number(text)
        except NotANumber as error:
            return str(error)

    assert json.loads(done.stdout) == [read(text) for text in texts]


def test_a_comma_is_a_point_or_a_question(opened: Callable[..., PanelPage]) -> None:
    page = opened("#practice?kind=gro-time&seed=7")
    problem = practice("gro-time", 7)
    field = page.page.get_by_label("Your answer")
    field.fill("3,848")
    field.press("Enter")
    assert page.summary() == "3,848 can be read in two ways: write 3848 or 3.848."
    assert score(page).startswith("0 tried")
    field.fill(f"{problem.answer():.2f}".replace(".", ","))
    page.after(lambda: field.press("Enter"))
    assert page.summary().startswith("Right: ")
    widget = Practice("gro-time", seed=7)
    widget.typed = "3,848"
    assert widget.verdict is not None
    assert "two ways" in widget.verdict.message

"""Assignments out of their sources: released by nbgrader, without solutions, and packed for students."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import nbformat
import pytest
from nbgrader.preprocessors import ClearMarkScheme, ClearSolutions

from book.build.report import Refusal
from book.course import config, faults, generate, kit, new, rehearsal, sources, validation
from book.course.__main__ import COMMANDS, main
from book.course.nbgrader_tool import nbgrader
from sim.exercises import faulty, inventory
from sim.exercises.presubmit import GRADED_S

NAME = "tcp-5.17"


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course with one assignment released."""
    folder = tmp_path_factory.mktemp("course") / "rx"
    generate.generate(folder, [NAME])
    return folder


def test_a_released_notebook_has_the_questions_and_no_solution(course: Path) -> None:
    author, released = sources.notebook(NAME), nbformat.read(course / "release" / NAME / f"{NAME}.ipynb", 4)
    assert validation.leaks(author, released) == []
    assert validation.leaks(author, author) != []
    assert sources.points(released) == sources.points(author)
    assert "Write your code here" in next(c.source for c in released.cells if c.id == "solve-gro-fill")
    assert inventory.read(released.metadata)[0] == NAME


@pytest.mark.parametrize("name", sources.names())
def test_a_source_states_what_its_checks_and_its_questions_say(name: str) -> None:
    assert validation.faults_of_source(name, sources.notebook(name)) == []


@pytest.mark.parametrize("name", sources.names())
def test_no_solution_and_no_mark_scheme_is_left_when_nbgrader_has_cleared_them(name: str) -> None:
    author, cleared = sources.notebook(name), sources.notebook(name)
    stubs = {"code_stub": {"python": config.STUB}, "text_stub": config.TEXT_STUB}
    for step in (ClearSolutions(**stubs), ClearMarkScheme()):
        cleared, _ = step.preprocess(cleared, {})
    assert validation.leaks(author, cleared) == []
    for cell in cleared.cells:
        if cell.cell_type == "code":
            compile(cell.source, sources.grade_id(cell), "exec")
            if sources.grade_id(cell).startswith("solve-"):
                assert config.STUB in cell.source


def test_a_source_gives_the_same_notebook_each_time() -> None:
    assert sources.notebook(NAME) == sources.notebook(NAME)


def test_faults_of_a_source_are_found() -> None:
    author = sources.notebook(NAME)
    by = {cell.id: cell for cell in author.cells}
    by["gro-fill"].metadata.nbgrader["points"] = 7
    by["gro-fill"].source = "hand_in('gro-fill', segments); 1"
    by["set-up"].metadata.nbgrader["grade_id"] = "questions"
    author.cells[0].source = "# Nothing"
    said = " ".join(validation.faults_of_source(NAME, author))
    for fault in ("7.0 points in the notebook", "questions stands 2 times", "is one line", "minutes", "gives"):
        assert fault in said


def test_there_is_one_source_for_each_assignment() -> None:
    from sim.exercises import assignments

    assert sources.names() == assignments.names()


def test_an_unknown_assignment_is_refused_with_those_that_there_are(tmp_path: Path) -> None:
    with pytest.raises(Refusal, match=r"there are .*tcp-5"):
        generate.generate(tmp_path / "rx", ["nothing"])


def test_a_folder_with_other_things_is_no_course(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "thesis.tex").write_text("x")
    assert main(["new", str(tmp_path)]) == 1
    assert "is not empty" in capsys.readouterr().err


def test_a_course_that_is_there_keeps_its_settings(tmp_path: Path) -> None:
    folder = tmp_path / "rx"
    new.make(folder, "os-2")
    written = folder / config.NAME
    assert "'os-2'" in written.read_text(encoding="utf-8")
    written.write_text(written.read_text(encoding="utf-8") + "# mine\n", encoding="utf-8")
    new.make(folder)
    assert written.read_text(encoding="utf-8").endswith("# mine\n")


@pytest.mark.slow
def test_a_broken_configuration_stops_nbgrader_instead_of_being_passed_over(tmp_path: Path) -> None:
    (tmp_path / config.NAME).write_text("1 / 0\n")
    with pytest.raises(Refusal, match="nbgrader db assignment list failed"):
        nbgrader(tmp_path, "db", "assignment", "list")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_says_what_it_takes(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main([name, "--help"])
    assert left.value.code == 0
    assert "usage" in capsys.readouterr().out


def test_the_kit_has_no_sources_checks_or_answers(course: Path, tmp_path: Path) -> None:
    files = kit.contents(course)
    assert {f"{NAME}.ipynb", "requirements.txt", "README.md", "sim/exercises/presubmit.py", "LICENSE"} <= set(files)
    assert not [name for name in files if name.startswith("book") or name.endswith(f"{NAME}.md")]
    everything = b"\n".join(files.values())
    assert b"book.course.checks" not in everything.replace(b"`book.course.checks`", b"")
    assert b"BEGIN SOLUTION" not in everything
    assert b"one credit" not in everything
    one, two = (kit.pack(course, out=tmp_path / name).read_bytes() for name in ("a.zip", "b.zip"))
    assert one == two


def test_students_get_faulty_programs_as_finished_texts_and_not_how_they_were_made(course: Path) -> None:
    assert {name: list(faulty.texts(name)) for name in faults.made()} == {
        name: ["\n".join(text.splitlines()) for text in made] for name, made in faults.made().items()
    }
    assert "sim/exercises/faulty.json" in kit.contents(course)


def test_the_kit_works_by_itself(course: Path, tmp_path: Path) -> None:
    zipfile.ZipFile(kit.pack(course, out=tmp_path / "kit.zip")).extractall(tmp_path)
    top = tmp_path / kit.TOP
    program = (
        "import sys; sys.modules['book'] = None\n"
        "import sim, widgets; from sim import scenarios; from sim.exercises import *\n"
        "student('ada'); print(sim.__file__, mine('tcp-5.17')['gro-fill'].name, scenarios.load('lab').name)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(top)}
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=top, env=environment, capture_output=True, text=True, check=False
    )
    assert done.stdout.split() == [str(top / "sim" / "__init__.py"), "gro-fill", "lab"], done.stderr
    looked = subprocess.run(
        [sys.executable, "-m", "sim.exercises.presubmit", f"{NAME}.ipynb", "--student", "ada", "--no-run"],
        cwd=top, env=environment, capture_output=True, text=True, check=False,
    )
    assert looked.returncode == 0, looked.stdout + looked.stderr


def test_a_kit_of_nothing_is_refused(tmp_path: Path, course: Path) -> None:
    with pytest.raises(Refusal, match="nothing is released"):
        kit.pack(tmp_path)
    with pytest.raises(Refusal, match="not released"):
        kit.pack(course, ["tcp-prequeue"])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["tcp-5.17", "tcp-prequeue"])
def test_solutions_get_all_points_for_several_students_and_a_blank_notebook_none(name: str, tmp_path: Path) -> None:
    generate.generate(tmp_path / "rx", [name])
    released = nbformat.read(tmp_path / "rx" / "release" / name / f"{name}.ipynb", 4)
    found = validation.validate(name, released)
    assert found.faults == ()
    assert found.slowest_s < GRADED_S


@pytest.mark.slow
def test_an_author_without_a_sandbox_can_rehearse_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rehearsal, "problem", lambda: "bwrap is not there")
    made = sources.notebook(NAME)
    made.cells = made.cells[: [cell.id for cell in made.cells].index("gro-fill") + 1]
    run = rehearsal.rehearse(NAME, made, "ada")
    assert (run.points, run.of, run.errors) == (1, 1, {})

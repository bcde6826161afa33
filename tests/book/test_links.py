"""The check of links tells what does not answer, and stops nobody."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from book.build import links

ANSWERS = [
    {"filename": "book/a.md", "lineno": 3, "status": "working", "uri": "https://a.example/", "info": ""},
    {"filename": "book/a.md", "lineno": 5, "status": "redirected", "uri": "https://b.example/", "info": "https://c.example/"},
    {"filename": "book/a.md", "lineno": 7, "status": "broken", "uri": "https://d.example/", "info": "404\nNot Found"},
    {"filename": "book/b.md", "lineno": 1, "status": "broken", "uri": "https://d.example/", "info": "404\nNot Found"},
    {"filename": "book/b.md", "lineno": 2, "status": "timeout", "uri": "https://e.example/", "info": ""},
]


@pytest.fixture
def output(tmp_path: Path) -> Path:
    path = tmp_path / "output.json"
    path.write_text("".join(json.dumps(answer) + "\n" for answer in ANSWERS))
    return path


def test_each_silent_address_is_one_line_with_its_places(output: Path) -> None:
    counted, broken = links.findings(output)
    assert counted == {"working": 1, "redirected": 1, "broken": 2, "timeout": 1}
    assert broken == [
        "https://d.example/: 404 (book/a.md:7, book/b.md:1)",
        "https://e.example/: no answer (book/b.md:2)",
    ]


def test_broken_links_and_a_broken_build_do_not_fail_the_target(
    output: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = output.read_text()
    monkeypatch.setattr(links, "OUTPUT", output)
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: output.write_text(text))
    links.main()
    assert "2 broken, 1 redirected, 1 timeout, 1 working" in capsys.readouterr().out
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: None)
    links.main()
    assert "nothing was asked: the book does not build" in capsys.readouterr().out

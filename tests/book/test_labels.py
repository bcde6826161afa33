"""Labels of citations stay apart, however much somebody has written in a year."""

from __future__ import annotations

import re

import pytest
from pybtex.backends.plaintext import Backend
from pybtex.database import BibliographyData, Entry, Person, parse_file
from pybtex.plugin import register_plugin
from receive_path_book.labels import NAME, ManyLabels, Style, letters

from book.build.places import ROOT

register_plugin("pybtex.style.labels", NAME, ManyLabels)


def test_letters_go_on_behind_z():
    assert [letters(number) for number in (0, 25, 26, 27, 51, 52, 701, 702)] == [
        "a", "z", "aa", "ab", "az", "ba", "zz", "aaa",
    ]


def test_an_author_with_thirty_entries_of_a_year_gets_thirty_labels():
    entries = []
    for number in range(30):
        entry = Entry("misc", fields={"year": "2021", "title": f"mail {number}"},
                      persons={"author": [Person("Dumazet, Eric")]})
        entry.key = f"mail{number}"
        entries.append(entry)
    labels = list(ManyLabels().format_labels(entries))
    assert labels[0] == "Dum21a"
    assert labels[-1] == "Dum21ad"
    assert len(set(labels)) == 30
    assert list(ManyLabels().format_labels(entries[:1])) == ["Dum21"]


def entries() -> dict[str, Entry]:
    return {k: e for path in (ROOT / "book").glob("*.bib") for k, e in parse_file(str(path)).entries.items()}


def printed(key: str) -> str:
    style = Style()
    formatted = next(iter(style.format_entries([BibliographyData({key: entries()[key]}).entries[key]])))
    return str(formatted.text.render(Backend()))


@pytest.mark.parametrize(("key", "title"), [
    ("commit-5-17-09", "forward_alloc_get depends on CONFIG_MPTCP."),
    ("commit-5-17-12", "tcp: add RETPOLINE mitigation to sk_backlog_rcv."),
    ("dumazet2023ack", "tcp: defer regular ACK while processing socket backlog."),
    ("dumazet2024refcnt", "udp: no longer touch sk->sk_refcnt in early demux."),
    ("abeni2021remove", "tcp: remove sk_{tr}x_skb_cache."),
])
def test_a_title_is_printed_as_it_was_written(key: str, title: str) -> None:
    assert title in printed(key)


def test_no_entry_has_a_command_left() -> None:
    style = Style()
    for entry in style.format_entries(list(entries().values())):
        assert not re.search(r"\\|\{\w", str(entry.text.render(Backend())).replace("{tr}", "")), entry.key

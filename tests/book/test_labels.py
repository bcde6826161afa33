"""Labels of citations stay apart, however much somebody has written in a year."""

from __future__ import annotations

from pybtex.database import Entry, Person
from receive_path_book.labels import ManyLabels, letters


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

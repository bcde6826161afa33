"""``CITATION.cff`` keeps the rules of its format (1.2.0), and the page says what the file says."""

from __future__ import annotations

import datetime
import re

import pytest
from receive_path_book import citing

from book.build.places import ROOT

ENTRY = citing.read(ROOT)
#: Keys that the format knows, its required ones first.
REQUIRED = {"cff-version", "message", "title", "authors"}
KNOWN = REQUIRED | {
    "abstract", "commit", "contact", "date-released", "doi", "identifiers", "keywords", "license", "license-url",
    "preferred-citation", "references", "repository", "repository-artifact", "repository-code", "type", "url",
    "version",
}
PERSON = {"address", "affiliation", "alias", "city", "country", "email", "family-names", "fax", "given-names",
          "name-particle", "name-suffix", "orcid", "post-code", "region", "tel", "website"}
ENTITY = {"name", "address", "alias", "city", "country", "date-end", "date-start", "email", "fax", "location", "orcid",
          "post-code", "region", "tel", "website"}


def test_the_required_keys_are_there_and_all_keys_are_known() -> None:
    assert set(ENTRY) >= REQUIRED
    assert set(ENTRY) <= KNOWN
    assert ENTRY["cff-version"] == "1.2.0"
    assert ENTRY.get("type", "software") in {"software", "dataset"}
    for key in ("message", "title", "abstract"):
        assert isinstance(ENTRY[key], str)
        assert ENTRY[key].strip()


def test_authors_are_people_or_groups_and_none_twice() -> None:
    assert ENTRY["authors"]
    for author in ENTRY["authors"]:
        assert set(author) <= (ENTITY if "name" in author else PERSON)
    assert len({str(author) for author in ENTRY["authors"]}) == len(ENTRY["authors"])


def test_date_licences_and_keywords_have_the_format_s_types() -> None:
    date = ENTRY["date-released"]
    assert isinstance(date, datetime.date) or datetime.date.fromisoformat(date)
    licences = [ENTRY["license"]] if isinstance(ENTRY["license"], str) else ENTRY["license"]
    assert set(licences) == {path.stem for path in (ROOT / "LICENSES").iterdir()} == {"MIT", "CC-BY-4.0"}
    assert all(isinstance(word, str) for word in ENTRY["keywords"])
    assert len(set(ENTRY["keywords"])) == len(ENTRY["keywords"])
    assert isinstance(ENTRY["version"], str | int | float)


def test_the_reference_and_its_bibtex_say_what_the_file_says() -> None:
    text, entry = citing.sentence(ENTRY), citing.bibtex(ENTRY)
    for part in (ENTRY["title"], str(ENTRY["version"]), citing.year(ENTRY), ENTRY["authors"][0]["name"]):
        assert part in text
        assert part in entry
    assert re.match(r"@book\{receivepath\d{4},\n", entry)
    assert entry.count("{") == entry.count("}")


@pytest.mark.parametrize(
    ("who", "names"),
    [
        ([{"name": "The Authors"}], "{The Authors}"),
        ([{"family-names": "Doe", "given-names": "Jo"}, {"name": "A Lab"}], "Doe, Jo and {A Lab}"),
    ],
)
def test_people_and_groups_are_told_apart(who: list[dict[str, str]], names: str) -> None:
    assert citing.authors({"authors": who}) == names

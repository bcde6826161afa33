"""The symbol index: every symbol that a program executes or a page calls, with the sections that name it."""

from __future__ import annotations

import pytest
from receive_path_book import symbols

from book.build.places import ROOT
from sim import kernel_names, scenarios

PAGE = """\
---
kernelspec: {name: python3}
---
# Frees

`put_page()` and {glue:text}`kfree_skb()` come first, `s.run()` and `verify()` are ours.

## Who *frees* `pages`

A `put_page` here, an ``fget()`` not, a {term}`recvmsg()`.

```{code-cell} ipython3
"`rmqueue()`"
```

### Again

See `xchg()` and `lock_sock()`.

## Symbols of this chapter

```{glossary}
put_page
  Gives a page back.
```
"""


def places(found: dict[str, list[symbols.Place]]) -> dict[str, list[str]]:
    return {symbol: [place.section for place in where] for symbol, where in found.items()}


def test_a_symbol_leads_to_every_section_that_names_it_and_to_no_other() -> None:
    found = symbols.index({"a": PAGE}, {"put_page": ["lab"], "rmqueue": ["lab"]}, {"verify", "run"})
    assert places(found) == {
        "put_page": ["Frees", "Who frees pages", "Symbols of this chapter"],
        "rmqueue": [],
        "xchg": ["Again"],
        "lock_sock": ["Again"],
        "recvmsg": ["Who frees pages"],
    }


def test_a_section_s_place_is_the_one_that_sphinx_gives_it() -> None:
    anchors = [place.anchor for place, _ in symbols.sections("a", PAGE)]
    assert anchors == ["frees", "who-frees-pages", "again", "symbols-of-this-chapter"]


def test_of_two_headings_of_one_name_the_second_leads_to_the_page() -> None:
    assert [place.anchor for place, _ in symbols.sections("a", "# A\n\n## B\n\n## B\n")] == ["a", "b", ""]


def test_every_symbol_of_every_program_has_an_entry() -> None:
    executed = symbols.programs()
    charged = {
        symbol.partition(" (")[0]
        for name in scenarios.names()
        for symbol in scenarios.load(name).spec.program.symbols
    }
    assert set(symbols.index({}, executed, set())) == charged - {"reader"}  # the program itself
    assert executed["sk_defer_free_flush"] == ["lab", "tcp-5.17"]


def test_the_project_s_own_functions_are_no_symbols_of_the_kernel() -> None:
    own = symbols.own(ROOT)
    assert {"verify", "load", "ReceivePathLab"} <= own
    assert not own & {"tcp_v4_rcv", "recvmsg", "put_page"}


def test_the_list_of_names_that_are_not_the_kernel_s_has_only_what_programs_charge() -> None:
    executed = symbols.programs()
    assert set(kernel_names.OWN) <= set(executed)
    assert {name for name in executed if name.startswith(("driver_", "entry_"))} - set(kernel_names.OWN) == {
        "entry_SYSCALL_64"
    }
    for name, stand_in in kernel_names.STAND_INS.items():
        assert stand_in.scenarios <= set(executed[name]), name


def test_a_name_that_is_not_the_kernel_s_is_marked_with_the_programs_that_have_it() -> None:
    executed = symbols.programs()

    def text(symbol: str) -> str:
        return str(symbols.entry(symbol, [], executed[symbol], "book/symbols").astext())

    assert "of the book's own: the entry of a system call" in text("entry_syscall")
    where = "tcp-prequeue, tcp-rx-skb-cache, udpv6-early-demux"
    assert f"In {where} a stand-in: the name is right for x86 from 5.8" in text("asm_common_interrupt")
    assert "stand-in" not in text("tcp_v6_rcv")


def test_a_name_of_the_kernel_needs_no_parentheses_and_a_word_of_ours_stays_out() -> None:
    page = "# A\n\n`_copy_to_iter` and `kfree_skb`, but `softnet_stat` not. A check returns `right()`, `__mine`.\n"
    assert places(symbols.index({"a": page}, {}, {"__mine"})) == {"_copy_to_iter": ["A"], "kfree_skb": ["A"]}


@pytest.mark.parametrize(("symbol", "letter"), [("__kfree_skb", "K"), ("_raw_spin_lock", "R"), ("udp_rcv", "U")])
def test_leading_underscores_do_not_sort(symbol: str, letter: str) -> None:
    assert symbols.letter(symbol) == letter

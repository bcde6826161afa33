"""A reader's own files: real ones are read, damaged ones refused with the line, foreign ones understood."""

from __future__ import annotations

import codecs
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim import scenarios
from sim.host import read
from sim.host.read import kernel, perf
from sim.host.read.profile import IDLE, USER, Sample, book_name
from sim.host.read.text import Source, Unreadable, share, whole

DATA = Path(__file__).parent / "data"
REPORTS = ("report", "report_cpu", "report_separated", "report_chains", "script", "script_chains", "top")
STEMS = {"softnet_stat": "softnet", "netstat": "netstat", "interrupts": "interrupts", "ethtool": "ethtool", "ss": "ss"}
SECONDS = 2.0


def stored(stem: str) -> Source:
    return Source.open(DATA / stem)


@pytest.fixture(scope="module")
def load() -> read.Load:
    before, after = ({kind: DATA / f"{stem}.{when}" for kind, stem in STEMS.items()} for when in ("before", "after"))
    return read.load(before, after, SECONDS)


@pytest.mark.parametrize("name", REPORTS)
def test_each_of_perfs_outputs_is_read_and_its_shares_make_a_whole(name: str) -> None:
    profile = read.profile(DATA / f"{name}.txt")
    shares = profile.shares()
    assert sum(shares.values()) == pytest.approx(100)
    assert list(shares.values()) == sorted(shares.values(), reverse=True)
    assert shares["copy_user_enhanced_fast_string"] > 5  # iperf3 reads: the copy is always among the first
    assert not IDLE & shares.keys()


def test_the_same_recording_reads_alike_whichever_way_it_was_printed() -> None:
    shares = [read.profile(DATA / f"{name}.txt").shares() for name in ("report", "report_cpu")]
    for symbol in ("copy_user_enhanced_fast_string", "_copy_from_iter", "memcpy_erms"):
        assert shares[0][symbol] == pytest.approx(shares[1][symbol], abs=2.5)  # rows below 0.01 % are rounded away


def test_a_share_is_the_symbols_own_without_its_callees() -> None:
    profile = perf.report(stored("report_chains.txt"))
    named = {s.symbol: s.weight for s in profile.samples}
    assert named["entry_SYSCALL_64_after_hwframe"] == 0  # 11 % with what it calls
    script = perf.script(stored("script_chains.txt"))
    assert "entry_SYSCALL_64_after_hwframe" not in {s.symbol for s in script.samples}


def test_a_profile_can_be_cut_by_cpu_and_command() -> None:
    profile = read.profile(DATA / "script.txt")
    assert profile.cpus == [0, 1]
    parts = [profile.only(cpu=cpu) for cpu in profile.cpus]
    assert sum(len(p.samples) for p in parts) == len(profile.samples)
    with pytest.raises(ValueError, match="commands: iperf3"):
        profile.only(command="nginx")


def test_newer_names_become_the_books_and_programs_are_one_entry() -> None:
    assert book_name("_copy_to_iter") == "copy_user_enhanced_fast_string"
    assert book_name("slab_update_freelist.isra.0") == "slab_update_freelist"
    assert book_name("kmem_cache_alloc_node_noprof") == "kmem_cache_alloc_node"
    assert book_name("tcp_v6_rcv") == "tcp_v6_rcv"
    rows = ["# Overhead  Symbol", "# ........  ......", "    60.00%  [.] main", "    20.00%  [k] intel_idle"]
    text = "\n".join([*rows, "    20.00%  [k] memcpy"])
    assert perf.report(Source.of(text)).shares() == {USER: 75, "memcpy_erms": 25}


def test_a_profile_stands_beside_a_run_in_the_widget() -> None:
    from widgets import Profile

    run = scenarios.load("tcp-5.17").run(replications=2, until_ps=1_800_000_000)
    measured = read.profile(DATA / "script.txt").beside(run, "reader")
    assert len(measured.replications) == 5  # cut into equal busy time, for intervals
    before, after = Profile(run, measured, role="reader").shares()
    copy = "copy_user_enhanced_fast_string"
    assert before[copy].mean == pytest.approx(run.profile("reader")[copy])
    assert after[copy].low < after[copy].mean < after[copy].high
    assert after[copy].mean == pytest.approx(read.profile(DATA / "script.txt").shares()[copy])  # the table's number
    assert [r["name"] for r in Profile(run, measured).sidecar["roles"]] == ["reader"]  # nothing is said of softirq
    assert Profile(run, measured).sidecar["names"] == ["simulated", "recorded"]
    assert "after" not in Profile(run, measured).finding()
    with pytest.raises(KeyError, match="softirq"):
        read.profile(DATA / "top.txt").beside(run, "writer")


def test_parts_are_of_equal_busy_time_and_their_mean_is_the_whole() -> None:
    times = [0.0, 0.1, 0.2, 0.3, 5.0, 9.0, 9.1]
    samples = [Sample("copy" if n % 2 else "free", 1.0, time_s=t) for n, t in enumerate(times)]
    profile = read.Profile("x", [*samples, Sample("do_idle", 50.0, time_s=4.0)])
    parts = profile.parts(3)
    assert len(parts) == 3
    assert sum(part["copy"] for part in parts) / 3 == pytest.approx(profile.shares()["copy"])
    assert len(read.Profile("x", [Sample("copy", 1.0)] * 9).parts(3)) == 1  # without times


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("perf", "PERFILE2\0\0", "perf.data itself"),
        ("gz", "\x1f\x8b\x08", "compressed"),
        ("empty", " \n", "is empty"),
        ("zero", "a\0b", "zero byte"),
        ("other", "hello\n", "none of perf report"),
        ("no rows", "# Overhead  Symbol\n# ........  ......\n#\n", "without rows"),
        ("no symbols", "# Overhead  Command\n# ........  .......\n    50.00%  sh\n", ":3: a report without symbols"),
        ("broken share", "# Overhead  Symbol\n# ........  ......\n    5x.00%  [k] a\n", ":3: expected a row"),
        ("twice", "# Overhead  Symbol\n# ........  ......\n" + "    60.00%  [k] a\n" * 2, "add up to 120 %"),
        ("two events", "# Overhead  Symbol\n# ........  ......\n    90.00%  [k] a\n# Overhead  Symbol\n", "second"),
        ("cut sample", "iperf3 1 [000]  1.5:  1 cpu-clock:  ffff _copy_to_i", ":1: the sample ends in the middle"),
        ("cut line", "iperf3 1 [000]  1.5:  1 cpu-clock:  ff a+0x1 (k)\niperf3 16", ":2: neither a sample"),
        ("no screen", "   PerfTop:       0 irqs/sec\n", "no screen of perf top"),
    ],
)
def test_what_is_no_profile_is_refused_in_one_line(tmp_path: Path, name: str, text: str, said: str) -> None:
    path = tmp_path / name
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(Unreadable, match=said) as refused:
        read.profile(path)
    assert str(path) in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_report_of_a_comma_locale_and_of_a_windows_editor_reads_alike(tmp_path: Path) -> None:
    plain = (DATA / "report.txt").read_text()
    wanted = read.profile(DATA / "report.txt").shares()
    comma = tmp_path / "comma"
    comma.write_text("\n".join(x.replace(".", ",", 1) if "%" in x else x for x in plain.split("\n")))
    windows = tmp_path / "windows"
    windows.write_bytes(codecs.BOM_UTF16_LE + plain.replace("\n", "\r\n").encode("utf-16-le"))
    marked = tmp_path / "marked"
    marked.write_bytes(codecs.BOM_UTF8 + plain.encode())
    for path in (comma, windows, marked):
        assert read.profile(path).shares() == wanted


def test_a_load_says_what_the_machine_did(load: read.Load) -> None:
    found = load.metrics()
    assert found["gbps"] == pytest.approx(8e-9 * load.counters["ss"]["bytes_received"] / SECONDS)
    assert found["gro_segments"] > 10  # GRO was on
    assert found["mpps"] * 1e6 * SECONDS == pytest.approx(load.queues()[0], rel=0.05)  # two counters of one thing
    assert load.by_cpu("processed").keys() == {0, 1}
    assert load.knobs() == {"flows": 3, "rx_queues": 1, "rps_cpus": 0, "mtu": 1500}


def test_a_load_stands_beside_a_run_of_the_lab_at_its_knobs(load: read.Load) -> None:
    run = scenarios.load("lab").run(replications=2, until_ps=1_800_000_000, **load.knobs())
    rows = load.beside(run)
    assert [r["metric"] for r in rows] == ["gbps", "mpps", "gro_segments", "interrupts_per_s", "backlog_drops_per_s"]
    assert rows[0]["measured"] == load.metrics()["gbps"]
    assert rows[0]["low"] < rows[0]["simulated"] < rows[0]["high"]


def test_a_load_of_one_file_only_or_of_no_time_is_refused() -> None:
    with pytest.raises(Unreadable, match="ss: one file only"):
        read.load({"ss": DATA / "ss.before"}, {}, 1)
    with pytest.raises(ValueError, match="more than 0"):
        read.load({"ss": DATA / "ss.before"}, {"ss": DATA / "ss.after"}, 0)
    with pytest.raises(KeyError, match="softnet_stat"):
        read.load({"snmp6": DATA / "ss.before"}, {"snmp6": DATA / "ss.after"}, 1)


@pytest.mark.parametrize(
    ("kind", "text", "said"),
    [
        ("softnet_stat", "0000000a 00000000 0000\n", ":1: a line of softnet_stat"),
        ("softnet_stat", "0000000a 00000000 00000000\n0000000a 00000000\n", ":2: 2 columns where"),
        ("netstat", "TcpExt: A B\n", ":1: names without their numbers"),
        ("netstat", "TcpExt: A B\nTcpExt: 1\n", ":2: 1 numbers for the 2 names"),
        ("netstat", "TcpExt: A\nIpExt: 1\n", ":2: expected the numbers of TcpExt:"),
        ("netstat", "TcpExt: A\nTcpExt: x\n", ":2: TcpExtA is 'x'"),
        ("interrupts", " 24: 1 2 x\n", ":1: the first line names the CPUs"),
        ("interrupts", " CPU0 CPU1 CPU2\n 24: 1 2\n", ":2: 2 numbers for 3 CPUs"),
        ("interrupts", " CPU0\n", "no interrupt"),
        ("ethtool", "NIC statistics:\n", "no counter"),
        ("ethtool", "NIC statistics:\n  rx_packets: 1\n  rx_by\n", ":3: expected 'name: number'"),
        ("ss", "State Recv-Q\n", "no socket"),
        ("ss", "ESTAB 0 0 a:1 b:2\n\t skmem:(r0,rb1", ":2: skmem"),
        ("ss", "tcp is fine\n", ":1: expected a socket"),
    ],
)
def test_a_damaged_counter_file_is_refused_with_its_line(tmp_path: Path, kind: str, text: str, said: str) -> None:
    path = tmp_path / kind
    path.write_text(text)
    with pytest.raises(Unreadable, match=said):
        kernel.read(kind, path)


def test_ethtools_heading_and_thousands_may_be_in_any_language() -> None:
    found = kernel.ethtool(Source.of("NIC-Statistik:\n     rx_packets: 1.234.567\n     tx_packets: 12\n"))
    assert found == {"rx_packets": 1234567, "tx_packets": 12}


def test_a_counter_of_32_bits_goes_on_after_its_end_and_what_shrank_is_left_out() -> None:
    before = {"cpu0.processed": 0xFFFFFFF0, "gone": 5, "bytes_received": 100, "backlog_len": 9}
    after = {"cpu0.processed": 0x10, "new": 3, "bytes_received": 40, "backlog_len": 2}
    assert kernel.difference(before, after) == {"cpu0.processed": 0x20, "new": 3, "backlog_len": 2}


@given(value=st.integers(0, 10_000), comma=st.booleans(), space=st.sampled_from(["", " ", "\u00a0"]))
def test_any_per_cent_is_read(value: int, comma: bool, space: str) -> None:
    text = f"{value / 100:.2f}{space}%"
    assert share(text.replace(".", ",") if comma else text) == pytest.approx(value / 100)


@given(value=st.integers(0, 10**15), separator=st.sampled_from([",", ".", " ", "'", "\u202f", ""]))
def test_any_count_is_read(value: int, separator: str) -> None:
    assert whole(f"{value:,}".replace(",", separator)) == value


@given(counts=st.lists(st.tuples(*[st.integers(0, 2**32 - 1)] * 3), min_size=1, max_size=64))
def test_any_softnet_stat_of_an_older_kernel_is_read(counts: list[tuple[int, int, int]]) -> None:
    text = "".join(" ".join(f"{n:08x}" for n in (*row, *[0] * 8)) + "\n" for row in counts)
    found = kernel.softnet_stat(Source.of(text))
    for cpu, (processed, dropped, squeezed) in enumerate(counts):
        assert (found[f"cpu{cpu}.processed"], found[f"cpu{cpu}.dropped"]) == (processed, dropped)
        assert found[f"cpu{cpu}.time_squeeze"] == squeezed


@given(
    rows=st.lists(
        st.tuples(st.from_regex(r"[a-z_]{1,30}", fullmatch=True), st.integers(1, 9_999)), min_size=1, max_size=30,
        unique_by=lambda row: row[0],
    )
)
def test_any_report_gives_back_its_shares(rows: list[tuple[str, int]]) -> None:
    total = sum(n for _, n in rows)
    shares = {name: 100 * n / total for name, n in rows}
    text = "# Overhead  Symbol\n# ........  " + "." * 30 + "\n"
    text += "".join(f"{share:9.4f}%  [k] {name}\n" for name, share in shares.items())
    read_back = perf.report(Source.of(text)).shares(translate=False)
    assert {name: pytest.approx(value, abs=0.01) for name, value in shares.items() if name not in IDLE} == read_back


@settings(max_examples=60)
@given(data=st.data(), name=st.sampled_from([*(f"{n}.txt" for n in REPORTS), *(f"{s}.after" for s in STEMS.values())]))
def test_a_file_cut_off_or_overwritten_anywhere_is_read_or_refused_but_never_breaks_the_reader(
    data: st.DataObject, name: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    whole_file = (DATA / name).read_bytes()
    cut = data.draw(st.integers(0, len(whole_file)))
    rubbish = data.draw(st.binary(max_size=20))
    path = tmp_path_factory.getbasetemp() / "damaged"
    path.write_bytes(whole_file[:cut] + rubbish + whole_file[cut + data.draw(st.integers(0, 200)) :])
    kind = next((k for k, stem in STEMS.items() if name.startswith(stem)), None)
    try:
        found = read.profile(path).shares() if kind is None else kernel.read(kind, path)
    except Unreadable:
        return
    assert all(isinstance(key, str) for key in found)

"""What a schedule does, made visible: tables agree with counts, traces read back."""

from __future__ import annotations

import csv
import re
import xml.etree.ElementTree as ET
from collections import defaultdict
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from conftest import Command
from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as perfetto

from cyclotron import _native
from cyclotron.errors import UsageError
from cyclotron.execution import lower
from cyclotron.execution import schedule as scheduled
from cyclotron.options import Options
from cyclotron.profile import Profile, measure, plots, profile, write_report
from cyclotron.programs.matvec import matvec


@pytest.fixture(scope="module")
def schedule() -> _native.Schedule:
    options = Options(on="f1")
    made = scheduled(lower(matvec(n=4096, rows=2), options, []), options, None).schedule
    assert made is not None
    return made


@pytest.fixture(scope="module")
def made(schedule: _native.Schedule) -> Profile:
    return profile(schedule, "matvec <on> f1", buckets=50)


def test_tables_agree_with_the_report(schedule: _native.Schedule, made: Profile) -> None:
    facts = schedule.report()
    assert sum(row["bytes"] for row in made.traffic) == facts["traffic_bytes"]["total"]
    assert sum(row["share"] for row in made.traffic) == pytest.approx(1)
    assert made.units == ("ntt", "aut", "mul", "add")
    for kind, share in facts["utilisation"].items():
        rows = [row for row in made.use if row["kind"] == kind]
        assert sum(row["cycles"] for row in rows) == facts["cycles"]
        busy = sum(row["busy"] * row["cycles"] for row in rows)
        assert busy / (rows[0]["instances"] * facts["cycles"]) == pytest.approx(share)
        assert all(0 <= row["share"] <= 1 for row in rows)


def test_energy_is_counts_times_unit(schedule: _native.Schedule, made: Profile) -> None:
    operations = {
        row["event"]: row["count"] for row in made.power if row["group"] == "functional units"
    }
    assert operations == schedule.report()["instructions_by_op"]
    for row in made.power:
        assert row["joules"] == pytest.approx(row["count"] * row["picojoules_each"] * 1e-12)
    assert 0 < measure.computing_share(schedule) < 1
    assert {row["group"] for row in made.power} == set(measure.GROUPS)


def test_a_report_stands_alone(made: Profile, tmp_path: Path) -> None:
    page = write_report(made, tmp_path / "deep" / "report")
    text = page.read_text(encoding="utf-8")
    assert "matvec &lt;on&gt; f1" in text
    # Nothing is fetched: no scripts, and addresses only as names of XML.
    assert "<script" not in text
    assert not re.findall(r'(?:src|href)="(?!#|data:)[^"]*"', text)
    drawings = re.findall(r"<svg.*?</svg>", text, re.DOTALL)
    assert len(drawings) == 4
    for drawing in drawings:
        ET.fromstring(drawing)
    for name in ("traffic", "power", "use"):
        with (page.parent / f"{name}.csv").open(encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        stored = pq.read_table(page.parent / f"{name}.parquet").to_pylist()
        assert stored == getattr(made, name)
        assert len(rows) == len(stored)
        assert list(rows[0]) == list(stored[0])


def test_the_same_schedule_draws_the_same(made: Profile) -> None:
    assert plots.use(made) == plots.use(made)
    assert "NTT" not in plots.power(made)
    assert "unit ntt" in plots.power(made)


def test_what_cannot_be_written_is_an_error(made: Profile, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot be written"):
        write_report(made, tmp_path / "file" / "report")


def test_a_trace_reads_back(schedule: _native.Schedule, tmp_path: Path) -> None:
    path = tmp_path / "matvec.pftrace"
    schedule.write_trace(str(path))
    trace = perfetto.Trace()
    trace.ParseFromString(path.read_bytes())
    tracks, names, open_at = {}, {}, {}
    busy: dict[str, int] = defaultdict(int)
    count: dict[str, int] = defaultdict(int)
    for packet in trace.packet:
        if packet.HasField("track_descriptor"):
            tracks[packet.track_descriptor.uuid] = packet.track_descriptor
        for name in packet.interned_data.event_names:
            names[name.iid] = name.name
        event = packet.track_event
        if event.type == perfetto.TrackEvent.TYPE_SLICE_BEGIN:
            assert event.track_uuid not in open_at, "slices of a track overlap"
            open_at[event.track_uuid] = packet.timestamp
            count[names[event.name_iid].split()[0]] += 1
        elif event.type == perfetto.TrackEvent.TYPE_SLICE_END:
            length = packet.timestamp - open_at.pop(event.track_uuid)
            busy[tracks[event.track_uuid].name.split()[0]] += length
    assert not open_at
    facts, activity = schedule.report(), schedule.activity(1)
    assert sum(count.values()) == facts["entries"]
    for op, times in facts["instructions_by_op"].items():
        assert count[op] == times
    # A cycle is a nanosecond.
    units = {kind["kind"]: kind["busy_cycles"] for kind in activity["kinds"]}
    assert {name: busy[name] for name in ("ntt", "aut", "mul", "add", "channel")} == {
        name: units[name] for name in ("ntt", "aut", "mul", "add", "channel")
    }
    roots = [t for t in tracks.values() if not t.HasField("parent_uuid")]
    assert {"cluster 0", "crossbar s2c", "spad", "off-chip memory"} <= {t.name for t in roots}


def test_the_command_writes_reports_and_traces(cyclotron: Command, tmp_path: Path) -> None:
    words = ("compile", "matvec", "--param", "n=4096", "--param", "rows=1", "--on", "f1")
    done = cyclotron(*words, "-o", "m.schedule", "--report", "one", "--trace", "one.pftrace")
    assert done.code == 0, done.err
    assert (tmp_path / "one" / "index.html").exists()
    done = cyclotron("report", "m.schedule", "--report", "two", "--trace", "two.pftrace")
    assert done.code == 0, done.err
    first, second = (tmp_path / f"{name}.pftrace" for name in ("one", "two"))
    assert first.read_bytes() == second.read_bytes()
    tables = [(tmp_path / name / "power.csv").read_text() for name in ("one", "two")]
    assert tables[0] == tables[1]
    assert cyclotron("report", "m.schedule").code == 0
    assert (tmp_path / "m.report" / "index.html").exists()
    done = cyclotron("run", "matvec", "--report", "three")
    assert done.code == 2
    assert "give a machine with --on" in done.err

import json
from html.parser import HTMLParser
from pathlib import Path

import pytest

pytest.importorskip("matplotlib")

from vf_grpo.report import main, smoothed

ATTACK = "<script>alert('x')</script><img src=x onerror=alert(1)>&amp;"


def write_run(folder: Path, replies: list[str]) -> Path:
    folder.mkdir()
    record = {"status": "finished", "reason": None, "config": {"model": ATTACK}, "versions": {}, "git_commit": None}
    (folder / "run.json").write_text(json.dumps(record))
    steps = [{"step": i, "phase": "train", "proxy_mean": i / 10, "true_mean": 0.5, "gap": None} for i in range(10)]
    (folder / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in steps))
    episodes = [{"step": s, "phase": "train", "task": ATTACK, "reward": 1.0, "replies": replies} for s in (0, 9)]
    (folder / "rollouts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in episodes) + '{"step": 9, "pha')
    return folder


class Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.sources: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.sources += [value or "" for name, value in attrs if name in ("src", "href")]

    def handle_data(self, data: str) -> None:
        self.text += data


def test_a_report_compares_runs_on_one_page_that_needs_nothing_else(tmp_path: Path) -> None:
    runs = [write_run(tmp_path / name, ["fine"]) for name in ("one", "two")]
    assert main([str(run) for run in runs]) == 0
    page = Page()
    page.feed((runs[0] / "report.html").read_text())
    assert "one" in page.text
    assert "two" in page.text
    assert "0.700" in page.text
    assert all(source.startswith("data:image/png;base64,") for source in page.sources)
    assert (runs[0] / "report.png").read_bytes().startswith(b"\x89PNG")


def test_what_a_model_wrote_is_never_markup(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", [ATTACK])
    assert main([str(run), "--output-dir", str(tmp_path / "out")]) == 0
    page = Page()
    page.feed((tmp_path / "out" / "report.html").read_text())
    assert "script" not in page.tags
    assert page.tags.count("img") == 1
    assert ATTACK in page.text


def test_a_folder_without_a_run_is_refused_by_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path)]) == 2
    assert str(tmp_path) in capsys.readouterr().err


def test_smoothing_is_a_trailing_mean() -> None:
    assert smoothed([0, 2, 4]) == [0, 1, 2]

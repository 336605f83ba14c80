"""The Python of the book and of the READMEs runs, and prints what its comments say."""

import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[4]
PAGES = [page for page in sorted((ROOT / "book" / "src").rglob("*.md")) if "```python\n" in page.read_text(encoding="utf-8")]
README = ROOT / "README.md"


def program(page):
    return "\n".join(re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL))


def printed(text, folder):
    done = subprocess.run([sys.executable, "-c", text], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("page", [README, *PAGES], ids=lambda page: page.stem)
def test_the_python_of_a_page_prints_what_it_says(page, tmp_path):
    if page == README:
        model = re.search(r"^```rust\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
        (tmp_path / "pendulum.rs").write_text(model[1], encoding="utf-8")
    text = program(page)
    expected = re.findall(r"^print\(.*#  ?(.+)$", text, re.MULTILINE)
    assert expected and printed(text, tmp_path).splitlines() == expected


def test_the_readme_runs(tmp_path):
    check = "assert ensemble.ends.shape == (100, 7) and run(numpy.linspace(0, 20, 50)).shape == (50, 4)"
    told = printed(program(ROOT / "fbint-runtime" / "python" / "README.md") + check, tmp_path)
    assert told.startswith("pendulum: DOP853, projected after each step") and (tmp_path / "path.svg").exists()


def test_a_page_has_python():
    assert PAGES

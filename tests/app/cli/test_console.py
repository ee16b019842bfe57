"""Tables on the terminal."""

import io

from rich.console import Console

from kernelknife.app.cli.console import PLAIN, as_line, print_table

# Names that rich takes for an emoji, for markup, or for something to highlight or to wrap.
AWKWARD = ["gene:a:1", "[bold]dose[/bold]", "a\\[b", "'x' 1.5 https://x.org", "long " * 60 + "name"]


def test_a_terminal_shows_names_as_they_are(monkeypatch):
    screen = Console(file=io.StringIO(), force_terminal=True, width=40, color_system=None, **PLAIN)
    monkeypatch.setattr("kernelknife.app.cli.console.out", screen)
    print_table(("column", "weight"), [(name, "0.5") for name in AWKWARD], numeric=(1,))
    shown = screen.file.getvalue()
    assert "gene:a:1" in shown
    assert "[bold]dose[/bold]" in shown
    letters = "".join(shown.replace("0.5", "").split())
    assert "".join(AWKWARD[-1].split()) in letters, "a long name is folded, not cut"
    assert max(map(len, shown.splitlines())) <= 40


def test_control_characters_do_not_reach_the_terminal(capsys):
    print_table(("column",), [("height\n(cm)\t\x1b[31m",)])
    assert capsys.readouterr().out == "column\nheight (cm)  [31m\n"


def test_a_name_of_thousands_of_letters_does_not_fill_the_terminal():
    line = as_line(f"1 of 4 columns matters for y: {'n' * 3000}end.")
    assert len(line) < 130
    assert line.startswith("1 of 4 columns matters for y: nnn")
    assert line.endswith("nend.")
    assert as_line("a" * 200) == "a" * 200

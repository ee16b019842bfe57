"""Write the reference of the command from its own help, so that it names every option."""

from pathlib import Path

from typer.main import get_command
from typer.testing import CliRunner

from kernelknife.app.cli.app import app

OUTPUT = Path(__file__).parent / "generated" / "commands.md"


def write_reference():
    """Write one section per command, with its help."""
    sections = []
    for name in get_command(app).commands:
        text = CliRunner(env={"COLUMNS": "88"}).invoke(app, [name, "--help"]).stdout
        text = text.replace(f"Usage: root {name}", f"Usage: kernelknife {name}").strip()
        sections.append(f"## kernelknife {name}\n\n```text\n{text}\n```\n")
    OUTPUT.parent.mkdir(exist_ok=True)
    OUTPUT.write_text("\n".join(sections), encoding="utf-8")


if __name__ == "__main__":
    write_reference()

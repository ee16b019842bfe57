"""What is published: contents of the built packages, the conda recipe, the files that go with them.

``python -m build`` makes the packages; the tests that look into them are skipped where that has not
been done. ``.ci/run`` builds them, runs these tests and installs the wheel in an empty environment.
"""

import re
import tarfile
import tomllib
import zipfile
from email import message_from_bytes
from pathlib import Path

import pytest

import kernelknife

ROOT = Path(__file__).parents[1]
NAME = f"kernelknife-{kernelknife.__version__}"
MODULES = {
    path.relative_to(ROOT / "src").as_posix()
    for path in (ROOT / "src" / "kernelknife").rglob("*")
    if path.suffix in (".py", ".css", ".js", ".html") or path.name == "py.typed"
}
LARGEST = 1_000_000  # bytes: a file of data in a package would exceed it


def built(ending):
    """Return a built package, or skip the test."""
    path = ROOT / "dist" / f"{NAME}{ending}"
    if not path.is_file():
        pytest.skip("the packages are not built: python -m build")
    return path


def test_the_wheel_holds_the_package_and_nothing_else():
    path = built("-py3-none-any.whl")
    assert path.stat().st_size < LARGEST
    with zipfile.ZipFile(path) as wheel:
        names = set(wheel.namelist())
        facts = message_from_bytes(wheel.read(f"{NAME}.dist-info/METADATA"))
        scripts = wheel.read(f"{NAME}.dist-info/entry_points.txt").decode()
    code = {name for name in names if not name.startswith(f"{NAME}.dist-info/")}
    assert code == MODULES
    assert f"{NAME}.dist-info/licenses/LICENSE" in names
    assert "kernelknife = kernelknife.app.cli:main" in scripts
    assert facts["Requires-Python"] == ">=3.11"
    core = {
        re.match(r"[a-z][a-z0-9-]*", line)[0]
        for line in facts.get_all("Requires-Dist")
        if "extra ==" not in line
    }
    assert core == {"numpy", "scipy", "scikit-learn"}


def test_the_source_package_holds_what_is_needed_to_build_it_again():
    path = built(".tar.gz")
    assert path.stat().st_size < LARGEST
    with tarfile.open(path) as archive:
        names = {name.removeprefix(f"{NAME}/") for name in archive.getnames()}
    beside = {"CHANGELOG.md", "CITATION.cff", "CONTRIBUTING.md", "LICENSE", "README.md"}
    written = {".gitignore", "PKG-INFO", "pyproject.toml"}
    assert names == {f"src/{name}" for name in MODULES} | beside | written


# -- conda ----------------------------------------------------------------------------------------


@pytest.fixture
def recipe():
    yaml = pytest.importorskip("yaml")
    return yaml.safe_load((ROOT / "recipe" / "meta.yaml").read_text(encoding="utf-8"))


def project():
    with open(ROOT / "pyproject.toml", "rb") as file:
        return tomllib.load(file)["project"]


def by_name(lines):
    """Return requirements such as ``numpy >=2.0`` by name, without blanks."""
    parted = (re.fullmatch(r"([a-z][a-z0-9-]*)(?:\[[a-z,]+\])?\s*(.*)", line) for line in lines)
    return {match[1]: match[2].replace(" ", "") for match in parted}


# Fields that conda-build knows, with the type of each. It refuses a recipe that has others.
FIELDS = {
    "package": {"name": str, "version": str},
    "source": {"path": str, "url": str, "sha256": str, "git_url": str, "git_rev": str},
    "build": {"number": int, "noarch": str, "script": str, "entry_points": list, "skip": bool},
    "requirements": {"build": list, "host": list, "run": list, "run_constrained": list},
    "test": {"requires": list, "imports": list, "commands": list, "files": list},
    "about": {
        **{"home": str, "dev_url": str, "doc_url": str, "license": str, "license_family": str},
        **{"license_file": str, "summary": str, "description": str},
    },
    "extra": {"recipe-maintainers": list},
}


def test_the_recipe_has_fields_that_conda_build_knows(recipe):
    for section, fields in recipe.items():
        for name, value in fields.items():
            assert isinstance(value, FIELDS[section][name]), f"{section}/{name}"
    for needed in ("package", "source", "build", "requirements", "test", "about"):
        assert needed in recipe
    assert recipe["build"]["noarch"] == "python"
    # A requirement is a name, and a version behind one blank.
    for kind in ("host", "run"):
        for line in recipe["requirements"][kind]:
            assert re.fullmatch(r"[a-z][a-z0-9-]*( >=[\d.]+)?", line)
    assert (ROOT / recipe["about"]["license_file"]).is_file()


def test_the_recipe_asks_for_what_the_project_asks_for(recipe):
    facts = project()
    assert recipe["package"]["version"] == kernelknife.__version__
    assert recipe["about"]["license"] == facts["license"]
    assert recipe["build"]["entry_points"] == [
        f"{name} = {place}" for name, place in facts["scripts"].items()
    ]
    run = by_name(recipe["requirements"]["run"])
    assert run.pop("python") == facts["requires-python"]
    # A conda package has no extras: the command comes with it.
    wanted = by_name(facts["dependencies"]) | by_name(facts["optional-dependencies"]["cli"])
    renamed = {"matplotlib": "matplotlib-base"}
    assert run == {renamed.get(name, name): version for name, version in wanted.items()}


# -- files that go with a project -----------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["CODE_OF_CONDUCT.md", "SECURITY.md", "CONTRIBUTING.md", "LICENSE"]
)
def test_what_goes_with_a_project_is_there(name):
    assert len((ROOT / name).read_text(encoding="utf-8").split()) > 80


def test_issue_templates_are_forms_that_can_be_read():
    yaml = pytest.importorskip("yaml")
    folder = ROOT / ".github" / "ISSUE_TEMPLATE"
    forms = [yaml.safe_load(path.read_text("utf-8")) for path in folder.glob("*.yml")]
    forms = [form for form in forms if "body" in form]
    assert len(forms) == 3
    for form in forms:
        assert {"name", "description", "body"} <= set(form)
        ids = [part["id"] for part in form["body"] if part["type"] != "markdown"]
        assert len(ids) == len(set(ids))
        assert all(part["attributes"] for part in form["body"])


def test_the_citation_can_be_read_and_has_this_version():
    yaml = pytest.importorskip("yaml")
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["cff-version"] == "1.2.0"
    assert {"message", "title", "authors"} <= set(citation)
    assert citation["version"] == kernelknife.__version__
    assert citation["preferred-citation"]["title"].startswith("KNIFE")

"""The layers of the package: who may import whom, what stays private, who may see an estimator.

Nearly all of these tests read the source with ``ast`` and run none of it.
"""

import ast
import inspect
import subprocess
import sys
import tokenize
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

import kernelknife
from kernelknife import (
    KnifeClassifier,
    KnifeClassifierCV,
    KnifeRegressor,
    KnifeRegressorCV,
    knife_path,
)

SOURCE = Path(kernelknife.__file__).parent
TESTS = Path(__file__).parent

# From top to bottom: a module imports from its own layer and from those above it.
LAYERS = (
    ("_utils",),
    ("kernels", "losses"),
    ("_engine",),
    ("_tuning", "_error_rates", "_components", "_streaming"),
    (
        # what the public modules share
        *("_base", "_fold_models", "_offsets", "_search_base", "_selector", "_table_base"),
        # what a user imports
        *("estimators", "cross_validation", "path", "decomposition", "discriminant"),
        *("canonical", "canonical_path", "stability", "knockoffs", "inspection", "datasets"),
        *("survival", "survival_cv", "survival_metrics"),
        *("streaming", "sources", "export"),
    ),
    ("app", "__main__"),
)
DEPTH = {name: depth for depth, layer in enumerate(LAYERS) for name in layer}
PUBLIC = DEPTH["estimators"]

# Result objects show themselves in notebooks. They import what draws them when they are asked to.
DRAWN_LATER = {("path", "app")}

# Public although they begin with an underscore: scikit-learn's protocol for the callbacks of an
# estimator, and what a named tuple offers.
FOREIGN_PROTOCOL = {"_init_callback_context", "_replace"}

# It opens rows of every kind, and has to look at what it is given.
FACTORIES = {"_engine.data.opening"}

# Below the public layer, these alone see an estimator: they read its parameters, hand it to a
# scorer that scikit-learn or a user has written, or follow its protocols.
SEE_ESTIMATORS = {
    "_engine.spec.FitSpec.from_estimator",
    "_engine.policy.task_of",
    "_tuning.candidates.SearchSpec.from_estimator",
    "_tuning.folds.Scoring.checked",
    "_tuning.folds.Unweighted.__call__",
    "_utils.progress",
}
# Opens data in scikit-learn's way, as its validate_data does: sets number and names of the columns.
SETS_ATTRIBUTES = {"_base.open_rows_of"}

MOST_LINES_OF_A_FUNCTION = 50
MOST_LINES_OF_A_MODULE = 600


@dataclass(frozen=True)
class Module:
    """A module of the package, parsed."""

    path: Path

    @property
    def parts(self) -> tuple[str, ...]:
        """The dotted name inside the package, in parts; a package is its ``__init__``."""
        parts = self.path.relative_to(SOURCE).with_suffix("").parts
        return parts[:-1] if parts[-1] == "__init__" else parts

    @property
    def name(self) -> str:
        return ".".join(self.parts)

    @property
    def package(self) -> tuple[str, ...]:
        """The package that the module stands in."""
        return self.parts if self.path.name == "__init__.py" else self.parts[:-1]

    @property
    def depth(self) -> int:
        """The number of its layer."""
        return DEPTH[self.parts[0]]

    @property
    def tree(self) -> ast.Module:
        return _parse(self.path)


@cache
def _parse(path):
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


MODULES = [
    Module(path)
    for path in sorted(SOURCE.rglob("*.py"))
    if path != SOURCE / "__init__.py"  # it imports on first use, by name
]


def each_module(function):
    return pytest.mark.parametrize("module", MODULES, ids=lambda module: module.name)(function)


def is_module(parts):
    return (SOURCE.joinpath(*parts).with_suffix(".py")).is_file() or (
        SOURCE.joinpath(*parts) / "__init__.py"
    ).is_file()


def own_imports(module):
    """Yield ``(line, module parts, name)`` of every import from the package itself.

    ``name`` is None where a whole module is imported.
    """
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                parts = tuple(alias.name.split("."))
                if parts[0] == "kernelknife":
                    yield node.lineno, parts[1:], None
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{module.name}:{node.lineno} has a relative import"
            parts = tuple(node.module.split("."))
            if parts[0] != "kernelknife":
                continue
            for alias in node.names:
                inside = (*parts[1:], alias.name)
                if is_module(inside):
                    yield node.lineno, inside, None
                elif len(inside) == 1 and alias.name in kernelknife._HOMES:
                    # What the package offers to users lies in a module of its own.
                    yield node.lineno, tuple(kernelknife._HOMES[alias.name].split(".")), alias.name
                else:
                    yield node.lineno, parts[1:], alias.name


# -- layers ---------------------------------------------------------------------------------------


def test_every_module_has_a_layer_and_every_layer_its_modules():
    assert {module.parts[0] for module in MODULES} == set(DEPTH)


def layer_violations(module):
    for line, parts, name in own_imports(module):
        if not parts:
            assert name == "__version__", f"{module.name}:{line} imports {name}"
        elif DEPTH[parts[0]] > module.depth and (module.name, parts[0]) not in DRAWN_LATER:
            yield f"{module.name}:{line} imports from {'.'.join(parts)}, a later layer"


@each_module
def test_no_module_imports_from_a_later_layer(module):
    assert not list(layer_violations(module))


def inside_functions(module):
    functions = (n for n in ast.walk(module.tree) if isinstance(n, ast.FunctionDef))
    return {id(node) for function in functions for node in ast.walk(function)}


def test_what_is_drawn_later_is_imported_late_and_the_list_has_nothing_else():
    seen = set()
    for module in MODULES:
        late = inside_functions(module)
        for node in ast.walk(module.tree):
            if not isinstance(node, ast.ImportFrom) or not node.module.startswith("kernelknife."):
                continue
            place = node.module.split(".")[1]
            if (module.name, place) in DRAWN_LATER:
                assert id(node) in late, f"{module.name} imports {place} when it is imported"
                seen.add((module.name, place))
    assert seen == DRAWN_LATER


LIBRARY = """
import sys
import kernelknife, kernelknife.inspection, kernelknife.datasets
X, y = kernelknife.datasets.make_sinusoidal(30, 2, random_state=0)
for name in kernelknife.__all__:
    if kernelknife._HOMES.get(name, "app").split(".")[0] != "app":
        getattr(kernelknife, name)
kernelknife.KnifeRegressor().fit(X, y).predict(X)
kernelknife.knife_path(X, y, sparsities=3)
print(*(name for name in sys.modules if name.startswith(("kernelknife.app", "matplotlib"))))
"""


@pytest.mark.parametrize("code", ["import sys, kernelknife; print()", LIBRARY], ids=["bare", "all"])
def test_the_library_does_without_the_application(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


# -- privacy --------------------------------------------------------------------------------------


def is_private(name):
    return name.startswith("_") and not name.endswith("__")


def defined_names(module):
    """Return the private names that a module defines, attributes of its objects included."""
    names = set()
    for node in ast.walk(module.tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.Attribute) and of_itself(node):
            names.add(node.attr)
    return names


def of_itself(node):
    """Whether an attribute is one of ``self`` or ``cls``."""
    return isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")


def privacy_violations(module):
    for line, parts, name in own_imports(module):
        if name is not None and is_private(name):
            yield f"{module.name}:{line} imports {name} of {'.'.join(parts)}"
        # A package such as _engine is private to kernelknife, app.cli._select to app.cli.
        private_module = is_private(parts[-1]) and len(parts) > 1 if parts else False
        if private_module and parts[:-1] != module.package:
            yield f"{module.name}:{line} imports the private module {'.'.join(parts)}"
    known = defined_names(module) | FOREIGN_PROTOCOL
    for node in ast.walk(module.tree):
        if not isinstance(node, ast.Attribute) or not is_private(node.attr):
            continue
        if not of_itself(node) and node.attr not in known:
            where = ast.unparse(node)
            yield f"{module.name}:{node.lineno} uses {where}, which another module defines"


@each_module
def test_nothing_private_is_used_from_another_module(module):
    assert not list(privacy_violations(module))


# -- no questions about kinds ---------------------------------------------------------------------


@cache
def kinds():
    """Return the names of all classes of problems and of rows."""
    bases = {
        node.name: {ast.unparse(base) for base in node.bases}
        for module in MODULES
        for node in ast.walk(module.tree)
        if isinstance(node, ast.ClassDef)
    }
    found = {"Problem", "Rows"}
    while more := {name for name, above in bases.items() if above & found} - found:
        found |= more
    return found


def test_the_kinds_are_known():
    expected = {"ExactProblem", "NystromProblem", "ArrayRows", "ParquetRows", "ClusterRows"}
    assert expected <= kinds()


def last_name(node):
    """Return the last name of an expression such as ``setup.problem``, nothing for others."""
    if isinstance(node, ast.Name):
        return node.id
    return node.attr if isinstance(node, ast.Attribute) else ""


def question_violations(module, exceptions=FACTORIES):
    for node in ast.walk(module.tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            continue
        asked = node.func.id
        if asked in ("isinstance", "issubclass"):
            about = {last_name(part) for part in ast.walk(node.args[1])} & kinds()
            if about and module.name not in exceptions:
                yield f"{module.name}:{node.lineno} asks for {', '.join(sorted(about))}"
        elif asked in ("getattr", "hasattr", "type") and node.args:
            thing = last_name(node.args[0]).lstrip("_")
            if thing in ("problem", "rows", "solver"):
                yield f"{module.name}:{node.lineno} asks what {ast.unparse(node.args[0])} is"


@each_module
def test_no_module_asks_which_problem_rows_or_solver_it_has(module):
    assert not list(question_violations(module))


# -- estimators -----------------------------------------------------------------------------------


def functions_of(module):
    """Yield ``(name, node)`` of every function and method, such as ``path.PathResult.at``."""

    def visit(node, name):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef | ast.ClassDef):
                yield from visit(child, f"{name}.{child.name}")
                if isinstance(child, ast.FunctionDef):
                    yield f"{name}.{child.name}", child
            else:
                yield from visit(child, name)

    yield from visit(module.tree, module.name)


def excused(module, exceptions):
    """Return the nodes of the functions of a module that may do what others may not."""
    if module.name in exceptions:
        return {id(node) for node in ast.walk(module.tree)}
    allowed = (node for name, node in functions_of(module) if name in exceptions)
    return {id(inner) for node in allowed for inner in ast.walk(node)}


def estimator_violations(module, exceptions=SEE_ESTIMATORS):
    """Yield what a module below the public layer does with an estimator."""
    if module.depth >= PUBLIC:
        return
    allowed = excused(module, exceptions)
    for node in ast.walk(module.tree):
        if id(node) in allowed:
            continue
        where = f"{module.name}:{getattr(node, 'lineno', 0)}"
        if isinstance(node, ast.arg) and node.arg in ("estimator", "template"):
            yield f"{where} has a parameter {node.arg!r}"
        elif isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            last = called.rpartition(".")[2]
            copies = called in ("clone", "copy", "deepcopy", "copy.copy", "copy.deepcopy")
            # Rows may copy themselves.
            copies &= not node.args or ast.unparse(node.args[0]) != "self"
            if copies or last in ("set_params", "get_params"):
                yield f"{where} calls {called}"


@each_module
def test_below_the_public_layer_nothing_sees_an_estimator(module):
    assert not list(estimator_violations(module))


def is_fitted_attribute(name):
    return name.endswith("_") and not name.endswith("__")


def assigned_targets(node):
    """Yield the attributes that a statement assigns, those in tuples included."""
    if isinstance(node, ast.Assign):
        targets = node.targets
    elif isinstance(node, ast.AugAssign | ast.AnnAssign):
        targets = [node.target]
    else:
        return
    for target in targets:
        parts = target.elts if isinstance(target, ast.Tuple | ast.List) else [target]
        yield from (part for part in parts if isinstance(part, ast.Attribute))


def assignment_violations(module, exceptions=SETS_ATTRIBUTES):
    """Yield the places where a fitted attribute is set by somebody else than its object."""
    allowed = excused(module, exceptions)
    for node in ast.walk(module.tree):
        if id(node) in allowed:
            continue
        for target in assigned_targets(node):
            if is_fitted_attribute(target.attr) and not of_itself(target):
                yield f"{module.name}:{node.lineno} sets {ast.unparse(target)}"
        if isinstance(node, ast.Attribute) and node.attr == "__dict__" and not of_itself(node):
            yield f"{module.name}:{node.lineno} reaches into {ast.unparse(node)}"
        sets = isinstance(node, ast.Call) and ast.unparse(node.func) == "setattr"
        if sets and ast.unparse(node.args[0]) not in ("self", "cls"):
            yield f"{module.name}:{node.lineno} calls {ast.unparse(node)}"


@each_module
def test_no_attribute_of_an_estimator_is_set_from_outside(module):
    assert not list(assignment_violations(module))


@pytest.mark.parametrize(
    ("check", "exceptions"),
    [
        (estimator_violations, SEE_ESTIMATORS),
        (assignment_violations, SETS_ATTRIBUTES),
        (question_violations, FACTORIES),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_no_exception_is_needless(check, exceptions):
    for name in exceptions:
        without = exceptions - {name}
        assert any(list(check(module, without)) for module in MODULES), f"{name} needs none"


# -- size -----------------------------------------------------------------------------------------


def lines_of_code(path):
    """Return the numbers of the lines of a file that hold more than blanks and comments."""
    nothing = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
    with tokenize.open(path) as file:
        tokens = [t for t in tokenize.generate_tokens(file.readline) if t.type not in nothing]
    return {line for token in tokens for line in range(token.start[0], token.end[0] + 1)}


def size_violations(module):
    text = module.path.read_text(encoding="utf-8")
    if text.count("\n") > MOST_LINES_OF_A_MODULE:
        yield f"{module.name} has {text.count(chr(10))} lines"
    code = lines_of_code(module.path)
    for name, node in functions_of(module):
        body = node.body[1:] if ast.get_docstring(node) is not None else node.body
        if body:
            size = len(code & set(range(body[0].lineno, body[-1].end_lineno + 1)))
            if size > MOST_LINES_OF_A_FUNCTION:
                yield f"{name} at line {node.lineno} has {size} lines"


@each_module
def test_functions_and_modules_can_be_read_at_a_glance(module):
    assert not list(size_violations(module))


# -- these tests can fail -------------------------------------------------------------------------

LONG = "\n".join(["def long():", '    """Do much."""', *["    x = 1"] * 51])
BAD = {
    "from kernelknife.estimators import KnifeRegressor": layer_violations,
    "import kernelknife.path": layer_violations,
    "def later():\n    from kernelknife.app.report import build_report": layer_violations,
    "from kernelknife import KnifeRegressor": layer_violations,
    "from kernelknife import select_features": layer_violations,
    "from kernelknife._engine.model import _same": privacy_violations,
    "from kernelknife.datasets._measured import COLON": privacy_violations,
    "def look(path):\n    return path._trace": privacy_violations,
    "def ask(x):\n    return isinstance(x, ExactProblem)": question_violations,
    "def ask(x):\n    return isinstance(x, (int, arrays.ArrayRows))": question_violations,
    "def ask(setup):\n    return hasattr(setup.problem, 'centers')": question_violations,
    "def ask(rows):\n    return getattr(rows, 'client', None)": question_violations,
    "def ask(solver):\n    return type(solver) is int": question_violations,
    "def fit(estimator):\n    pass": estimator_violations,
    "def fit(X, *, template=None):\n    pass": estimator_violations,
    "def fit(model):\n    return clone(model)": estimator_violations,
    "def fit(model):\n    return model.set_params(alpha=1.0)": estimator_violations,
    "def fit(model):\n    return copy.copy(model)": estimator_violations,
    "def fit(model):\n    model.weights_ = 1": assignment_violations,
    "def fit(model):\n    model.a, model.b_ = 1, 2": assignment_violations,
    "def fit(model):\n    setattr(model, 'weights_', 1)": assignment_violations,
    "def fit(model):\n    model.__dict__.update(weights_=1)": assignment_violations,
    LONG: size_violations,
    "x = 1\n" * 601: size_violations,
}


@pytest.mark.parametrize("code", BAD, ids=lambda code: code[:60])
def test_a_violation_is_seen(code, tmp_path):
    folder = tmp_path / "_engine"
    folder.mkdir()
    (folder / "new.py").write_text(code)

    class Guest(Module):
        parts = ("_engine", "new")

    found = list(BAD[code](Guest(folder / "new.py")))
    assert len(found) == 1, found


def test_what_is_allowed_is_not_reported(tmp_path):
    code = (
        "from kernelknife._utils.checks import draw_seed\n"
        "from kernelknife.losses import Loss\n"
        "class Fitted:\n"
        "    def fit(self, X):\n"
        "        self.weights_, self._X = X.copy(), X\n"
        "        other.plain = self._X\n" + LONG.replace("    x = 1\n", "", 1)
    )
    (tmp_path / "new.py").write_text(code)

    class Guest(Module):
        parts = ("_engine", "new")

    for check in set(BAD.values()):
        assert not list(check(Guest(tmp_path / "new.py"))), check


# -- the list of slow tests ---------------------------------------------------------------------


def test_what_is_called_slow_is_there():
    """A list of names that no test has any more would leave nothing out."""
    conftest = TESTS / "conftest.py"
    (listed,) = (
        node.value
        for node in _parse(conftest).body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "SLOW"
    )
    names = eval(compile(ast.Expression(listed), str(conftest), "eval"))
    for name in names:
        place, _, test = name.partition("::")
        path = TESTS.parent / place
        assert path.exists(), place
        function = test.partition("[")[0]
        assert not function or f"def {function}" in path.read_text(encoding="utf-8"), name


# -- one list of parameters -----------------------------------------------------------------------

SINGLE_ONLY = {"alpha", "sparsity", "refresh_centers", "learn_weights"}
CV_ONLY = {
    *("alphas", "sparsities", "include_all", "rule", "scoring", "cv", "search_rows", "nested"),
}
# Cross-validation can choose among several values of these, and does so by default.
CHOSEN_BY_FOLDS = {"kernel": "auto", "relax": "auto", "n_centers": "auto"}


def defaults(function):
    """Return the default of every parameter that has a name."""
    named = (p for p in inspect.signature(function).parameters.values() if p.name != "self")
    return {p.name: p.default for p in named if p.kind is not p.VAR_KEYWORD}


def test_both_tasks_share_one_list():
    assert KnifeRegressor.__init__ is KnifeClassifier.__init__
    assert KnifeRegressorCV.__init__ is KnifeClassifierCV.__init__


def test_cross_validation_has_the_parameters_of_the_single_estimator():
    single, chosen = defaults(KnifeRegressor), defaults(KnifeRegressorCV)
    assert set(single) - set(chosen) == SINGLE_ONLY
    assert set(chosen) - set(single) == CV_ONLY
    shared = [name for name in single if name not in SINGLE_ONLY]
    assert shared == [name for name in chosen if name not in CV_ONLY], "they stand in one order"
    same = {name: single[name] for name in shared} | CHOSEN_BY_FOLDS
    assert {name: chosen[name] for name in shared} == same


def test_a_path_takes_every_parameter_of_the_estimator(monkeypatch):
    single, named = defaults(KnifeRegressor), defaults(knife_path)
    assert {name: named[name] for name in named if name in single} == {
        name: single[name] for name in ("kernel", "loss", "alpha")
    }
    models = []
    monkeypatch.setattr("kernelknife.path._run", lambda model, *_: models.append(model))
    X, y = [[0.0], [1.0]], [0.0, 1.5]
    knife_path(X, y)
    assert models[-1].get_params() == single
    # A parameter that is passed on arrives; those that a path has in its own way are refused.
    for name in single:
        given = {name: f"a value of {name}"} if name != "loss" else {"loss": "huber"}
        if name in ("sparsity", "n_features_to_select"):
            with pytest.raises(TypeError, match=f"takes no {name}"):
                knife_path(X, y, **given)
            continue
        knife_path(X, y, **given)
        assert models[-1].get_params(deep=False) == {**single, **given}
    with pytest.raises(TypeError, match="unexpected keyword"):
        knife_path(X, y, bandwidth=1.0)


def test_a_selection_begins_with_the_estimators_kernel_and_loss():
    from kernelknife.app.selection import select_features

    chosen, search = defaults(select_features), defaults(KnifeRegressorCV)
    for name in ("kernel", "loss", "rule", "n_centers", "n_jobs"):
        assert chosen[name] == search[name], name

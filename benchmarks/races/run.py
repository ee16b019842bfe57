"""Race kernelknife against what people use today; one command, resumable.

    python benchmarks/races/run.py

makes an environment of its own beside this file (``.venv``, from ``requirements.txt``), runs every
method on every problem and seed that ``results/races.csv`` does not have yet, adds a row for each,
and writes ``docs/benchmarks.md``. Each run is a process of its own, with one thread or two, ended
at its limit; a method begins no further seed of a problem once it has spent its budget there.
"""

import argparse
import csv
import importlib.metadata
import os
import platform
import signal
import subprocess
import sys
import venv
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
RESULTS = HERE.parent / "results" / "races.csv"
COMPUTER = HERE.parent / "results" / "races_computer.csv"
ENVIRONMENT = HERE / ".venv"
FIELDS = [
    "method",
    "problem",
    "n",
    "p",
    "seed",
    "threads",
    "status",
    "recall",
    "f1",
    "selected",
    "own_error",
    "common_error",
    "seconds",
    "peak_mib",
    "message",
    "commit",
]
KEY = ("method", "problem", "n", "seed", "threads")


def main():
    options = parse()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that a run in progress is ended too
    if not options.here:
        enter_environment()
    check_names(options)
    import worker

    facts = computer_facts()
    if options.fresh:
        for path in (RESULTS, COMPUTER):
            path.unlink(missing_ok=True)
    check_computer(facts)
    worker.warm_up()
    done = read_rows()
    if options.again:
        done = [row for row in done if row["method"] not in options.again]
        write_rows(done)
    for job in jobs(options, done):
        row = worker.run_apart(job, options.limit)
        row["commit"] = commit()
        done.append(row)
        append_row(row)
        print(*(f"{row[name]}" for name in FIELDS[:13]), row["message"][:60], flush=True)
    if not options.no_page:
        subprocess.run([sys.executable, str(HERE / "page.py")], check=True)


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--methods", nargs="*", help="names to run, all by default")
    parser.add_argument("--problems", nargs="*", help="parts of names, all by default")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--limit", type=float, default=60.0, help="seconds for one run")
    parser.add_argument("--budget", type=float, default=40.0, help="seconds per problem")
    parser.add_argument("--fresh", action="store_true", help="throw all rows away first")
    parser.add_argument("--again", nargs="*", help="methods whose rows are thrown away first")
    parser.add_argument("--here", action="store_true", help="use the environment that is active")
    parser.add_argument("--no-page", action="store_true", help="do not write the page")
    return parser.parse_args()


def check_names(options):
    """Stop where a method or a problem is not known: a misspelled one is not a result."""
    import peers
    import problems

    for name in [*(options.methods or ()), *(options.again or ())]:
        if name not in peers.METHODS:
            sys.exit(f"There is no method {name!r}; there are {', '.join(peers.METHODS)}.")
    for part in options.problems or ():
        if not any(part in key for key in problems.BY_KEY):
            sys.exit(
                f"No problem has {part!r} in its name; there are {'; '.join(problems.BY_KEY)}."
            )


def drawable(problem):
    """Whether a problem's data are there; a sentence says so where they are not."""
    from kernelknife.datasets import DataFileError

    if problem.synthetic:
        return True
    try:
        problem.draw(problem.n, 0)
    except DataFileError as error:
        print(f"left out, {problem.name}: {error}", flush=True)
        return False
    return True


def enter_environment():
    """Run this file again with the races' own interpreter, made where it is missing."""
    python, complete = ENVIRONMENT / "bin" / "python", ENVIRONMENT / "complete"
    if not complete.exists():
        print(f"making {ENVIRONMENT.relative_to(ROOT)} ...", flush=True)
        venv.create(ENVIRONMENT, with_pip=True, clear=True)
        # The package as it stands in the folder, so that what races is what git shows.
        for wanted in (["-r", str(HERE / "requirements.txt")], ["-e", f"{ROOT}[plot,data]"]):
            subprocess.run([python, "-m", "pip", "install", "-q", *wanted], check=True)
        complete.touch()
    # BLAS reads its number of threads once: two at most, limited again in each run.
    threads = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "2")
    os.execve(python, [str(python), *sys.argv, "--here"], {**os.environ, **threads})


def jobs(options, done):
    """Yield what is to run, seed by seed, so that every method has some seeds early."""
    import peers
    import problems

    finished = {tuple(str(row[name]) for name in KEY) for row in done}
    methods = options.methods or list(peers.METHODS)
    chosen = [
        problem
        for problem in problems.PROBLEMS + problems.SIZES
        if not options.problems or any(part in problem.key for part in options.problems)
    ]
    chosen = [problem for problem in chosen if drawable(problem)]
    for seed in range(options.seeds):
        for problem in chosen:
            for name in methods:
                key = (name, problem.name, str(problem.n), str(seed), str(options.threads))
                if key in finished:
                    continue
                before = [row for row in done if same_cell(row, key)]
                spent = sum(float(row["seconds"] or 0) for row in before)
                failed = any(row["status"] != "ok" for row in before)
                if failed or spent > options.budget:
                    continue
                yield {
                    "method": name,
                    "problem": problem.key,
                    "seed": seed,
                    "threads": options.threads,
                }


def same_cell(row, key):
    return (row["method"], row["problem"], str(row["n"]), str(row["threads"])) == (*key[:3], key[4])


def read_rows():
    if not RESULTS.exists():
        return []
    with RESULTS.open(newline="") as file:
        return list(csv.DictReader(file))


def write_rows(rows):
    RESULTS.parent.mkdir(exist_ok=True)
    with RESULTS.open("w", newline="") as file:
        table = csv.DictWriter(file, FIELDS)
        table.writeheader()
        table.writerows(rows)


def append_row(row):
    if not RESULTS.exists():
        write_rows([])
    with RESULTS.open("a", newline="") as file:
        csv.DictWriter(file, FIELDS).writerow(row)


def commit():
    """Return the commit, marked where the package differs from it."""

    def git(*arguments):
        command = ["git", *arguments]
        return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False).stdout

    changed = git("status", "--porcelain", "--", "src", "benchmarks/races").strip()
    return git("rev-parse", "--short", "HEAD").strip() + ("-changed" if changed else "")


def computer_facts():
    """Return what the figures depend on: processor, memory, versions."""
    import peers
    import psutil

    def version(package):
        try:
            return importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            return "not installed"

    cpu = platform.processor() or platform.machine()
    if Path("/proc/cpuinfo").exists():
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        cpu = next((x.split(":")[1].strip() for x in lines if x.startswith("model name")), cpu)
    packages = ["numpy", "scipy", "torch", *sorted({m.package for m in peers.METHODS.values()})]
    return {
        "processor": cpu,
        "cores": str(os.cpu_count()),
        "memory": f"{psutil.virtual_memory().total / 2**30:.0f} GiB",
        "system": platform.system(),
        "python": platform.python_version(),
        **{name: version(name) for name in dict.fromkeys(packages)},
    }


def check_computer(facts):
    """Write the facts beside the rows, or stop where the rows are of another computer."""
    if not COMPUTER.exists():
        with COMPUTER.open("w", newline="") as file:
            csv.writer(file).writerows([("what", "value"), *facts.items()])
        return
    with COMPUTER.open(newline="") as file:
        known = {row["what"]: row["value"] for row in csv.DictReader(file)}
    other = [f"{name} {known.get(name)}" for name in facts if known.get(name) != facts[name]]
    if other:
        sys.exit(
            f"{RESULTS.name} was measured with {', '.join(other)}, which is not what runs here. "
            "Times of two computers do not belong in one table: --fresh begins a new one."
        )


if __name__ == "__main__":
    main()

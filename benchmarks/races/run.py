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
import time
import venv
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
RESULTS = HERE.parent / "results" / "races.csv"
MACHINE = HERE.parent / "results" / "races_machine.csv"
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
    import worker

    worker.warm_up()
    describe_machine()
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
    parser.add_argument("--limit", type=float, default=120.0, help="seconds for one run")
    parser.add_argument("--budget", type=float, default=100.0, help="seconds per problem")
    parser.add_argument("--again", nargs="*", help="methods whose rows are thrown away first")
    parser.add_argument("--here", action="store_true", help="use the environment that is active")
    parser.add_argument("--no-page", action="store_true", help="do not write the page")
    return parser.parse_args()


def enter_environment():
    """Run this file again with the races' own interpreter, made where it is missing."""
    python = ENVIRONMENT / "bin" / "python"
    if not python.exists():
        print(f"making {ENVIRONMENT.relative_to(ROOT)} ...", flush=True)
        venv.create(ENVIRONMENT, with_pip=True)
        for wanted in (
            ["torch==2.13.0"],
            ["-r", str(HERE / "requirements.txt")],
            [f"{ROOT}[plot]"],
        ):
            subprocess.run([python, "-m", "pip", "install", "-q", *wanted], check=True)
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
    found = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    return found.stdout.strip()


def describe_machine():
    """Write what the figures depend on: processor, memory, versions."""
    import peers
    import psutil

    cpu = platform.processor() or platform.machine()
    if Path("/proc/cpuinfo").exists():
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        cpu = next((x.split(":")[1].strip() for x in lines if x.startswith("model name")), cpu)
    packages = ["numpy", "scipy", "torch", *sorted({m.package for m in peers.METHODS.values()})]
    facts = {
        "date": time.strftime("%Y-%m-%d"),
        "processor": cpu,
        "cores": os.cpu_count(),
        "memory": f"{psutil.virtual_memory().total / 2**30:.0f} GiB",
        "system": platform.system(),
        "python": platform.python_version(),
        **{name: importlib.metadata.version(name) for name in dict.fromkeys(packages)},
    }
    with MACHINE.open("w", newline="") as file:
        csv.writer(file).writerows([("what", "value"), *facts.items()])


if __name__ == "__main__":
    main()

"""A Dask cluster of worker processes: the same answer, a killed worker, and what travels.

What goes through client and scheduler is counted by the pickled size of every argument and
every result that the fit submits or gathers.
"""

import os
import pickle
import signal
import threading
import time

import numpy as np
from _common import write

from kernelknife import KnifeRegressor
from kernelknife._engine.data.arrays import ArrayRows
from kernelknife._engine.data.dask import ClusterRows

N, P, M, CHUNK = 400_000, 100, 300, 20_000
PLANTED = {3, 7, 11}


def make_chunk(first, rows):
    """Return a chunk of X and y, made by the worker that holds it."""
    rng = np.random.default_rng(first)
    X = rng.normal(size=(rows, P))
    y = np.sin(2 * X[:, 3]) + X[:, 7] * X[:, 11] + 0.3 * rng.normal(size=rows)
    return np.column_stack([X, y])


class Counted(ClusterRows):
    """Rows that count the bytes of what they send and fetch."""

    traveled = 0

    def _count(self, values):
        plain = [v for v in values if not hasattr(v, "status")]
        Counted.traveled += len(pickle.dumps(plain))

    def share(self, value):
        self._count([value])
        return super().share(value)

    def total(self, function, *arguments, width=1, join=None):
        # Arguments go to the scheduler with every block's task.
        for _ in self.futures:
            self._count(arguments)
        return super().total(function, *arguments, width=width, join=join)

    def apply(self, function, *arguments):
        self._count(arguments)
        return super().apply(function, *arguments)

    def fetch(self, result):
        found = super().fetch(result)
        self._count([found])
        return found

    def sample(self, index):
        self._count([index])
        return super().sample(index)


def main():
    import dask
    import dask.array as da
    from distributed import Client, LocalCluster

    from kernelknife._engine.data import dask as dask_rows

    firsts = range(0, N, CHUNK)
    whole = np.concatenate([make_chunk(first, CHUNK) for first in firsts])
    X, y = whole[:, :P], whole[:, P]
    options = {"n_centers": M, "sparsity": 0.01 * N}
    ArrayRows.rows_per_block = lambda self, width: CHUNK  # the blocks of the cluster
    begin = time.perf_counter()
    alone = KnifeRegressor(**options).fit(np.ascontiguousarray(X), y)
    rows = [{"what": "one process", "workers": 0, "seconds": f"{time.perf_counter() - begin:.1f}"}]
    dask_rows.ClusterRows = Counted

    def lazy():
        parts = [
            da.from_delayed(dask.delayed(make_chunk)(first, CHUNK), (CHUNK, P + 1), float)
            for first in firsts
        ]
        table = da.concatenate(parts)
        return table[:, :P], table[:, P]

    for workers, kill in ((2, False), (4, False), (4, True)):
        cluster = LocalCluster(
            n_workers=workers, threads_per_worker=1, dashboard_address=None, memory_limit=0
        )
        with cluster, Client(cluster) as client:
            if kill:
                victim = sorted(client.run(os.getpid).values())[0]
                threading.Timer(4.0, os.kill, (victim, signal.SIGKILL)).start()
            Counted.traveled = 0
            begin = time.perf_counter()
            model = KnifeRegressor(**options).fit(*lazy())
            seconds = time.perf_counter() - begin
            gap = np.abs(model.weights_ - alone.weights_).max()
            rows.append(
                {
                    "what": "cluster, a worker killed" if kill else "cluster",
                    "workers": workers,
                    "seconds": f"{seconds:.1f}",
                    "largest_difference": f"{gap:.1e}",
                    "traveled_mb": f"{Counted.traveled / 1e6:.2f}",
                    "share_of_x": f"{Counted.traveled / X.nbytes:.5f}",
                    "planted_found": int(set(model.get_support(indices=True)) == PLANTED),
                }
            )
            print(rows[-1], flush=True)
    write("cluster", [{**rows[-1], **dict.fromkeys(rows[-1], ""), **row} for row in rows])


if __name__ == "__main__":
    main()

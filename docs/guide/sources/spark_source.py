"""A data frame of Spark as a source of rows: each partition is summed where it is."""

import pickle

import pyarrow as pa

from kernelknife.sources import Source, joined

KINDS = {"string": "text", "boolean": "number"}
NUMBERS = ("double", "float", "bigint", "int", "smallint", "tinyint")


class SparkSource(Source):
    """A ``pyspark.sql.DataFrame``; the sums of its partitions are joined in a tree."""

    label = "the Spark frame"

    def __init__(self, frame):
        kinds = KINDS | dict.fromkeys(NUMBERS, "number")
        self.frame, self.names = frame, list(frame.columns)
        self.dtypes = {name: kinds.get(kind, kind) for name, kind in frame.dtypes}

    def blocks(self, columns):
        yield from self.frame.select(*columns).toArrow().to_batches()

    def sum_over_blocks(self, function, columns, join, **options):
        def sums(batches):
            for number, batch in enumerate(batches):
                part = pickle.dumps(function(batch, number))
                yield pa.RecordBatch.from_pydict({"part": pa.array([part], pa.binary())})

        parts = self.frame.select(*columns).mapInArrow(sums, "part binary").rdd
        parts = parts.map(lambda row: pickle.loads(bytes(row.part)))
        return parts.treeReduce(lambda a, b: joined(join, a, b))

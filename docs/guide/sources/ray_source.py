"""A data set of Ray as a source of rows: one task per block, where the block is."""

import pyarrow as pa
import ray

from kernelknife.sources import Source, joined, tree_sum


@ray.remote
def run(function, *arguments):
    """Call a function on a worker."""
    return function(*arguments)


class RaySource(Source):
    """A ``ray.data.Dataset``; its blocks are summed by the workers that hold them."""

    label = "the Ray data set"

    def __init__(self, dataset):
        schema = dataset.schema()
        self.dataset, self.names = dataset, list(schema.names)
        texts = [
            pa.types.is_string(kind) or pa.types.is_large_string(kind) for kind in schema.types
        ]
        self.dtypes = {
            name: "text" if text else "number" for name, text in zip(self.names, texts, strict=True)
        }

    def blocks(self, columns):
        for reference in self.dataset.select_columns(list(columns)).to_arrow_refs():
            yield ray.get(reference)

    def sum_over_blocks(self, function, columns, join, **options):
        blocks = self.dataset.select_columns(list(columns)).to_arrow_refs()
        parts = [run.remote(function, block, number) for number, block in enumerate(blocks)]
        return ray.get(tree_sum(parts, lambda a, b: run.remote(joined, join, a, b)))

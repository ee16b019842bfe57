"""The parts of the paper's results, one module per table or figure."""

from item import Item

from items.colon import Colon
from items.convergence import Convergence
from items.linear import LinearRegressions
from items.noise import NoiseFeatures
from items.orange import Orange
from items.parkinsons import Parkinsons
from items.penalties import Penalties
from items.sinusoidal import Sinusoidal
from items.vowel import Vowel

__all__ = ["ITEMS"]

# In the paper's order.
ITEMS: dict[str, Item] = {
    item.name: item
    for item in (
        NoiseFeatures(),
        Convergence(),
        Penalties(),
        LinearRegressions(),
        Sinusoidal(),
        Orange(),
        Colon(),
        Vowel(),
        Parkinsons(),
    )
}

"""No product of whole numbers in arrays stays in 32 bits, where ids of larger graphs would wrap."""

import json

from tests.support.processes import python

NARROW = {
    "kernels/imsuite/dominating_set/textbook.py:offer": "three times a degree, of a node",
    "kernels/imsuite/vertex_colouring/textbook.py:recolour": "twice the number of a bit of 64",
    "kernels/tools/rng.py:_mersenne_twister": "words of 32 bits, by definition",
    "kernels/tools/rng.py:_twist.step": "words of 32 bits, by definition",
}
"""Those that do, and what they are."""


def test_no_product_of_ids_stays_in_32_bits():
    """A pair of ids is made by `dgsuite.base.pairs.pair_key`, or of ids of 64 bits."""
    done = python("-m", "tests.support.products")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert {place: types for place, types in found.items() if place not in NARROW} == {}
    assert "kernels/imsuite/vertex_colouring/textbook.py:recolour" in found  # it looks

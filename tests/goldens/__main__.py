"""Write the digests anew."""

from __future__ import annotations

from tests.goldens.runs import FILES, write

for n in FILES:
    write(n)

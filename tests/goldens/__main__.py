"""Write the digests anew."""

from tests.goldens.runs import FILES, write

for n in FILES:
    write(n)

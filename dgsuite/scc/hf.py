"""Command line: Hartree-Fock of "X10 on the SCC". Heavy imports come late.

python -m dgsuite.scc.hf configs/scc-hf-figure5.toml
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence

from partition.command import Command


def parser() -> argparse.ArgumentParser:
    """The command line."""
    p = argparse.ArgumentParser(
        prog="python -m dgsuite.scc.hf",
        description="Hartree-Fock figures of X10 on the SCC: measured on one and two places, "
        "simulated on more.",
    )
    p.add_argument("config", metavar="CONFIG.toml", help="the study")
    p.add_argument("--output", metavar="FILE.nc", help="where the result goes")
    p.add_argument("-q", "--quiet", action="store_true", help="no lines of progress")
    return p


@Command
def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status."""
    options = parser().parse_args(arguments)
    from dgsuite.experiment import toml
    from dgsuite.scc.hf_study import File, study
    from partition.files import output

    asked = toml.checked(File, toml.read(options.config), options.config).hf
    path = output(options.output, asked.name)
    from dgsuite.dataset import save
    from dgsuite.scc import hf_report

    silent = (lambda line: None) if options.quiet else print
    found = study(asked, os.path.dirname(options.config), silent)
    save(found, path)
    hf_report.show(found)
    print(path)
    print(hf_report.draw(found, os.path.splitext(path)[0] + ".png"))
    return 0


if __name__ == "__main__":
    main.run()

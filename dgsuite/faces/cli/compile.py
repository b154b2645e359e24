"""``dgsuite compile``. Heavy imports come late."""

from __future__ import annotations

import click

from dgsuite.faces.cli import console, options


@click.command("compile", epilog="Examples: dgsuite compile; dgsuite compile bc similarity")
@click.argument("kernels", nargs=-1)
@options.general
def compile_ahead(kernels: tuple[str, ...]) -> None:
    """Compile the loops of common kernels, or of those given, for this machine, so that no run has to.

    They are kept for this user, version and processor; prints where.
    """
    from dgsuite.base.aliases import kernel_of
    from dgsuite.base.compiling import cache_folder, notice
    from dgsuite.core.running.common_loops import COMMON, compile_loops
    from dgsuite.kernels import KERNELS

    notice.told = True
    names = [kernel_of(name, KERNELS) for name in kernels or COMMON]
    for name in console.tracked(names, "compiling"):
        compile_loops(name)
    print(cache_folder())

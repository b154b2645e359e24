"""Compiled digestion: integrals of a unit into Coulomb and exchange matrices.

Each integral that is used stands for its up to eight permutations. It is added once, to one of each two
mirrored elements; `Fock.matrix` adds the mirror image. Where permutations coincide it is halved.
"""

from dgsuite.base import compiling

compiled = compiling.compiled(fastmath={"reassoc", "contract", "nsz", "arcp"})


@compiled
def pair(slab, i0, j0, rows, columns, density, coulomb, exchange):
    """Add the integrals (ij|kl), kl <= ij <= ii, of a pair of blocks.

    Parameters
    ----------
    slab
        Shape (rows * columns, packed lower triangle of kl); is overwritten.
    i0, j0, rows, columns
        First functions and sizes of the pair's two blocks.

    Returns
    -------
    Number of integrals used.
    """
    used = 0
    for i in range(i0, i0 + rows):
        for j in range(j0, min(j0 + columns, i + 1)):
            row = slab[(i - i0) * columns + j - j0]
            scale = 0.5 if i == j else 1.0
            d_ij = density[i, j]
            s_ij = 0.0
            for k in range(i + 1):
                size = k + 1 if k < i else j + 1
                part = row[k * (k + 1) // 2 : k * (k + 1) // 2 + size]
                if size == k + 1:
                    part[k] *= 0.5
                if k == i:
                    part[j] *= 0.5
                d_ik = density[i, k]
                d_jk = density[j, k]
                s_ik = 0.0
                s_jk = 0.0
                for l in range(size):  # noqa: E741
                    v = scale * part[l]
                    s_ij += v * density[k, l]
                    s_ik += v * density[j, l]
                    s_jk += v * density[i, l]
                    coulomb[k, l] += 2 * v * d_ij
                    exchange[i, l] += v * d_jk
                    exchange[j, l] += v * d_ik
                exchange[i, k] += s_ik
                exchange[j, k] += s_jk
                used += size
            coulomb[i, j] += 2 * s_ij
    return used


@compiled
def quartet(slab, i0, j0, k0, l0, whole, density, coulomb, exchange):
    """Add the integrals of a quartet of blocks that are canonical: j <= i, l <= k, and kl <= ij.

    Parameters
    ----------
    slab
        Shape of the four blocks.
    whole
        Whether kl > ij is used as well, since no other unit has its mirror image.

    Returns
    -------
    Number of integrals used.
    """
    used = 0
    for i in range(i0, i0 + slab.shape[0]):
        for j in range(j0, min(j0 + slab.shape[1], i + 1)):
            ij = i * (i + 1) // 2 + j
            for k in range(k0, k0 + slab.shape[2]):
                for l in range(l0, min(l0 + slab.shape[3], k + 1)):  # noqa: E741
                    kl = k * (k + 1) // 2 + l
                    if kl > ij and not whole:
                        break
                    v = slab[i - i0, j - j0, k - k0, l - l0]
                    if i == j:
                        v *= 0.5
                    if k == l:
                        v *= 0.5
                    if ij == kl:
                        v *= 0.5
                    coulomb[i, j] += 2 * v * density[k, l]
                    coulomb[k, l] += 2 * v * density[i, j]
                    exchange[i, k] += v * density[j, l]
                    exchange[j, k] += v * density[i, l]
                    exchange[i, l] += v * density[j, k]
                    exchange[j, l] += v * density[i, k]
                    used += 1
    return used

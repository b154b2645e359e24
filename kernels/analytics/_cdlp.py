"""Compiled loops of label propagation."""

from dgsuite.base.compiling import compiled


@compiled
def adopt(indptr, slots, labels, weights, rows, sums, label, changed):
    """Give each row the label of the greatest weight among its neighbours, of several the smallest.

    Parameters
    ----------
    labels
        By slot; below 0 for none.
    weights
        By entry from 0 on, whole numbers; an entry with 0 does not count. Empty where each counts once.
    sums
        By label, all 0, and so they are afterwards.
    label
        By row.
    changed
        Room for the rows that get another label.

    Returns
    -------
    How many rows get another label.
    """
    count, first, zero = 0, indptr[0], sums[0]
    for row in rows:
        low, high = indptr[row], indptr[row + 1]
        best, most = label[row], zero
        for e in range(low, high):
            seen, weight = labels[slots[e]], weights[e - first] if len(weights) else 1
            if seen < 0 or weight == 0:
                continue
            sums[seen] += weight
            total = sums[seen]
            if total > most or (total == most and seen < best):
                best, most = seen, total
        for e in range(low, high):
            if labels[slots[e]] >= 0:
                sums[labels[slots[e]]] = 0
        if best != label[row]:
            label[row] = best
            changed[count] = row
            count += 1
    return count

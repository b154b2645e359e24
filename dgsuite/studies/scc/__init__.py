"""Programs of "X10 on the SCC" and what they would take on more places than there are processors.

After Chapman, Hussein and Hosking, X10 on the Single-Chip Cloud Computer (X10 Workshop 2011).
"""

"""Restricted Hartree-Fock whose Fock build is dealt to places in units of work (extra ``chem``).

After PumjaRasaayani, the Hartree-Fock code of ANUChem, as it was run for "X10 on the SCC" on the Single-Chip
Cloud Computer. The package does not have the name of its main function, `dgsuite.hartree_fock`, so that
importing it cannot shadow the function.
"""

"""What people see: kernels in a list, the progress of a run, what a dataset can do, tables and pages."""

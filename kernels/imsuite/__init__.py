"""The twelve kernels of IMSuite and their recursive forms."""

"""The characterisation study of IMSuite, Figures 7 to 19: results, statistics, pictures, a page."""

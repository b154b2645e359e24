"""Sources of edges: arrays, tables, text, bags and files of IMSuite."""

"""Where edges come from: arrays, tables, text, bags, files of IMSuite."""

"""Tasks that spawn tasks."""

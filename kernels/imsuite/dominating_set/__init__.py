"""An independent dominating set."""

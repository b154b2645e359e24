"""What IMSuite counts: rules for each kernel, and the counts that they make of the log of a run."""

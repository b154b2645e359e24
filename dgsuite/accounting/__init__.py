"""What IMSuite counts."""

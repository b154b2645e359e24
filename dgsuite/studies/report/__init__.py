"""What a study shows: results, statistics, pictures, a page."""

"""What a round is: programs, sites, messages and inboxes. No Dask."""

"""Transports measured beside each other."""

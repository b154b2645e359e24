"""The wheel in environments of its own, away from the checkout."""

"""One card for each kernel: its parameters, right answers, and wrong ones."""

from tests.cards import distances, events, protocols, ranks, sets, structure
from tests.cards.card import Card

CARDS: dict[str, Card] = {
    name: card
    for family in (distances, events, protocols, ranks, sets, structure)
    for name, card in sorted(family.CARDS.items())
}
"""Cards by kernel."""

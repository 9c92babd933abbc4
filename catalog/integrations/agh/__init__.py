"""AGH peers: their envelopes, their entries and their capability documents."""

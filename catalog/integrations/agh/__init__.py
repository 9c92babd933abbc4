"""AGH peers: what they say of themselves, and what AgentLens says on their behalf."""

"""AG-UI AgentCapabilities of every catalog entry."""

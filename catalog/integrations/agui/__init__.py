"""The API that returns AG-UI AgentCapabilities for every catalog entry."""

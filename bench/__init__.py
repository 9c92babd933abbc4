"""What AgentLens costs, measured and printed as ratios; never a timed test."""

"""What the studio keeps for a visitor: workspace, session, links."""

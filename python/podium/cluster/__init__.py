"""The cluster behind one port: simulated in memory, or a real API server."""

"""Runs on the in-memory cluster: traces, workloads, the bundled sample."""

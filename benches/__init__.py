"""Measurements: pytest-benchmark suites, and the comparison with kube-scheduler."""

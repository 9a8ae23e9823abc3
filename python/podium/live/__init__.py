"""The live scheduler: drives ``Scheduler.step`` on a real cluster, with leader election and endpoints."""

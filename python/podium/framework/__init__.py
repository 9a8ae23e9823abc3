"""The contract between the scheduler and its plugins, and the configuration that chooses them."""

"""The scheduler: queue, scheduling cycle and binding cycle as one step function. Read ``loop`` first."""

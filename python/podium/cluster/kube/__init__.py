"""The cluster behind a real API server.

``connect`` finds the server and the credentials, ``client`` sends requests, ``reflector`` keeps up with a
kind, ``backend`` is the scheduler's port on top of them. Everything here lives on one asyncio loop.
"""

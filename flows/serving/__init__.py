"""What `campaign up`, `serve`, `worker` and `deploy` register, run and look after.

Provides `serve` and the deployments.
"""

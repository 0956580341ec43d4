"""What `campaign up`, `serve`, `worker` and `deploy` register, run and look after.

Hands out `serve` and the deployments.
"""

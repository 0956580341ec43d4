"""What `campaign up`, `serve` and `deploy` register and keep: deployments, schedules, automations.

Hands out `serve` and the deployments.
"""

"""Commands for before anything is sent: new, check, problems, plan."""

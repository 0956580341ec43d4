"""Commands that send, or try it: run, rehearse, demo, sandbox."""

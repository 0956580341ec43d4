"""Commands that look: status, links, history, report, doctor, metrics."""

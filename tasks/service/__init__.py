"""The typed client of the assessment service; the only place that speaks HTTP."""

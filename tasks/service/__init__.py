"""The typed client of the assessment service; the only place that speaks HTTP.

Provides `Service`, and `verdict`: what an answer proves.
"""

"""The typed client of the assessment service; the only place that speaks HTTP.

Provides `Service`, and `verdict`: what an answer proves, and how often a call may be repeated. A
request travels in connection.py; evidence.py is what was seen of it.
"""

"""Commands that look: status, links, history, report, doctor, metrics.

Provides these commands; they send nothing and change nothing. What the doctor looks at is in
findings.py.
"""

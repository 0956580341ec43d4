"""What is tried by hand on whole machines: units, containers, two workers.

Provides programs that print what they saw.
"""

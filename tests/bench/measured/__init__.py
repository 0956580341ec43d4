"""What the benchmarks measure, a module for each section.

Provides one function a section, which measures one round of it.
"""

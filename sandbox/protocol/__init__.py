"""What goes over the wire: operations, shapes, answers, and who may ask.

Provides plain values and functions; knows no record.
"""

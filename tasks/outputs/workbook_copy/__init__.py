"""A copy of somebody's workbook in which only what we add differs, byte for byte.

Loading and saving a workbook with openpyxl drops pictures, text boxes, sparklines, newer
conditional formats and more. Here the few parts concerned are edited as text, at the places where
something is added; every other byte of the workbook is carried over.
"""

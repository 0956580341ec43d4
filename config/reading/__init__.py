"""Definitions as people write them: YAML, workbooks, tables of people, folders of them.

Provides `read_campaigns`, and the text of a starter file.
"""

"""Definitions as people write them: YAML, workbooks, tables of people, folders of them.

Hands out `read_campaigns` and what a starter file says.
"""

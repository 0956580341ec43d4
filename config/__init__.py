"""What people write: settings, campaign definitions, and the readers of YAML and spreadsheets.

Provides the settings, the kinds of errors, and `Mistake`: which cell or line is wrong.
"""

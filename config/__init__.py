"""What people write: settings, campaign definitions, and the readers of YAML and spreadsheets.

Provides the settings (env_files.py says which are secrets), the kinds of errors, and `Mistake`:
which cell or line is wrong.
"""

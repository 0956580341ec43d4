"""What people write: settings, campaign definitions, and the readers of YAML and spreadsheets."""

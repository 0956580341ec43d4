"""What people tell us: settings, the campaign definition, and the readers of YAML and spreadsheets."""

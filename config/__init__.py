"""What people tell us: settings, the campaign definition, the readers of YAML and spreadsheets."""

"""How the service can be made to fail, and to answer wrongly."""

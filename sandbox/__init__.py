"""The assessment service on your own desk."""

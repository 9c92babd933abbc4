"""The `manage.py` commands of the catalog."""

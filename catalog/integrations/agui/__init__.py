"""AG-UI: what any agent of the catalog supports, in AG-UI's own words."""

"""What single protocols need beyond their documents: doors, tables, network code."""

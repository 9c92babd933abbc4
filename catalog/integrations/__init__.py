"""Support for single protocols: their endpoints, tables and network code."""

# ruff: noqa: E501 - one line per icon
"""SVG icons: stroked paths in a view box of 24 by 24."""

ICONS = {
    "search": '<circle cx="11" cy="11" r="7"/><path d="M20 20l-4-4"/>',
    "sparkles": '<path d="M11 4l2 5 5 2-5 2-2 5-2-5-5-2 5-2zM19 15v4M17 17h4"/>',
    "wrench": '<path d="M14 7a4 4 0 0 1 5-3l-2.5 2.5 1 2 2 1L22 7a4 4 0 0 1-6 4l-8 8a2 2 0 0 1-3-3l8-8z"/>',
    "file": '<path d="M6 3h8l4 4v14H6zM14 3v4h4M9 12h6M9 16h6"/>',
    "message": '<path d="M4 5h16v11H10l-4 4v-4H4z"/>',
    "plug": '<path d="M9 3v5M15 3v5M6 8h12v3a6 6 0 0 1-12 0zM12 17v4"/>',
    "lock": '<rect x="5" y="11" width="14" height="9" rx="2"/><path d="M8 11V8a4 4 0 0 1 8 0v3"/>',
    "puzzle": '<path d="M4 8h5a2.5 2.5 0 1 1 5 0h6v5a2.5 2.5 0 1 0 0 4v3H4z"/>',
    "pen": '<path d="M4 20l1-4L16 5l3 3L8 19zM14 7l3 3"/>',
    "flag": '<path d="M6 21V4M6 5h11l-2 4 2 4H6"/>',
    "dot": '<circle cx="12" cy="12" r="4"/>',
    "agents": '<rect x="4" y="4" width="7" height="7" rx="1.5"/><rect x="13" y="4" width="7" height="7" rx="1.5"/><rect x="4" y="13" width="7" height="7" rx="1.5"/><rect x="13" y="13" width="7" height="7" rx="1.5"/>',
    "refresh": '<path d="M20 6v5h-5M4 18v-5h5M5.5 9A7 7 0 0 1 18 7l2 4M18.5 15A7 7 0 0 1 6 17l-2-4"/>',
    "route": '<circle cx="6" cy="19" r="2.5"/><circle cx="18" cy="5" r="2.5"/><path d="M8.5 19H15a3.5 3.5 0 0 0 0-7H9a3.5 3.5 0 0 1 0-7h6.5"/>',
    "columns": '<path d="M4 5h6v14H4zM14 5h6v14h-6z"/>',
    "chevron": '<path d="M9 6l6 6-6 6"/>',
    "back": '<path d="M19 12H5M11 6l-6 6 6 6"/>',
    "close": '<path d="M6 6l12 12M18 6L6 18"/>',
    "plus": '<path d="M12 5v14M5 12h14"/>',
    "book": '<path d="M5 4h10a4 4 0 0 1 4 4v12H9a4 4 0 0 1-4-4zM5 16a4 4 0 0 1 4-4h10"/>',
    "user": '<circle cx="12" cy="8" r="4"/><path d="M4 21a8 8 0 0 1 16 0"/>',
    "copy": '<rect x="9" y="9" width="11" height="11" rx="2"/><path d="M5 15V5h10"/>',
    "external": '<path d="M10 5H5v14h14v-5M14 4h6v6M20 4l-9 9"/>',
    # Each status has its own shape, to be distinguishable without color.
    "active": '<circle cx="12" cy="12" r="8"/><path d="M8.5 12l2.5 2.5 4.5-5"/>',
    "degraded": '<path d="M12 4l9 16H3zM12 10v4M12 17v.01"/>',
    "offline": '<circle cx="12" cy="12" r="8"/><path d="M9 9l6 6M15 9l-6 6"/>',
    "deprecated": '<path d="M4 5h16v4H4zM6 9v10h12V9M10 13h4"/>',
    "unknown": '<circle cx="12" cy="12" r="8"/><path d="M10 10a2 2 0 1 1 2.5 2c-.5.2-.5.5-.5 1.5M12 16v.01"/>',
}

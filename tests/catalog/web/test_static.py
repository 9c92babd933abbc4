"""Style sheets and scripts: every file is loaded and every rule is used."""

import re
from pathlib import Path

import pytest
from django.conf import settings

ROOT = settings.PACKAGE_DIR.parent
STATIC = ROOT / "catalog/static/catalog"
APP_CSS = (STATIC / "app.css").read_text()
# Set by htmx and by Django's forms, so no template names them.
CLASSES_SET_ELSEWHERE = {"htmx-request", "errorlist", "helptext"}


def read_sources() -> str:
    """Return all text in which a page may name a class."""
    folders = ("catalog", "routing", "templates", "agentlens")
    files = [
        file
        for folder in folders
        for suffix in ("html", "js", "py")
        for file in (ROOT / folder).rglob(f"*.{suffix}")
    ]
    return "\n".join(file.read_text() for file in files)


def find_classes(style_sheet: Path) -> set[str]:
    """Return the class names in the selectors of a style sheet."""
    rules = re.sub(r"/\*.*?\*/", "", style_sheet.read_text(), flags=re.DOTALL)
    selectors = " ".join(re.findall(r"([^{}]+)\{", rules))
    return set(re.findall(r"\.([a-z][a-z0-9-]*)", selectors))


def find_imports(script: Path) -> set[Path]:
    """Return the modules that a script loads, directly or through others."""
    paths = re.findall(r'^import .*?"(\./[^"]+)";$', script.read_text(), re.MULTILINE)
    found = {(script.parent / path).resolve() for path in paths}
    return found.union(*map(find_imports, found))


def test_app_css_imports_every_part_into_its_layer():
    layers = re.search(r"@layer ([^;]+);", APP_CSS)[1].split(", ")
    imports = re.findall(r'@import url\("css/(\w+)\.css"\) layer\((\w+)\);', APP_CSS)

    assert imports == [(layer, layer) for layer in layers]
    assert sorted(layers) == sorted(file.stem for file in STATIC.glob("css/*.css"))


@pytest.mark.parametrize(
    "style_sheet", sorted(STATIC.rglob("*.css")), ids=lambda file: file.name
)
def test_style_sheet_styles_only_classes_in_use(style_sheet):
    sources = read_sources()
    classes = find_classes(style_sheet) - CLASSES_SET_ELSEWHERE

    # `columns-{{ n }}` in a template stands for columns-2 to columns-4.
    stems = {name: re.sub(r"\d+$", "", name) for name in classes}
    unused = {
        name
        for name, stem in stems.items()
        if not re.search(rf"(?<![\w-]){stem}(?![a-z])", sources)
    }

    assert unused == set()


def test_app_js_loads_every_module():
    assert find_imports(STATIC / "app.js") == set(STATIC.glob("js/*.js"))

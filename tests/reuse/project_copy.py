"""Copies of the AgentLens project in which tests change the code."""

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROJECT_FILES = (
    "agentlens",
    "capabilities",
    "catalog",
    "routing",
    "templates",
    "manage.py",
    "pyproject.toml",
)


def copy_project(folder: Path, *additional_files: str) -> None:
    for name in (*PROJECT_FILES, *additional_files):
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, folder / name)


def run_python(folder: Path, *arguments: str) -> str:
    """Run Python in a copy, importing only from there, and return its output."""
    site_packages = (sysconfig.get_path("purelib"), sysconfig.get_path("platlib"))
    result = subprocess.run(
        # -S, because an editable installation would add this project to the path.
        [sys.executable, "-S", *arguments],
        cwd=folder,
        env={
            "PATH": os.environ["PATH"],
            "PYTHONPATH": os.pathsep.join(dict.fromkeys(site_packages)),
            "AGENTLENS_DATA_DIR": str(folder / "data"),
            "DJANGO_SETTINGS_MODULE": "agentlens.settings",
        },
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout

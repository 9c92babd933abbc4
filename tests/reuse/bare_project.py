"""Run a bare Django project that holds the catalog, in processes of its own."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent.parent


@dataclass(frozen=True)
class BareProject:
    """A copy of `tests/reuse/project`, and how to run its Python."""

    folder: Path
    python: tuple[str, ...]
    path: str = ""

    @classmethod
    def from_source(cls, folder: Path) -> "BareProject":
        """With `capabilities` and `catalog` on its path, and nothing else of ours."""
        packages = folder / "packages"
        packages.mkdir(parents=True)
        for name in ("capabilities", "catalog"):
            (packages / name).symlink_to(ROOT / name)
        installed = (sysconfig.get_path("purelib"), sysconfig.get_path("platlib"))
        path = os.pathsep.join([str(packages), *dict.fromkeys(installed)])
        # Without `site`, or an editable installation would bring the whole project.
        return cls.copied(folder / "project", (sys.executable, "-S"), path)

    @classmethod
    def copied(cls, folder: Path, python: tuple[str, ...], path: str = ""):
        shutil.copytree(HERE / "project", folder)
        return cls(folder, python, path)

    def run(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess:
        """Run a script of the project; the result holds its output as text."""
        kept = {"PATH": os.environ["PATH"], "PYTHONPATH": self.path}
        return subprocess.run(
            [*self.python, *arguments],
            cwd=self.folder,
            env=kept | environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    def manage(self, *arguments: str, **environment: str):
        return self.run("manage.py", *arguments, **environment)

    def journey(self) -> dict:
        """What people and programs got from the project."""
        result = self.run("journey.py")
        assert result.returncode == 0, result.stderr
        return json.loads(result.stdout)

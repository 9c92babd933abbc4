"""A bare Django project with the catalog installed, run in subprocesses."""

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
    """A copy of `tests/reuse/project` and the Python command that runs it."""

    folder: Path
    python: tuple[str, ...]
    path: str = ""

    @classmethod
    def from_source(cls, folder: Path) -> "BareProject":
        """Copy the project; put only `capabilities` and `catalog` on its path."""
        packages = folder / "packages"
        packages.mkdir(parents=True)
        for name in ("capabilities", "catalog"):
            (packages / name).symlink_to(ROOT / name)
        site_packages = (sysconfig.get_path("purelib"), sysconfig.get_path("platlib"))
        path = os.pathsep.join([str(packages), *dict.fromkeys(site_packages)])
        # -S, because an editable installation would add the whole project to the path.
        return cls.copy(folder / "project", (sys.executable, "-S"), path)

    @classmethod
    def copy(cls, folder: Path, python: tuple[str, ...], path: str = ""):
        shutil.copytree(HERE / "project", folder)
        return cls(folder, python, path)

    def run(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess:
        """Run a script of the project and capture its output as text."""
        base = {"PATH": os.environ["PATH"], "PYTHONPATH": self.path}
        return subprocess.run(
            [*self.python, *arguments],
            cwd=self.folder,
            env=base | environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    def manage(self, *arguments: str, **environment: str):
        return self.run("manage.py", *arguments, **environment)

    def run_smoke_test(self) -> dict:
        """Return the responses of the pages and the API of the project."""
        result = self.run("smoke_test.py")
        assert result.returncode == 0, result.stderr
        return json.loads(result.stdout)

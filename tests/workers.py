"""A pytest plugin: each of several workers has a Redis database of its own.

Databases of tests are kept apart by pytest-django. This must be loaded with `-p`,
before the settings read the environment.
"""

import os
import re

worker = re.fullmatch(r"gw(\d+)", os.environ.get("PYTEST_XDIST_WORKER", ""))
if worker and (url := os.environ.get("REDIS_URL")):
    os.environ["REDIS_URL"] = re.sub(r"/\d+$", f"/{worker[1]}", url)

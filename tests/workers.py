"""A pytest plugin that gives each xdist worker its own Redis database.

pytest-django separates the SQL databases. Load this plugin with `-p`, so that it
runs before the settings read the environment.
"""

import os
import re

worker = re.fullmatch(r"gw(\d+)", os.environ.get("PYTEST_XDIST_WORKER", ""))
if worker and (url := os.environ.get("REDIS_URL")):
    os.environ["REDIS_URL"] = re.sub(r"/\d+$", f"/{worker[1]}", url)

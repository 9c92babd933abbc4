from agentlens.settings import *  # noqa: F403
from agentlens.settings import INSTALLED_APPS

INSTALLED_APPS = [*INSTALLED_APPS, "tests.weather"]

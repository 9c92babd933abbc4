"""Django settings, read from environment variables; see docs/operations.md."""

import contextlib
import os
import secrets
import warnings
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import environ  # type: ignore[import-untyped]  # has no type hints
from django.core.exceptions import ImproperlyConfigured

from catalog.conf import (
    CatalogSettings,
    Setting,
    find_lease_error,
    iter_declared_settings,
)
from routing.conf import RoutingSettings

env = environ.FileAwareEnv()
TRUE_VALUES = {"on", "true", "yes", "1"}
FALSE_VALUES = {"off", "false", "no", "0"}

PACKAGE_DIR = Path(__file__).resolve().parent
DATA_DIR = Path(env.str("AGENTLENS_DATA_DIR", default="data")).resolve()


def read_or_create_secret(path: Path) -> str:
    """Return the secret in this file, and create it on first use.

    Only the file's owner can read it.
    """
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_suffix(f".{secrets.token_hex(8)}")
        with os.fdopen(
            os.open(temporary, os.O_WRONLY | os.O_CREAT, 0o600), "w"
        ) as file:
            file.write(secrets.token_urlsafe(64))
        # Linking is atomic: the file appears complete, and only one process succeeds.
        with contextlib.suppress(FileExistsError):
            os.link(temporary, path)
        temporary.unlink()
    return path.read_text().strip()


def read_integer(name: str, default: int, minimum: int) -> int:
    """Return an integer from the environment, or raise ImproperlyConfigured."""
    try:
        value = int(env.str(name, default=str(default)))
    except ValueError as error:
        raise ImproperlyConfigured(f"{name} must be an integer") from error
    if value < minimum:
        raise ImproperlyConfigured(f"{name} must be at least {minimum}")
    return value


def read_flag(name: str, *, default: bool) -> bool:
    """Return a flag from the environment, or raise ImproperlyConfigured.

    A typo must not silently disable a security setting.
    """
    value = env.str(name, default="").strip().lower()
    if not value:
        return default
    if value not in TRUE_VALUES | FALSE_VALUES:
        raise ImproperlyConfigured(f"{name} must be on or off")
    return value in TRUE_VALUES


def read_app_setting(setting: Setting[Any]) -> Any:
    """Return the value of an app's setting, or raise ImproperlyConfigured."""
    text = env.str(setting.name, default=None)
    if text is None:
        return setting.default
    try:
        value = setting.parse(text)
    except ValueError as error:
        raise ImproperlyConfigured(f"{setting.name} {error}") from error
    if error_text := setting.find_error(value):
        raise ImproperlyConfigured(f"{setting.name} {error_text}")
    return value


DEBUG = read_flag("DEBUG", default=False)
SECRET_KEY = env.str("SECRET_KEY", default="") or read_or_create_secret(
    DATA_DIR / "secret_key"
)
LOCAL_HOSTS = ["localhost", "127.0.0.1", "[::1]"]
ALLOWED_HOSTS = env.list("ALLOWED_HOSTS", default=LOCAL_HOSTS)

# Settings of the apps: `catalog/conf.py` and `routing/conf.py` declare their names,
# defaults and limits.
app_settings = {
    setting.name: read_app_setting(setting)
    for declaration in (CatalogSettings, RoutingSettings)
    for setting in iter_declared_settings(declaration)
}
globals().update(app_settings)
if lease_problem := find_lease_error(
    app_settings["AGENTLENS_PROBE_LEASE"], app_settings["AGENTLENS_PROBE_TIMEOUT"]
):
    raise ImproperlyConfigured(lease_problem)

# Settings of the project.
AGENTLENS_ANONYMOUS_READ = read_flag("AGENTLENS_ANONYMOUS_READ", default=False)
AGENTLENS_ADMIN_PASSWORD = env.str("AGENTLENS_ADMIN_PASSWORD", default="")
# Whether the server also runs the background worker, which probes and refreshes.
AGENTLENS_PROBER = read_flag("AGENTLENS_PROBER", default=True)
AGENTLENS_WRITE_RATE = read_integer("AGENTLENS_WRITE_RATE", 1200, minimum=1)
# Number of requests that one process handles at the same time.
AGENTLENS_SERVER_THREADS = read_integer("AGENTLENS_SERVER_THREADS", 16, minimum=1)

INSTALLED_APPS = [
    "agentlens.apps.AgentLensAdminConfig",
    "routing",
    "catalog.integrations.agh",
    "catalog",
    "capabilities",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "rest_framework",
    "django_filters",
    "django_htmx",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "agentlens.apps.TokensConfig",
    "agentlens.apps.LoginAttemptsConfig",
    "agentlens.apps.AgentLensConfig",
]

MIDDLEWARE = [
    "agentlens.metrics.request_metrics_middleware",
    "agentlens.middleware.request_id_middleware",
    "agentlens.middleware.weak_etag_middleware",
    "agentlens.middleware.api_errors_middleware",
    "django.middleware.security.SecurityMiddleware",
    "agentlens.middleware.content_security_policy_middleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "axes.middleware.AxesMiddleware",
]

ROOT_URLCONF = "agentlens.urls"
ASGI_APPLICATION = "agentlens.asgi.application"
APPEND_SLASH = False

# The wheel has the templates inside the package, the repository next to it.
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [PACKAGE_DIR / "templates", PACKAGE_DIR.parent / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]

# The default database is one SQLite file in the data directory.
with warnings.catch_warnings(action="ignore"):
    # For an unknown scheme django-environ only warns; it is an error below.
    DATABASES = {
        "default": env.db(
            "DATABASE_URL", default=f"sqlite:///{DATA_DIR}/agentlens.sqlite3"
        )
    }
DATABASES["default"]["ATOMIC_REQUESTS"] = False
database_engine = DATABASES["default"].get("ENGINE", "").rpartition(".")[2]
if database_engine not in ("sqlite3", "postgresql"):
    raise ImproperlyConfigured("DATABASE_URL must begin with sqlite:// or postgres://")
if database_engine == "sqlite3":
    DATABASES["default"]["OPTIONS"] = {
        "transaction_mode": "IMMEDIATE",
        "timeout": 20,
        "init_command": (
            "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;"
            " PRAGMA foreign_keys=ON;"
        ),
    }
    # Threads cannot share an in-memory test database under load, so it is a file.
    DATABASES["default"]["TEST"] = {"NAME": DATA_DIR / "test.sqlite3"}
else:
    DATABASES["default"]["ENGINE"] = "agentlens.postgresql"
    if read_flag("AGENTLENS_PREPARED_STATEMENTS", default=True):
        # This affects `prepared_cursor` only: Django never prepares ORM queries.
        DATABASES["default"].setdefault("OPTIONS", {})["prepare_threshold"] = 5
DATABASES["default"]["CONN_MAX_AGE"] = 60
DATABASES["default"]["CONN_HEALTH_CHECKS"] = True
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

REDIS_URL = env.str("REDIS_URL", default="")
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": REDIS_URL,
    }
    if REDIS_URL
    else {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}
}

# Live updates stay within one process unless Redis carries them to all processes.
CHANNEL_LAYERS = {
    "default": {
        "BACKEND": "catalog.events.channel_layers.RedisLayer",
        # Redis publishes across its numbered databases: the prefix separates them.
        "CONFIG": {
            "hosts": [REDIS_URL],
            "prefix": f"agentlens{urlsplit(REDIS_URL).path}",
        },
    }
    if REDIS_URL
    else {
        "BACKEND": "catalog.events.channel_layers.MemoryLayer",
        # Longer than a WebSocket stays open, so that no waiting event expires.
        "CONFIG": {"capacity": 100_000, "expiry": 7200},
    }
}

# Authentication and permissions.
AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",
    "agentlens.roles.RolesBackend",
    "agentlens.roles.AnonymousReadBackend",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "login"
AXES_FAILURE_LIMIT = read_integer("AGENTLENS_LOGIN_FAILURES", 5, minimum=1)
AXES_COOLOFF_TIME = timedelta(minutes=15)
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_RESET_ON_SUCCESS = True
AXES_HTTP_RESPONSE_CODE = 429
AXES_LOCKOUT_TEMPLATE = "locked_out.html"
AXES_VERBOSE = False
REST_KNOX = {"AUTH_HEADER_PREFIX": "Bearer", "TOKEN_TTL": timedelta(days=90)}

# Cookies are Secure unless the site is only served on localhost, over plain HTTP.
SECURE_COOKIES = read_flag(
    "AGENTLENS_SECURE_COOKIES", default=not set(ALLOWED_HOSTS) <= set(LOCAL_HOSTS)
)
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SECURE_COOKIES
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_HTTPONLY = CSRF_COOKIE_HTTPONLY = True
CSRF_TRUSTED_ORIGINS = env.list("CSRF_TRUSTED_ORIGINS", default=[])
X_FRAME_OPTIONS = "DENY"
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
SECURE_HSTS_SECONDS = read_integer("AGENTLENS_HSTS_SECONDS", 0, minimum=0)
# HSTS for subdomains and preloading are decisions of the domain's owner.
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W021"]
SECURE_SSL_REDIRECT = read_flag("AGENTLENS_SSL_REDIRECT", default=False)
if read_flag("AGENTLENS_BEHIND_PROXY", default=False):
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
# Admin forms contain the previewed definition. The API has its own limit.
DATA_UPLOAD_MAX_MEMORY_SIZE = 4 * 1_048_576

# Views of the apps use only the authentication and throttle classes; they set all
# other classes themselves.
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "agentlens.authentication.BearerAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAdminUser"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_THROTTLE_CLASSES": ["agentlens.throttling.WriteThrottle"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "DEFAULT_METADATA_CLASS": None,
    "URL_FORMAT_OVERRIDE": None,
    "EXCEPTION_HANDLER": "catalog.api.base.exception_handler",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "AgentLens",
    "DESCRIPTION": "Which agent can do X? One catalog across protocols.",
    "VERSION": "v1",
    "OAS_VERSION": "3.1.0",
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_PERMISSIONS": ["catalog.api.base.CanReadCatalog"],
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "COMPONENT_SPLIT_REQUEST": True,
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "agentlens.schema.add_event_streams",
        "agentlens.schema.add_error_responses",
    ],
    "ENUM_NAME_OVERRIDES": {
        "StatusEnum": "catalog.models.Status",
        "SourceEnum": "catalog.models.Source",
        "RegistrationStatusEnum": "routing.models.REGISTRATION_STATUSES",
        "IntentEnum": "routing.models.DesiredState",
    },
    "SWAGGER_UI_SETTINGS": {"deepLinking": True, "persistAuthorization": False},
}

LANGUAGE_CODE = "en-us"
TIME_ZONE = "UTC"
USE_TZ = True
STATIC_URL = "static/"
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = DEBUG

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "filters": {"request_id": {"()": "agentlens.request_ids.RequestIdFilter"}},
    "formatters": {
        "line": {
            "format": "%(asctime)s %(levelname)s %(name)s [%(request_id)s] %(message)s"
        }
    },
    "handlers": {
        "console": {
            "class": "logging.StreamHandler",
            "formatter": "line",
            "filters": ["request_id"],
        },
        "null": {"class": "logging.NullHandler"},
    },
    "root": {"handlers": ["console"], "level": "INFO"},
    "loggers": {
        "django": {"handlers": [], "level": "INFO", "propagate": True},
        "django.request": {"level": "ERROR"},
        "axes": {"level": "WARNING"},
        # These log URLs, headers and responses, which can contain secrets.
        "httpx2": {"handlers": ["null"], "propagate": False},
        "httpcore2": {"handlers": ["null"], "propagate": False},
        "mcp": {"handlers": ["null"], "propagate": False},
    },
}

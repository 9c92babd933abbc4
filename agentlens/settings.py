"""One file, read from the environment, safe by default; docs/operations.md lists it."""

import contextlib
import os
import secrets
import warnings
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

import environ
from django.core.exceptions import ImproperlyConfigured

from catalog.conf import Setting, declared_settings, lease_fault
from catalog.conf import Settings as CatalogSettings
from routing.conf import Settings as RoutingSettings

env = environ.FileAwareEnv()
Number = TypeVar("Number", int, float)
YES, NO = {"on", "true", "yes", "1"}, {"", "off", "false", "no", "0"}

PACKAGE_DIR = Path(__file__).resolve().parent
DATA_DIR = Path(env.str("AGENTLENS_DATA_DIR", default="data")).resolve()


def kept_secret(path: Path) -> str:
    """The secret in this file; made, readable by its owner only, on first use."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_suffix(f".{secrets.token_hex(8)}")
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
            file.write(secrets.token_urlsafe(64))
        # Whole or not at all, and only the first: others may be starting too.
        with contextlib.suppress(FileExistsError):
            os.link(draft, path)
        draft.unlink()
    return path.read_text().strip()


def number(name: str, default: Number, least: float) -> Number:
    """A number from the environment; one that cannot be meant stops the start."""
    try:
        value = type(default)(env.str(name, default=str(default)))
    except ValueError as error:
        raise ImproperlyConfigured(f"{name} must be a number") from error
    if not least <= value < float("inf"):
        raise ImproperlyConfigured(f"{name} must be at least {least:g}")
    return value


def flag(name: str, *, default: bool) -> bool:
    """Yes or no; a word that is neither stops the start, lest a door stay open."""
    word = env.str(name, default="").strip().lower()
    if word not in YES | NO:
        raise ImproperlyConfigured(f"{name} must be on or off")
    return word in YES if word else default


def from_environment(setting: Setting[Any]) -> Any:
    """An app's setting from the environment, or its default; stops on a bad value."""
    text = env.str(setting.name, default=None)
    if text is None:
        return setting.default
    try:
        value = setting.parse(text)
    except ValueError as error:
        raise ImproperlyConfigured(f"{setting.name} {error}") from error
    if fault := setting.fault(value):
        raise ImproperlyConfigured(f"{setting.name} {fault}")
    return value


DEBUG = flag("DEBUG", default=False)
SECRET_KEY = env.str("SECRET_KEY", default="") or kept_secret(DATA_DIR / "secret_key")
LOCAL_HOSTS = ["localhost", "127.0.0.1", "[::1]"]
ALLOWED_HOSTS = env.list("ALLOWED_HOSTS", default=LOCAL_HOSTS)

# Settings of the apps; `catalog/conf.py` and `routing/conf.py` hold their names,
# defaults and bounds.
for app_settings in (CatalogSettings, RoutingSettings):
    for setting in declared_settings(app_settings):
        globals()[setting.name] = from_environment(setting)
if fault := lease_fault(AGENTLENS_PROBE_LEASE, AGENTLENS_PROBE_TIMEOUT):  # noqa: F821
    raise ImproperlyConfigured(fault)

# What AgentLens itself can be told.
AGENTLENS_ANONYMOUS_READ = flag("AGENTLENS_ANONYMOUS_READ", default=False)
AGENTLENS_ADMIN_PASSWORD = env.str("AGENTLENS_ADMIN_PASSWORD", default="")
AGENTLENS_PROBER = flag("AGENTLENS_PROBER", default=True)
AGENTLENS_WRITE_RATE = number("AGENTLENS_WRITE_RATE", 1200, least=1)
# Requests that one process answers at the same time.
AGENTLENS_SERVER_THREADS = number("AGENTLENS_SERVER_THREADS", 16, least=1)

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
    "agentlens.metrics.request_metrics",
    "agentlens.middleware.request_id",
    "agentlens.middleware.weak_etag",
    "agentlens.middleware.api_errors",
    "django.middleware.security.SecurityMiddleware",
    "agentlens.middleware.content_security_policy",
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

# In the wheel the templates lie inside the package, in the repository beside it.
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

# Where it keeps things: one SQLite file, until told otherwise.
with warnings.catch_warnings(action="ignore"):
    # Of what it does not know it only warns; we refuse it.
    default = env.db("DATABASE_URL", default=f"sqlite:///{DATA_DIR}/agentlens.sqlite3")
DATABASES = {"default": default}
DATABASES["default"]["ATOMIC_REQUESTS"] = False
ENGINE = DATABASES["default"].get("ENGINE", "").rpartition(".")[2]
if ENGINE not in ("sqlite3", "postgresql"):
    raise ImproperlyConfigured("DATABASE_URL must begin with sqlite:// or postgres://")
if ENGINE == "sqlite3":
    DATABASES["default"]["OPTIONS"] = {
        "transaction_mode": "IMMEDIATE",
        "timeout": 20,
        "init_command": (
            "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;"
            " PRAGMA foreign_keys=ON;"
        ),
    }
    # A file, because threads cannot share an in-memory database under load.
    DATABASES["default"]["TEST"] = {"NAME": DATA_DIR / "test.sqlite3"}
else:
    DATABASES["default"]["ENGINE"] = "agentlens.postgresql"
    if flag("AGENTLENS_PREPARED_STATEMENTS", default=True):
        # Only those of `prepared_cursor`: the ORM never prepares its own.
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

# Events: within this process, until Redis carries them to all of them.
CHANNEL_LAYERS = {
    "default": {
        "BACKEND": "catalog.events.channel_layers.RedisLayer",
        # Redis tells everybody; its numbered databases do not keep events apart.
        "CONFIG": {
            "hosts": [REDIS_URL],
            "prefix": f"agentlens{urlsplit(REDIS_URL).path}",
        },
    }
    if REDIS_URL
    else {
        "BACKEND": "catalog.events.channel_layers.MemoryLayer",
        # Longer than any socket lives: what waits is delivered, or its socket let go.
        "CONFIG": {"capacity": 100_000, "expiry": 7200},
    }
}

# Who may: one door for passwords, one for tokens, and the anonymous reader.
AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",
    "agentlens.roles.RolesBackend",
    "agentlens.roles.AnonymousReader",
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
AXES_FAILURE_LIMIT = number("AGENTLENS_LOGIN_FAILURES", 5, least=1)
AXES_COOLOFF_TIME = timedelta(minutes=15)
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_RESET_ON_SUCCESS = True
AXES_HTTP_RESPONSE_CODE = 429
AXES_LOCKOUT_TEMPLATE = "locked_out.html"
AXES_VERBOSE = False
REST_KNOX = {"AUTH_HEADER_PREFIX": "Bearer", "TOKEN_TTL": timedelta(days=90)}

# Cookies are marked Secure as soon as the site has a name of its own; on localhost,
# where plain HTTP is all there is, they are not.
SECURE_COOKIES = flag(
    "AGENTLENS_SECURE_COOKIES", default=not set(ALLOWED_HOSTS) <= set(LOCAL_HOSTS)
)
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SECURE_COOKIES
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_HTTPONLY = CSRF_COOKIE_HTTPONLY = True
CSRF_TRUSTED_ORIGINS = env.list("CSRF_TRUSTED_ORIGINS", default=[])
X_FRAME_OPTIONS = "DENY"
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
SECURE_HSTS_SECONDS = number("AGENTLENS_HSTS_SECONDS", 0, least=0)
# Whether all subdomains speak HTTPS, only the owner of the domain knows.
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W021"]
SECURE_SSL_REDIRECT = flag("AGENTLENS_SSL_REDIRECT", default=False)
if flag("AGENTLENS_BEHIND_PROXY", default=False):
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
# Forms of the admin carry a previewed definition with them; the API has its own limit.
DATA_UPLOAD_MAX_MEMORY_SIZE = 4 * 1_048_576

# For the project's own views; those of the apps state theirs themselves.
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
        "agentlens.schema.document_streams",
        "agentlens.schema.document_errors",
    ],
    "ENUM_NAME_OVERRIDES": {
        "StatusEnum": "catalog.models.Status",
        "SourceEnum": "catalog.models.Source",
        "RegistrationStatusEnum": "routing.models.STATUSES",
        "IntentEnum": "routing.models.Intent",
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
        "nowhere": {"class": "logging.NullHandler"},
    },
    "root": {"handlers": ["console"], "level": "INFO"},
    "loggers": {
        "django": {"handlers": [], "level": "INFO", "propagate": True},
        "django.request": {"level": "ERROR"},
        "axes": {"level": "WARNING"},
        # These log addresses, headers and answers, secrets in them included.
        "httpx2": {"handlers": ["nowhere"], "propagate": False},
        "httpcore2": {"handlers": ["nowhere"], "propagate": False},
        "mcp": {"handlers": ["nowhere"], "propagate": False},
    },
}

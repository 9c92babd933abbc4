"""Examples for the OpenAPI schema; a test registers the definition of this module."""

from drf_spectacular.utils import OpenApiExample

CARD = {
    "name": "Contract Translator",
    "description": "Translates contracts and keeps their terms of art.",
    "version": "1.2.0",
    "supportedInterfaces": [
        {
            "url": "https://translator.example.com/a2a",
            "protocolBinding": "JSONRPC",
            "protocolVersion": "1.0",
        }
    ],
    "provider": {"organization": "Acme", "url": "https://acme.example"},
    "capabilities": {"streaming": True},
    "defaultInputModes": ["text/plain"],
    "defaultOutputModes": ["text/plain"],
    "skills": [
        {
            "id": "translate",
            "name": "Translate text",
            "description": "Between English, German and Polish.",
            "tags": ["translation"],
        }
    ],
}

AGENT_CARD = OpenApiExample("A2A agent card", CARD, request_only=True)
PATCH = OpenApiExample(
    "Deprecate with a reason",
    {"status": "deprecated", "reason": "Replaced by Polyglot 2"},
    request_only=True,
)
IMPORT = OpenApiExample(
    "Host that publishes an A2A agent card",
    {"url": "https://translator.example.com"},
    request_only=True,
)
PARSE_RESULT = OpenApiExample(
    "Definition with an error",
    {
        "valid": False,
        "protocol": "a2a",
        "spec_version": "1.0",
        "errors": [
            {"path": "$.skills[0].name", "message": "must be a non-empty string"}
        ],
        "warnings": [],
        "preview": None,
    },
    response_only=True,
    status_codes=["422"],
)
ENTRY_LIST = OpenApiExample(
    "One agent",
    {
        "id": "0b6f3c1e-6d3c-4c43-9d0a-5b9f5f1c2a77",
        "display_name": "Contract Translator",
        "description": "Translates contracts and keeps their terms of art.",
        "protocol": "a2a",
        "endpoint": "https://translator.example.com/a2a",
        "version": "1.2.0",
        "spec_version": "1.0",
        "agent_key": "5f0c" * 16,
        "status": "active",
        "source": "push",
        "source_url": "",
        "declared": False,
        "provider": {
            "organization": "Acme",
            "team": "",
            "url": "https://acme.example",
        },
        "capability_count": 3,
        "technical_count": 5,
        "categories": ["translation"],
        "metadata": {},
        "validity": {"from": None, "to": None, "last_seen": "2026-01-01T00:00:00Z"},
        "health": {
            "state": "active",
            "lastProbedAt": "2026-01-01T00:00:00Z",
            "lastSuccessAt": "2026-01-01T00:00:00Z",
            "latencyMs": 142,
            "consecutiveFailures": 0,
            "lastError": "",
        },
        "created_at": "2026-01-01T00:00:00Z",
        "updated_at": "2026-01-01T00:00:00Z",
    },
    response_only=True,
)
CAPABILITY_LIST = OpenApiExample(
    "One skill",
    {
        "kind": "a2a.skill",
        "name": "Translate EN-DE",
        "description": "Bidirectional translation between English and German",
        "tags": ["translation", "german", "english"],
        "input_modes": ["text/plain"],
        "output_modes": ["text/plain"],
        "agent_id": "0b6f3c1e-6d3c-4c43-9d0a-5b9f5f1c2a77",
        "agent_name": "Translation Agent",
        "protocol": "a2a",
        "status": "active",
        "spec_version": "1.0",
        "provider_org": "Acme",
        "provider_url": "https://acme.example",
        "health_state": "active",
        "latency_ms": 142,
    },
    response_only=True,
)
CAPABILITY_DETAIL = OpenApiExample(
    "A skill and the agents that offer it",
    {
        "capability": {"kind": "a2a.skill", "name": "Translate EN-DE"},
        "agents": [
            {
                "id": "0b6f3c1e-6d3c-4c43-9d0a-5b9f5f1c2a77",
                "display_name": "Translation Agent",
                "protocol": "a2a",
                "provider": {
                    "organization": "Acme",
                    "team": "",
                    "url": "https://acme.example",
                },
                "health": {
                    "state": "active",
                    "lastProbedAt": "2026-01-01T00:00:00Z",
                    "lastSuccessAt": "2026-01-01T00:00:00Z",
                    "latencyMs": 142,
                    "consecutiveFailures": 0,
                    "lastError": "",
                },
                "spec_version": "1.0",
                "status": "active",
                "capability_snippet": {
                    "kind": "a2a.skill",
                    "name": "Translate EN-DE",
                    "description": "Bidirectional translation",
                    "tags": ["translation", "german", "english"],
                    "inputModes": ["text/plain"],
                    "outputModes": ["text/plain"],
                },
            }
        ],
    },
    response_only=True,
)

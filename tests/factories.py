"""Factories for valid objects and A2A cards; tests override what they are about."""

import json

import factory
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group

from catalog.models import (
    AgentType,
    Capability,
    CatalogEntry,
    Provider,
    Source,
    Status,
    compute_agent_key,
)
from catalog.search.indexer import index_entries


class UserFactory(factory.django.DjangoModelFactory):
    class Meta:
        model = get_user_model()
        skip_postgeneration_save = True

    username = factory.Sequence(lambda n: f"user{n}")

    @factory.post_generation
    def role(self, create, name):
        if name:
            self.groups.add(Group.objects.get(name=name))


class ProviderFactory(factory.django.DjangoModelFactory):
    class Meta:
        model = Provider

    organization = factory.Sequence(lambda n: f"Organization {n}")
    url = "https://organization.example"


class AgentTypeFactory(factory.django.DjangoModelFactory):
    class Meta:
        model = AgentType

    protocol = "a2a"
    endpoint = factory.Sequence(lambda n: f"https://agent{n}.example.com/a2a")
    version = "1.0.0"
    spec_version = "1.0"
    agent_key = factory.LazyAttribute(
        lambda o: compute_agent_key(o.protocol, o.endpoint)
    )
    provider = factory.SubFactory(ProviderFactory)
    raw_definition = factory.LazyAttribute(
        lambda o: json.dumps(card(url=o.endpoint)).encode()
    )


class CapabilityFactory(factory.django.DjangoModelFactory):
    class Meta:
        model = Capability

    agent_type = factory.SubFactory(AgentTypeFactory)
    kind = "a2a.skill"
    name = factory.Sequence(lambda n: f"Skill {n}")
    properties = factory.LazyAttribute(
        lambda o: {"tags": []} if o.kind == "a2a.skill" else {}
    )


class CatalogEntryFactory(factory.django.DjangoModelFactory):
    class Meta:
        model = CatalogEntry
        skip_postgeneration_save = True

    agent_type = factory.SubFactory(AgentTypeFactory)
    agent_key = factory.SelfAttribute("agent_type.agent_key")
    display_name = factory.Sequence(lambda n: f"Agent {n}")
    status = Status.ACTIVE
    source = Source.PUSH

    @factory.post_generation
    def offers(self, create, kinds):
        """Add a capability of each of these kinds and index the entry."""
        for kind in kinds or []:
            CapabilityFactory(agent_type=self.agent_type, kind=kind)
        index_entries(CatalogEntry.objects.filter(pk=self.pk))


def add_capability(
    entry: CatalogEntry, name: str, kind: str = "a2a.skill", **fields
) -> Capability:
    """Add a capability to the agent of the entry and to the search index."""
    capability = CapabilityFactory(
        agent_type=entry.agent_type, kind=kind, name=name, **fields
    )
    index_entries(CatalogEntry.objects.filter(pk=entry.pk))
    return capability


def skill(name="Translate text", **members):
    return {
        "id": name.lower().replace(" ", "-"),
        "name": name,
        "description": f"{name} quickly",
        "tags": ["demo"],
    } | members


def card(url="https://translator.example.com/a2a", skills=None, **members):
    """Build a valid A2A 1.0 card with these members overridden."""
    return {
        "name": "Translator",
        "description": "Translates",
        "version": "1.0.0",
        "supportedInterfaces": [
            {"url": url, "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}
        ],
        "provider": {"organization": "Acme", "url": "https://acme.example"},
        "capabilities": {"streaming": True},
        "defaultInputModes": ["text/plain"],
        "defaultOutputModes": ["text/plain"],
        "skills": [skill()] if skills is None else skills,
    } | members


def card_bytes(**members) -> bytes:
    return json.dumps(card(**members)).encode()

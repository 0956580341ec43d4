"""A secret that Prefect's worker writes to a disk is named, and nothing else is."""

import pytest

from config.env_files import secrets_among
from config.settings import LocalSettings, ServiceSettings
from flows.engine.worker_files import written_down

BY_A_WORKER = {"PREFECT__WORKER_NAME": "one", "PREFECT__FLOW_ENTRYPOINT": "flows.campaign"}
SECRET = {"ASSESSMENT_CLIENT_SECRET": "hush-hush"}


def test_every_setting_that_is_kept_secret_is_among_them() -> None:
    """What is never shown here is nothing for a file of somebody else's either."""
    secret = {
        field.alias
        for kind in (ServiceSettings, LocalSettings)
        for field in kind.model_fields.values()
        if "SecretStr" in repr(field.annotation)
    }
    assert len(secret) == 2
    assert set(secrets_among(dict.fromkeys(secret, "hush-hush"))) == secret


@pytest.mark.parametrize(
    ("name", "said", "secret"),
    [
        ("CAMPAIGN_DATABASE_URL", "postgresql://hiring:hush@db.example.com/hiring", True),
        ("CAMPAIGN_DATABASE_URL", "postgresql://hiring@db.example.com/hiring", False),
        ("CAMPAIGN_DATABASE_URL", "sqlite:///data/campaigns.db", False),
        ("CAMPAIGN_DATABASE_URL", "postgresql://[hush", True),
        ("assessment_client_secret", "hush", True),
        ("ASSESSMENT_CLIENT_SECRET", "", False),
        ("ASSESSMENT_CLIENT_ID", "client", False),
        ("PATH", "/usr/bin", False),
    ],
)
def test_an_address_is_secret_by_its_password(name: str, said: str, secret: bool) -> None:
    """Of the ledger's address only the password is; what cannot be read may hold one."""
    assert secrets_among({name: said}) == ([name.upper()] if secret else [])


@pytest.mark.parametrize(
    ("environment", "told"),
    [
        (BY_A_WORKER | SECRET, True),
        (BY_A_WORKER, False),
        (SECRET, False),
        (SECRET | {"PREFECT__FLOW_ENTRYPOINT": "flows.campaign"}, False),
        (SECRET | {"PREFECT__WORKER_NAME": "one"}, False),
    ],
)
def test_a_run_tells_what_its_worker_wrote_down(environment: dict[str, str], told: bool) -> None:
    """By name, with what to type; nothing where it was typed, served, or has no secret to lose."""
    said = written_down(environment)
    assert (said is not None) is told
    if said:
        assert "ASSESSMENT_CLIENT_SECRET was written" in said and "chmod 600" in said
        assert "hush" not in said

"""Promises 42 to 49: schedules, pages, forms and notices in Prefect, and whom it listens to."""

import re
import shutil
import time
from base64 import b64encode
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import psutil
import pytest

from sandbox.faults import ALWAYS, bad_row, late, lost
from tests.promises.support.commands import WHO, Campaign
from tests.promises.support.service import Service
from tests.promises.support.up import Up
from tests.promises.support.web import Hook, Quiet, serving, telling

Sandbox = Callable[..., Service]
slow = [pytest.mark.slow, pytest.mark.timeout(900), pytest.mark.xdist_group("up")]


class Installation:
    """One `campaign up` for the promises of this module, with its service, home and team."""

    def __init__(self, place: Path, hook: Hook) -> None:
        self.service = Service(place / "service")
        self.campaign = Campaign(place, lambda: "")
        self.campaign.environment.update(self.service.settings)
        self.hook = hook
        self.up = Up(self.campaign, CAMPAIGN_NOTIFY_URL=hook.url)

    def unsure(self, key: str) -> list[str]:
        return [email for email, state in self.campaign.states(key).items() if state == "unsure"]


@pytest.fixture(scope="module")
def at_work(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    with telling() as hook:
        installation = Installation(tmp_path_factory.mktemp("up"), hook)
        try:
            with installation.up:
                yield installation
        finally:
            installation.campaign.close()
            installation.service.close()


def people(key: str, number: int = 3) -> list[dict[str, str]]:
    """People of one campaign alone, with names that stand nowhere else."""
    return [
        {
            "first_name": f"Adalbertine{chr(97 + n)}",
            "last_name": f"Lovelacesson{key}",
            "email1": f"{chr(97 + n)}.dalbertine@{key}.test",
        }
        for n in range(number)
    ]


class Test_under_up:
    pytestmark = slow

    def test_42_a_folder_its_schedules_and_manual_runs_are_in_prefect(
        self, at_work: Installation
    ) -> None:
        """As deployments, runs, states and pages."""
        up, service = at_work.up, at_work.service
        up.put("daily", people=people("daily"), schedule={"cron": "0 9 * * *"})
        up.put("folder", people=people("folder"), problem=43, in_a_table=True)
        run = up.ended("folder")
        assert run["state_type"] == "COMPLETED", run["state"]
        assert {one["email1"] for one in people("folder")} <= {*service.invited()}
        daily = up.until(lambda: up.deployments().get("daily"))
        (schedule,) = daily["schedules"]
        assert (schedule["active"], schedule["schedule"]["cron"]) == (True, "0 9 * * *")
        assert "folder" in up.page("folder")

        typed = at_work.campaign.start(
            "run",
            "daily.yaml",
            "--yes",
            PREFECT_API_URL=f"{up.url}/api",
            PREFECT_API_AUTH_STRING=up.login,
        )
        assert typed.end().code == 0
        assert up.ended("daily")["state_type"] == "COMPLETED"

    def test_44_a_situation_is_told_once_however_many_runs_meet_it(
        self, at_work: Installation
    ) -> None:
        """Nor is it lost while the address is away; what goes on by itself is not told."""
        up, hook, service = at_work.up, at_work.hook, at_work.service
        up.put("calm", people=people("calm"), problem=61)
        up.ended("calm")
        hook.refuses = ""
        service.faults["invite"] = lost(2)
        up.put("doubtful", people=people("doubtful"), problem=57)
        up.ended("doubtful")
        assert len(at_work.unsure("doubtful")) == 1
        up.until(lambda: hook.refused)
        hook.refuses = None
        up.until(lambda: hook.about("doubtful"))
        for times in (2, 3):
            up.start(up.deployments()["doubtful"])
            up.ended("doubtful", times)
        service.faults["invite"] = lost(1)
        up.put("later", people=people("later"), problem=78)
        up.until(lambda: hook.about("later"))  # so whatever there was to tell has been told
        assert len(hook.about("doubtful")) == len(hook.about("later")) == 1
        assert hook.about("calm") == []
        assert "dalbertine" not in " ".join(hook.told)

    def test_45_plans_are_decided_by_forms(self, at_work: Installation) -> None:
        up, service = at_work.up, at_work.service
        up.put("asked", people=people("asked"), invites={"approval": "required"})
        up.ended("asked")
        addresses = {one["email1"] for one in people("asked")}
        assert not addresses & {*service.invited()}
        (code,) = {*re.findall(r"\b[0-9a-f]{16}\b", up.page("asked"))}
        form = up.deployments()["approve"]
        up.start(form, campaign="asked", plan=code, answer="approve", who=WHO)
        up.until(lambda: addresses <= {*service.invited()})

    def test_45_doubts_are_decided_by_forms(self, at_work: Installation) -> None:
        """What the forms decide is in the ledger, with who and why, as if it had been typed."""
        up, service = at_work.up, at_work.service
        service.faults["invite"] = lost(2)
        up.put("settled", people=people("settled"), problem=43)
        up.ended("settled")
        (unsure,) = at_work.unsure("settled")
        (number,) = re.findall(r"(?m)^\| (\d+) \| invite ", up.page("settled"))
        form, why = up.deployments()["settle"], "she rang me about it"
        assert f"/deployments/deployment/{form['id']}/run" in up.page("settled")
        words = {"campaign": "settled", "number": int(number), "verdict": "sent"}
        up.start(form, **words, who=WHO, why=why)
        up.ended("settled", 2)  # the run that the verdict begins
        assert not at_work.unsure("settled")
        told = at_work.campaign("history", "settled", unsure).out
        assert why in told
        assert service.emails_to(unsure) == 1

    def test_46_no_name_address_secret_or_reason_is_in_prefect(self, at_work: Installation) -> None:
        """(S) After runs with refusals, doubts, decisions and forms: every row of every table."""
        up, service = at_work.up, at_work.service
        service.faults["invite"] = lost(1)
        service.faults["add"] = bad_row("b.dalbertine@secrets.test")
        up.put("secrets", people=people("secrets"), problem=61)
        up.ended("secrets")
        settled = at_work.campaign(
            *("settle", "secrets", "--sent", *at_work.unsure("secrets")),
            *("--why", "he told me in confidence"),
        )
        assert settled.code == 0, settled.said
        up.start(up.deployments()["secrets"])
        up.ended("secrets", 2)
        rows = {table: repr(rows) for table, rows in up.tables.items()}
        assert "secrets" in rows["flow_run"]
        words = ("dalbertine", "Lovelacesson", "sandbox-secret", "hook-of-the-team", "access_token")
        reasons = ("in confidence", "rang me", "Bearer ", up.login.partition(":")[2])
        found = {
            (w, table) for table, text in rows.items() for w in (*words, *reasons) if w in text
        }
        assert found == set()

    def test_47_neither_a_foreign_page_nor_another_user_reaches_the_server(
        self, at_work: Installation
    ) -> None:
        """Without the login, without the token against foreign pages, from another origin: no."""
        up, anybody = at_work.up, httpx.Client(base_url=f"{at_work.up.url}/api", timeout=120)
        login = tuple(up.login.split(":"))
        evil = {"Origin": "https://evil.test"}
        with anybody:
            for path in ("/admin/settings", "/flows/filter", "/deployments/filter", "/logs/filter"):
                assert anybody.post(path, json={}).status_code in (401, 403)
                answer = anybody.post(path, json={}, auth=login, headers=evil)
                assert answer.status_code in (403, 405), (path, answer)
                asked = {"Access-Control-Request-Method": "POST"}
                preflight = anybody.options(path, headers=evil | asked)
                allowed = [answer.headers, preflight.headers]
                assert not any(
                    h.get("access-control-allow-origin") in ("*", *evil.values()) for h in allowed
                )
            rebound = anybody.post(
                "/flows/filter", json={}, auth=login, headers={"Host": "evil.test"}
            )
            assert not rebound.is_success
        password = up.login.partition(":")[2]
        assert not [
            p for p in psutil.process_iter(["cmdline"]) if password in str(p.info["cmdline"])
        ]
        files = [p for p in at_work.campaign.home.rglob("*") if p.is_file()]
        kept = [p for p in files if password.encode() in p.read_bytes()]
        kept += [p for p in (at_work.campaign.home / "prefect").iterdir() if p.is_file()]
        assert not [path for path in kept if path.stat().st_mode & 0o077]

    def test_53_the_list_of_runs_and_an_event_say_what_is_wanted(
        self, at_work: Installation
    ) -> None:
        """Each in its own place: a name, a tag, a link, and what an automation hears."""
        up = at_work.up
        up.put("idle", people=people("idle"), schedule={"cron": "0 9 * * *"})
        idle = up.until(lambda: up.deployments().get("idle"))
        up.until(lambda: {run["name"][:7] for run in up.runs("idle")} == {"idle 20"})
        pauses = {"type": "pause-deployment", "source": "selected", "deployment_id": idle["id"]}
        hears = {"type": "event", "expect": ["campaign.waiting-for-approval"]}
        often = {"posture": "Reactive", "threshold": 1, "within": 0}
        heard = {"name": "asks", "trigger": hears | often, "actions": [pauses]}
        up.ask("POST", "automations/", heard)
        up.put("wanted", people=people("wanted"), invites={"approval": "required"})
        run = up.ended("wanted")
        assert run["name"].startswith("wanted 20")
        up.until(lambda: "approve" in up.ended("wanted")["tags"])  # a busy server takes it later
        up.until(lambda: up.deployments()["idle"]["paused"])
        logs = {"logs": {"flow_run_id": {"any_": [run["id"]]}}}
        link = f"{up.url}/artifacts/artifact/"  # which its page shows as a link
        up.until(lambda: link in str(up.ask("POST", "logs/filter", logs)))  # they come in batches
        (event,) = up.until(lambda: up.events("wanted"))
        assert event["payload"]["counts"]["candidates"] == 3
        assert "dalbertine" not in str(event)
        assert "(/artifacts/key/campaign-wanted)" in up.deployments()["wanted"]["description"]
        (page,) = up.ask(
            "POST", "artifacts/latest/filter", {"artifacts": {"key": {"any_": ["campaign-wanted"]}}}
        )
        assert page["description"].startswith("waiting for approval: 0 of 3")
        form = f"/deployments/deployment/{up.deployments()['approve']['id']}/run?parameters="
        assert form in page["data"]

    def test_48_an_idle_installation_writes_nothing_into_prefect(
        self, at_work: Installation
    ) -> None:
        """Not a row in any table, however long nothing happens."""
        up = at_work.up
        up.until(lambda: _stands_still(up))


def _counts(up: Up) -> dict[str, int]:
    return {table: len(rows) for table, rows in up.tables.items()}


def _stands_still(up: Up) -> bool:
    """Whether no run is at work and no row comes while three looks are taken."""
    states = {"PENDING", "RUNNING"}
    runs = up.ask("POST", "flow_runs/filter", {"limit": 200})
    if any(run["state_type"] in states for run in runs):
        return False
    before = _counts(up)
    time.sleep(30)  # nothing is what is waited for
    return _counts(up) == before


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_43_after_kill_9_of_everything_the_campaign_goes_on_by_itself(
    campaign: Campaign, sandbox: Sandbox
) -> None:
    """After the next start of `up`; at most what was in flight is unsure, and nobody is twice."""
    service = sandbox(invite=late(300.0, at=13, times=ALWAYS))
    with Up(campaign) as up:
        up.put("hiring", people=80)
        up.until(lambda: service.arrived("invite", 20))
        up.kill()
    before = len(service.entries("invite"))
    assert before < 80
    service.faults["invite"] = None
    with Up(campaign) as up:
        up.until(lambda: set(campaign.states().values()) <= {"done", "unsure"})
        unsure = [*campaign.states().values()].count("unsure")
    assert unsure <= 8  # whether each of them had arrived when all was killed or not
    assert 80 - unsure <= len(service.entries("invite")) <= 80
    assert not service.twice()


def test_46_nor_is_the_login_in_what_a_run_logs(campaign: Campaign, sandbox: Sandbox) -> None:
    sandbox()
    campaign.write(people=1)
    level = ("ROOT_LEVEL", "LEVEL", "HANDLERS_CONSOLE_LEVEL")
    debug = {f"PREFECT_LOGGING_{each}": "DEBUG" for each in level}
    ran = campaign("run", "hiring.yaml", "--yes", PREFECT_API_URL="", **debug)
    assert (ran.code, "DEBUG" in ran.said) == (0, True)
    login = (campaign.home / "prefect" / "login").read_text()
    encoded = b64encode(login.encode()).decode()
    found = [each for each in (login, encoded) if each in ran.said]
    assert found == []


# -- 49: the folder where a command is typed ---------------------------------------------------

EVIL = """\
from pathlib import Path
Path({marker!r}).touch()
"""
MODULES = "json httpx sitecustomize usercustomize prefect pandas openpyxl config flows typing re"
FILES = {
    ".env": "ASSESSMENT_BASE_URL=http://127.0.0.1:9\nCAMPAIGN_DATABASE_URL=sqlite:///here.db\n"
    "CAMPAIGN_CA_FILE=ca.pem\n",
    "ca.pem": "no certificate",
}


def test_49_nothing_in_the_folder_is_executed_or_believed(
    campaign: Campaign, sandbox: Sandbox
) -> None:
    """No module, no half `.env`, no certificate, no setting of Prefect's."""
    service = sandbox()
    markers = campaign.home / "executed"
    markers.mkdir()
    for module in MODULES.split():
        code = EVIL.format(marker=str(markers / module))
        (campaign.folder / f"{module}.py").write_text(code)
    for name, text in FILES.items():
        (campaign.folder / name).write_text(text)
    campaign.write(people=["ada@people.test"])
    book = Path(__file__).parents[1] / "data" / "sheets" / "merged.xlsx"
    shutil.copy(book, campaign.folder)
    table = {"file": "merged.xlsx", "sheet": "Candidates"}
    written = campaign.write("book", candidates=table, invites={"send": False})
    assert campaign("check", written.name).code == 0
    ran = campaign("run", "hiring.yaml", "--yes")
    assert ran.code == 0, ran.said
    assert campaign("status", "hiring").code == 0
    assert [path.name for path in markers.iterdir()] == []
    assert not (campaign.folder / "here.db").exists()
    assert service.invited() == ["ada@people.test"]

    half = dict.fromkeys(service.settings, "") | {"PREFECT_API_URL": ""}
    without = campaign.start("problems", **half).end()
    assert without.code == 2, without.said
    assert re.search("ASSESSMENT_[A-Z_]+", without.said)


SETTINGS = {
    ".env": """\
PREFECT_SERVER_DATABASE_CONNECTION_URL=sqlite+aiosqlite:///{place}/planted.db
PREFECT_LOGGING_CONFIG_PATH={place}/logging.yml
PREFECT_PROFILES_PATH={place}/profiles.toml
PREFECT_API_URL={address}/api
""",
    "prefect.toml": """\
[api]
url = "{address}/api"
[client]
custom_headers = {{Host = "planted.test"}}
[results]
persist_by_default = true
local_storage_path = "{place}/results"
[runner.server]
enable = true
""",
    "pyproject.toml": """\
[tool.prefect.server.ui]
static_directory = "{place}/pages"
""",
}
THERE = {
    "logging.yml": "version: 1\nhandlers: {{x: {{(): os.mkdir, path: {place}/executed}}}}\n",
    "profiles.toml": 'active = "x"\n[profiles.x]\nPREFECT_API_URL = "{address}/api"\n',
}


class Planted:
    """Every kind of setting of Prefect's, in the folder; `effects` has what came of them."""

    def __init__(self, campaign: Campaign, host: str) -> None:
        self.heard: list[str | None] = []  # the hosts for which its address was asked
        self.host = host
        self._place = campaign.home / "planted"
        self._place.mkdir()
        words = {"place": self._place, "address": f"http://{host}"}
        for place, files in ((campaign.folder, SETTINGS), (self._place, THERE)):
            for name, text in files.items():
                (place / name).write_text(text.format(**words))

    @property
    def effects(self) -> list[str]:
        return [*{path.name for path in self._place.iterdir()} - {*THERE}, *map(str, self.heard)]


@pytest.fixture
def planted(campaign: Campaign) -> Iterator[Planted]:
    class Hears(Quiet):
        def do_GET(self) -> None:
            there.heard.append(self.headers["Host"])
            self.answer()

        do_POST = do_GET

    with serving(Hears) as port:
        there = Planted(campaign, f"127.0.0.1:{port}")
        yield there


def test_49_no_setting_of_prefects_in_the_folder_is_believed(
    campaign: Campaign, sandbox: Sandbox, planted: Planted
) -> None:
    """By a run with a server of its own, and by doctor; what the environment says is."""
    service = sandbox()
    campaign.write(people=["ada@people.test"])
    ran = campaign("run", "hiring.yaml", "--yes", PREFECT_API_URL="")
    asked = campaign("doctor")
    assert planted.effects == []
    assert (ran.code, asked.code) == (0, 0), ran.said + asked.said
    assert service.invited() == ["ada@people.test"]
    assert campaign("doctor", PREFECT_API_URL=f"http://{planted.host}/api").code == 0
    assert {*planted.heard} == {planted.host}


@pytest.mark.timeout(900)
def test_49_nor_by_up_its_server_its_worker_and_its_runs(
    campaign: Campaign, sandbox: Sandbox, planted: Planted
) -> None:
    service = sandbox()
    campaign.write(people=["ada@people.test"])
    with Up(campaign) as up:
        assert up.ended("hiring")["state_type"] == "COMPLETED"
        assert planted.effects == []
    assert service.invited() == ["ada@people.test"]

"""Prefect with a task for each candidate, retries and cached inputs. FILE IN_FLIGHT

What was done once is not done again by a rerun: its result is found by its inputs.
"""

import sys
from typing import Any

import calls
import httpx
from prefect import flow, task
from prefect.cache_policies import INPUTS
from prefect.task_runners import ThreadPoolTaskRunner

service = httpx.Client(**calls.SETTINGS)


def ask(call: calls.Call) -> httpx.Response:
    return service.request(**call).raise_for_status()


@task(retries=3, retry_delay_seconds=1, cache_policy=INPUTS, persist_result=True)
def create_project(name: str) -> int:
    project: int = ask(calls.PROJECT).json()["id"]
    ask(calls.problem(project))
    return project


@task(retries=3, retry_delay_seconds=1, cache_policy=INPUTS, persist_result=True)
def add(project: int, rows: list[dict[str, Any]]) -> list[int]:
    return calls.ids(ask(calls.add(project, rows)).json())


@task(retries=3, retry_delay_seconds=1, cache_policy=INPUTS, persist_result=True)
def invite(project: int, candidate: int) -> None:
    ask(calls.invite(project, candidate))


@flow(task_runner=ThreadPoolTaskRunner(max_workers=int(sys.argv[2])))
def campaign(file: str) -> None:
    service.headers.update(calls.bearer(ask(calls.TOKEN).json()))
    ask(calls.PROBLEMS)
    project = create_project("Engineers")
    everybody = [one for chunk in calls.chunks(file) for one in add(project, chunk)]
    invite.map(project, everybody).result()


if __name__ == "__main__":
    with service:
        campaign(sys.argv[1])

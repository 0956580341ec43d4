"""The script that people write first: one request after the other, no memory. FILE"""

import sys

import calls
import httpx

with httpx.Client(**calls.SETTINGS) as service:

    def ask(call: calls.Call) -> httpx.Response:
        return service.request(**call).raise_for_status()

    service.headers.update(calls.bearer(ask(calls.TOKEN).json()))
    ask(calls.PROBLEMS)
    project = ask(calls.PROJECT).json()["id"]
    ask(calls.problem(project))
    for chunk in calls.chunks(sys.argv[1]):
        for candidate in calls.ids(ask(calls.add(project, chunk)).json()):
            ask(calls.invite(project, candidate))

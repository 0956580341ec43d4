"""What `campaign up` deploys is what prefect.yaml says."""

from importlib import import_module
from pathlib import Path

from ruamel.yaml import YAML

from flows import deployments

WRITTEN = Path(deployments.__file__).parents[1] / "prefect.yaml"


def test_prefect_yaml_says_what_up_deploys() -> None:
    written = YAML(typ="safe").load(WRITTEN)
    said = {}
    for each in written["deployments"]:
        module, _, name = each["entrypoint"].rpartition(".")
        said[each["name"]] = getattr(import_module(module), name)
        pool = each["work_pool"]
        assert (pool["name"], pool["job_variables"]) == (deployments.POOL, deployments.JOB)
    assert said == deployments.FOR_EVERYBODY
    assert written["pull"] == []  # a folder of whoever deployed is nowhere else

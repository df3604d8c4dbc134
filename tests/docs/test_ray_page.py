"""docs/ray.md: its files are what Ray and KubeRay take."""

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import yaml

from agentmut.project.schema import ExecutionSettings

PAGE = Path(__file__).parents[2] / "docs" / "ray.md"


def blocks() -> list[Any]:
    parts = PAGE.read_text("utf-8").split("```yaml\n")[1:]
    return [yaml.safe_load(part.split("```")[0]) for part in parts]


def test_the_section_of_the_project_file_is_taken() -> None:
    execution = ExecutionSettings.model_validate(blocks()[0]["execution"])
    assert (execution.engine, execution.concurrency, execution.cpus) == ("ray", 256, 0.5)


def test_the_file_for_plain_machines_fits_the_schema_of_ray() -> None:
    spec = find_spec("ray")
    if spec is None or spec.origin is None:
        pytest.skip("needs the extra `ray`")
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads((Path(spec.origin).parent / "autoscaler" / "ray-schema.json").read_text("utf-8"))
    jsonschema.validate(blocks()[1], schema)


def test_the_manifest_of_kuberay_has_the_fields_that_its_definition_requires() -> None:
    manifest = blocks()[2]
    assert (manifest["apiVersion"], manifest["kind"]) == ("ray.io/v1", "RayCluster")
    head, workers = manifest["spec"]["headGroupSpec"], manifest["spec"]["workerGroupSpecs"]
    assert {"template", "rayStartParams"} <= set(head)
    for group in workers:
        assert {"groupName", "template", "rayStartParams"} <= set(group)
        assert group["minReplicas"] <= group["replicas"] <= group["maxReplicas"]
    for group in (head, *workers):
        assert all(isinstance(value, str) for value in group["rayStartParams"].values())
        for container in group["template"]["spec"]["containers"]:
            assert {"name", "image", "resources"} <= set(container)
            assert container["resources"]["requests"] == container["resources"]["limits"]

"""docs/ray.md: its files are what Ray and KubeRay take."""

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from agentmut.project.schema import ExecutionSettings

PAGE = Path(__file__).parents[2] / "docs" / "ray.md"


def yaml_blocks() -> list[str]:
    return [part.split("```")[0] for part in PAGE.read_text("utf-8").split("```yaml\n")[1:]]


def blocks() -> list[Any]:
    return [yaml.safe_load(block) for block in yaml_blocks()]


def test_the_section_of_the_project_file_is_taken() -> None:
    execution = ExecutionSettings.model_validate(blocks()[0]["execution"])
    assert (execution.engine, execution.concurrency, execution.cpus) == ("ray", 256, 0.5)


def test_the_file_for_plain_machines_fits_the_schema_of_ray() -> None:
    spec = find_spec("ray")
    if spec is None or spec.origin is None:
        pytest.skip("needs the extra `ray`")
    schema = json.loads((Path(spec.origin).parent / "autoscaler" / "ray-schema.json").read_text("utf-8"))
    jsonschema.validate(blocks()[1], schema)


TEXTS = {"type": "object", "additionalProperties": {"type": "string"}}
GROUP = {"rayStartParams": TEXTS, "template": {"type": "object"}}
COUNT = {"type": "integer", "minimum": 0}
HEAD = {
    **GROUP,
    "serviceType": {"type": "string"},
    "headService": {"type": "object"},
    "enableIngress": {"type": "boolean"},
}
WORKERS = {
    **GROUP,
    "groupName": {"type": "string"},
    **dict.fromkeys(("replicas", "minReplicas", "maxReplicas", "numOfHosts"), COUNT),
    "scaleStrategy": {"type": "object"},
}
SPEC = {
    "headGroupSpec": {"properties": HEAD, "required": list(GROUP), "additionalProperties": False},
    "workerGroupSpecs": {
        "type": "array",
        "items": {
            "properties": WORKERS,
            "required": [*GROUP, "groupName", "minReplicas", "maxReplicas"],
            "additionalProperties": False,
        },
    },
    "rayVersion": {"type": "string"},
    "enableInTreeAutoscaling": {"type": "boolean"},
    "autoscalerOptions": {"type": "object"},
    "headServiceAnnotations": TEXTS,
    "suspend": {"type": "boolean"},
}
CLUSTER = {
    "properties": {
        "apiVersion": {"const": "ray.io/v1"},
        "kind": {"const": "RayCluster"},
        "metadata": {"type": "object", "required": ["name"]},
        "spec": {"properties": SPEC, "required": ["headGroupSpec"], "additionalProperties": False},
    },
    "required": ["apiVersion", "kind", "metadata", "spec"],
    "additionalProperties": False,
}
"""The fields of a RayCluster, as `raycluster_types.go` of KubeRay's API `ray.io/v1` declares them."""


def groups(manifest: Any) -> list[Any]:
    return [manifest["spec"]["headGroupSpec"], *manifest["spec"]["workerGroupSpecs"]]


def check_manifest(manifest: Any) -> None:
    jsonschema.validate(manifest, CLUSTER)
    kubernetes = pytest.importorskip("kubernetes_validate")
    for group in groups(manifest):
        pods = {
            "apiVersion": "v1",
            "kind": "PodTemplate",
            "metadata": {"name": "p"},
            "template": group["template"],
        }
        kubernetes.validate(pods, "1.30", strict=True)


def test_the_manifest_of_kuberay_fits_its_fields_and_the_schema_of_kubernetes() -> None:
    manifest = blocks()[2]
    check_manifest(manifest)
    for group in manifest["spec"]["workerGroupSpecs"]:
        assert group["minReplicas"] <= group["replicas"] <= group["maxReplicas"]
    for group in groups(manifest):
        for container in group["template"]["spec"]["containers"]:
            assert container["resources"]["requests"] == container["resources"]["limits"]


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("rayStartParams", "rayStartParam"),
        ("image:", "imag:"),
        ("minReplicas: 0", "minReplicas: none"),
        ('num-cpus: "0"', "num-cpus: 0"),
        ("containers:", "container:"),
    ],
)
def test_a_manifest_with_a_mistake_is_refused(right: str, wrong: str) -> None:
    broken = yaml.safe_load(yaml_blocks()[2].replace(right, wrong, 1))
    with pytest.raises(Exception, match=r"(?s)Failed validating"):
        check_manifest(broken)

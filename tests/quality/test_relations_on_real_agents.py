"""Real agents on the simulator, through the whole check: planted faults are found, the correct one is not flagged."""

import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from agentmut.store.documents.relation_report import Finding
from agentmut.usecases.relations import check_relations

pytestmark = pytest.mark.whole

pytest.importorskip("openai")
DOCUMENTS = Path(__file__).parents[2] / "examples" / "support_desk" / "docs"

AGENT = '''
import openai


def run(config, input):
    """Asks the model once; what is planted in it is FAULT."""
    documents = [document.text for document in config.context]
    messages = [
        {"role": "system", "content": "\\n\\n".join([config.prompt, *documents])},
        {"role": "user", "content": input},
    ]
    reply = CLIENT.chat.completions.create(model=config.model.name, messages=messages, temperature=0.7)
    answer = reply.choices[0].message.content
    if FAULT == "trusts the first document only" and "returned" not in documents[0]:
        answer = "The documents say nothing about that."
    if FAULT == "knows these words only" and "Until when can unused goods be returned?" not in input:
        answer = "I do not know what you mean."
    if FAULT == "short questions only" and len(input) > 50:
        answer = "Goods can be returned within 14 days."
    return answer


CLIENT = openai.OpenAI()
'''
RELATIONS = [
    "permutation.document_order",
    "perturbation.noise",
    "perturbation.irrelevant_context",
    "oracle.no_change",
]
SCENARIO = {
    "name": "return_deadline",
    "input": "Until when can unused goods be returned?",
    "evaluators": [{"contains": "30"}],
}


def findings(folder: Path, fault: str, *relations: str) -> dict[str, Finding]:
    module = f"planted_{abs(hash((str(folder), fault))):x}"
    (folder / f"{module}.py").write_text(f"{AGENT}FAULT = {fault!r}\n")
    shutil.copytree(DOCUMENTS, folder / "docs", dirs_exist_ok=True)
    (folder / "scenarios.yaml").write_text(yaml.safe_dump([SCENARIO]))
    config = {
        "prompt": "You answer customers of Fernhill Outdoor. Say what the documents say.",
        "model": {"provider": "openai", "name": "sim-large"},
        "context": ["docs/refund-policy.md", "docs/shipping-and-warranty.md"],
    }
    project: dict[str, Any] = {
        "version": 1,
        "agent": {"adapter": "python", "run": f"{module}:run", "config": config},
        "suite": {"scenarios": "scenarios.yaml"},
        "relations": {"use": list(relations), "sources": 30, "pairs": 16},
        "statistics": {"seed": 1, "delta": 0.3},
    }
    (folder / "agentmut.yaml").write_text(yaml.safe_dump(project))
    report = check_relations(folder)
    assert report.status == "finished", report.problem
    return {row.relation: row.finding for row in report.rows}


@pytest.fixture(autouse=True)
def on_the_simulator(simulator_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", simulator_url)
    monkeypatch.setenv("OPENAI_API_KEY", "none")


def test_a_correct_agent_is_flagged_by_no_relation(tmp_path: Path) -> None:
    found = findings(tmp_path, "", *RELATIONS)
    assert Finding.FAIL not in found.values(), found


@pytest.mark.parametrize(
    ("fault", "relation"),
    [
        ("trusts the first document only", "permutation.document_order"),
        ("knows these words only", "perturbation.noise"),
        ("short questions only", "perturbation.irrelevant_context"),
    ],
)
def test_a_planted_fault_is_found_by_the_relation_that_speaks_of_it(
    tmp_path: Path, fault: str, relation: str
) -> None:
    found = findings(tmp_path, fault, relation, "oracle.no_change")
    assert found[relation] is Finding.FAIL
    assert found["oracle.no_change"] is not Finding.FAIL

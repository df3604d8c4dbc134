"""Configs that every operator is tried on."""

from agentmut.nouns import AgentConfig, Document, ModelConfig, ToolSpec

SAMPLES: tuple[AgentConfig, ...] = (
    AgentConfig(
        prompt="You are a helpful desk.\n\n# Rules\n\n- Always verify the identity before a refund.\n"
        "- Never promise more than 30 days, unless a manager agrees.\n",
        tools=(
            ToolSpec(
                name="issue_refund",
                description="Refund an order.",
                parameters={
                    "type": "object",
                    "properties": {
                        "order_id": {"type": "string", "description": "Number of the order."},
                        "reason": {"type": "string", "enum": ["broken", "late"]},
                    },
                    "required": ["order_id"],
                },
            ),
            ToolSpec(name="look_up_order", description="Look up an order."),
        ),
        model=ModelConfig(name="large", temperature=0.7, max_tokens=800),
        context=(Document(name="policy.md", text="Refunds take 5 days. Returns are free."),),
        orchestration={"max_steps": 20},
    ),
    AgentConfig(prompt="Answer briefly.\r\nNever guess.\r\n"),
    AgentConfig(  # texts as YAML's `|` gives them: each ends in a line break
        prompt="Find trains. Always say the platform.\nNever sell tickets.\n",
        tools=(
            ToolSpec(
                name="find_trains",
                description="Find trains between two stations.\nAlways give both.\n",
                parameters={
                    "type": "object",
                    "properties": {
                        "start": {"type": "string", "description": "Where to begin.\n"},
                        "hour": {
                            "type": "integer",
                            "description": "Hour of the day.\nAt least 0.\n",
                            "minimum": 0,
                            "maximum": 23,
                        },
                    },
                    "required": ["start"],
                },
            ),
            ToolSpec(name="list_stations", description="List all stations.\n"),
        ),
        context=(
            Document(name="rules.md", text="Dogs travel free.\nBikes cost 6 euros.\n"),
            Document(name="hours.md", text="The desk is open from 8 to 18.\n"),
        ),
    ),
)
"""Configs that every operator is tried on, besides its examples and those given."""

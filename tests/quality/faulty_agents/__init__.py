"""Real agents with one planted fault each, and correct ones beside them, for every metamorphic relation.

The agents are a loop around the OpenAI client that asks the offline simulator over HTTP, with tools of their own. Their
faults stand in their own code, as they do in the wild, and are no copies of what a relation gives as its examples.
"""

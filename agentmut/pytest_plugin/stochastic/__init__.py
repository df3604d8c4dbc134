"""`@pytest.mark.agentmut`: a pytest test that is run until it has shown whether it passes often enough."""

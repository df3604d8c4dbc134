"""The campaign: plan, baseline, controls, kill, classify, score."""

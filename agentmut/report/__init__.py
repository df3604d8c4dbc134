"""Reports, all rendered from result.json."""

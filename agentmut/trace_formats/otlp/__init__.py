"""OTLP/JSON with the attributes of OpenTelemetry's GenAI conventions, Traceloop or OpenInference."""

"""The columns of raw lines in the tables of known shippers."""

from collections.abc import Mapping

PRESETS: Mapping[str, Mapping[str, str]] = {
    "fluent-bit": {
        "message": "log",
        "cluster": "cluster",
        "node": "hostname",
        "file": "file",
        "position": '"offset"',
        "time": '"date"',
    },
    "vector": {
        "message": "message",
        "cluster": "cluster",
        "node": "host",
        "file": "file",
        "position": '"offset"',
        "time": '"timestamp"',
    },
    "kafka-connect": {
        "message": '"value"',
        "cluster": "topic",
        "node": "key",
        "file": "concat('partition-', \"partition\", '.log')",
        "position": '"offset"',
        "time": '"timestamp"',
    },
    "otlp-json": {
        "message": "coalesce(body->>'$.stringValue', body->>'$')",
        "cluster": "coalesce(resource->>'$.\"service.namespace\"', 'otlp')",
        "node": "resource->>'$.\"host.name\"'",
        "file": "coalesce(attributes->>'$.\"log.file.path\"', attributes->>'$.\"log.file.name\"')",
        "position": "coalesce(attributes->>'$.\"log.file.record_offset\"', "
        "attributes->>'$.\"log.file.record_number\"')",
        "time": "coalesce(time_unix_nano, observed_time_unix_nano)",
    },
}
"""For each shipper, the DuckDB SQL expression of each part of a raw line."""

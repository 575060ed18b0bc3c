"""The JSON schema of the configuration file, for editors and documentation.

``python -m usaav.config.schema`` writes ``workflow/schemas/config.schema.json``; with ``--check`` it only
compares. The models are the definition; they also accept what a schema cannot say well, such as numbers in
quotes.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from usaav.config.models import Settings

SCHEMA_FILE = Path("workflow/schemas/config.schema.json")


def schema_text() -> str:
    """The schema as JSON text with sorted keys and a final newline."""
    schema = Settings.model_json_schema()
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["title"] = "Configuration of usaav"
    return json.dumps(schema, indent=1, sort_keys=True) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the schema, or with ``--check`` return 1 if the file differs from it."""
    parser = argparse.ArgumentParser(
        prog="python -m usaav.config.schema", description="Write the configuration's schema."
    )
    parser.add_argument("--check", action="store_true", help="only compare the file with the models")
    parser.add_argument("--file", type=Path, default=SCHEMA_FILE, help=f"default: {SCHEMA_FILE}")
    chosen = parser.parse_args(arguments)
    text = schema_text()
    if not chosen.check:
        chosen.file.parent.mkdir(parents=True, exist_ok=True)
        chosen.file.write_text(text, encoding="utf-8")
        return 0
    if chosen.file.is_file() and chosen.file.read_text(encoding="utf-8") == text:
        return 0
    sys.stderr.write(f"{chosen.file} differs from the models: run python -m usaav.config.schema\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())

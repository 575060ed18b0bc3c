"""The JSON schema follows the models, and the shipped configurations follow the schema."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
import yaml

from usaav.config.schema import main, schema_text

ROOT = Path(__file__).parents[2]


def test_schema_file_is_in_step_with_the_models() -> None:
    assert main(["--check", "--file", str(ROOT / "workflow/schemas/config.schema.json")]) == 0


def test_check_sees_a_difference(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "schema.json"
    assert main(["--check", "--file", str(file)]) == 1
    assert main(["--file", str(file)]) == 0
    assert main(["--check", "--file", str(file)]) == 0
    file.write_text(file.read_text().replace("beta", "betta"))
    assert main(["--check", "--file", str(file)]) == 1
    assert "python -m usaav.config.schema" in capsys.readouterr().err


def test_every_key_is_described() -> None:
    schema = json.loads(schema_text())
    undescribed = [
        f"{model}.{key}"
        for model, entry in schema["$defs"].items()
        for key, field in entry.get("properties", {}).items()
        if "description" not in field and key not in ("type", "law")
    ]
    assert undescribed == []


@pytest.mark.parametrize("name", ["config.yaml", "config/quick.yaml"])
def test_shipped_files_follow_the_schema(name: str) -> None:
    data = json.loads(json.dumps(yaml.safe_load((ROOT / name).read_text())))
    validator = jsonschema.Draft202012Validator(json.loads(schema_text()))
    assert [error.message for error in validator.iter_errors(data)] == []
    data["experiments"]["rope"]["kernel"]["betta"] = 1
    assert list(validator.iter_errors(data))

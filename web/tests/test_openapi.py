"""The description of the API, and whether answers are as it says."""
import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings

import wherry as paddle
from wherry_web import Config, create_app
from wherry_web.openapi import description
from wherry_web.programs import Refused

schemathesis = pytest.importorskip("schemathesis")
from schemathesis.specs.openapi.checks import missing_required_header, positive_data_acceptance  # noqa: E402


def test_the_description_is_valid_and_names_every_route(app):
    document = description("0.1.0")
    for schema in document["components"]["schemas"].values():
        jsonschema.Draft202012Validator.check_schema(schema)
    routes = {rule.rule.replace("<", "{").replace(">", "}") for rule in app.url_map.iter_rules() if rule.rule.startswith("/api/")}
    assert routes - {"/api/openapi.json"} == set(document["paths"])


@pytest.fixture
def server(app, models, tmp_path):
    """With every kind of model, and uploads."""
    paddle.jit.save(paddle.nn.Linear(3, 2), str(models / "net"), input_spec=[paddle.static.InputSpec([None, 3], "float32", "x")])
    (models / "page").mkdir()
    (models / "page" / "manifest.json").write_text('{"wherry": "predict", "title": "A page"}')
    full = create_app(Config(models=models, uploads=tmp_path / "uploads"))
    full.config["COMPRESS_MIN_SIZE"] = 1 << 30  # the client of these tests asks for brotli and does not read it
    return full


@pytest.mark.parametrize("name", [None, "digits", "net"], ids=["any name", "a saved model", "a program"])
@pytest.mark.parametrize("operation", ["health", "listModels", "getModel", "predict"])
def test_answers_are_as_described(server, operation, name):
    schema = schemathesis.openapi.from_wsgi("/api/openapi.json", server)

    @settings(max_examples=60, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(schema.find_operation_by_id(operation).as_strategy())
    def answers(case):
        if name and "name" in case.path_parameters:
            case.path_parameters["name"] = name
        # A request can fit the description and not the model: the shape is the model's business.
        case.call_and_validate(excluded_checks=[positive_data_acceptance])

    answers()


def test_uploads_answer_as_described(server, monkeypatch):
    def refused(prefix, limits):  # no process for each of these
        raise Refused("no program")

    monkeypatch.setattr("wherry_web.uploads.Isolated", refused)
    schema = schemathesis.openapi.from_wsgi("/api/openapi.json", server)

    @settings(max_examples=60, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(schema.find_operation_by_id("upload").as_strategy())
    def answers(case):
        # What is sent is not a model; and a header that is missing says that another site asks.
        case.call_and_validate(excluded_checks=[positive_data_acceptance, missing_required_header])

    answers()

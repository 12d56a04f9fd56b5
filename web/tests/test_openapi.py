"""The description of the API, and whether answers are as it says."""
import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings

from wherry_web.openapi import description

schemathesis = pytest.importorskip("schemathesis")
from schemathesis.specs.openapi.checks import positive_data_acceptance  # noqa: E402


def test_the_description_is_valid_and_names_every_route(app):
    document = description("0.1.0")
    for schema in document["components"]["schemas"].values():
        jsonschema.Draft202012Validator.check_schema(schema)
    routes = {rule.rule.replace("<", "{").replace(">", "}") for rule in app.url_map.iter_rules() if rule.endpoint.startswith("api.")}
    assert routes - {"/api/openapi.json"} == set(document["paths"])


@pytest.mark.parametrize("name", [None, "digits"], ids=["any name", "a saved model"])
@pytest.mark.parametrize("operation", ["health", "listModels", "getModel", "predict"])
def test_answers_are_as_described(app, operation, name):
    schema = schemathesis.openapi.from_wsgi("/api/openapi.json", app)

    @settings(max_examples=60, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(schema.find_operation_by_id(operation).as_strategy())
    def answers(case):
        if name and "name" in case.path_parameters:
            case.path_parameters["name"] = name
        # A request can fit the description and not the model: the shape is the model's business.
        case.call_and_validate(excluded_checks=[positive_data_acceptance])

    answers()

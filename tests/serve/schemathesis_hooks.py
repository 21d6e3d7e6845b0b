"""What schemathesis is told of our server: see test_openapi.py."""

import schemathesis

SERVED = {"source": "en", "target": "fr", "model": None}


def is_valid(case):
    """Whether the case was made to be as documented."""
    return case.meta is not None and case.meta.generation.mode.is_positive


@schemathesis.hook
def before_call(context, case, **kwargs):
    """Of what is as documented, name languages that are served: no schema knows them, and all would end at 400."""
    if is_valid(case) and isinstance(case.body, dict):
        case.body.update({name: value for name, value in SERVED.items() if name in case.body})
        parameters = case.body.get("parameters")
        if isinstance(parameters, dict):
            parameters.update(src_lang="en", tgt_lang="fr")


@schemathesis.check
def what_is_documented_is_taken(context, response, case):
    """Valid data may be refused for what it asks (a limit, a draw with beams), never for its form."""
    if is_valid(case) and response.status_code == 400:
        assert response.json()["code"] != "bad_request", response.json()["error"]

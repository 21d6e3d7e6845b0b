"""Faults of the wire: what each dialect reads and says."""

from . import Fault

FAULTS = [
    Fault(
        "dialects: a form is read as latin-1",
        "serve/dialects/libretranslate.py",
        'parse_qsl(encoded.decode("utf-8")',
        'parse_qsl(encoded.decode("latin-1")',
        tests="tests/serve/test_libretranslate.py -k escaped",
    ),
    Fault(
        "dialects: a form counts over the address",
        "serve/dialects/libretranslate.py",
        "fields.setdefault(name, value)",
        "fields[name] = value",
        tests="tests/serve/test_libretranslate.py -k twice",
    ),
    Fault(
        "dialects: the best translation is among the alternatives",
        "serve/dialects/libretranslate.py",
        "for one in translation.hypotheses[1:]]",
        "for one in translation.hypotheses]",
        tests="tests/serve/test_libretranslate.py -k encodings",
    ),
    Fault(
        "dialects: a number stands for a text",
        "serve/dialects/wire.py",
        "model_validate_json(await request.body(), strict=True)",
        "model_validate_json(await request.body(), strict=False)",
        tests="tests/serve/test_own.py -k one_line",
    ),
    Fault(
        "dialects: a draw needs no do_sample",
        "serve/dialects/huggingface.py",
        "if not draws:",
        "if draws is False:",
        tests="tests/serve/test_huggingface.py -k generates_own",
    ),
    Fault(
        "dialects: max_length counts no start",
        "serve/dialects/huggingface.py",
        "length - 1",
        "length",
        tests="tests/serve/test_huggingface.py -k generates_own",
    ),
    Fault(
        "dialects: a model of any name answers",
        "serve/dialects/huggingface.py",
        "    if name not in service.models:\n        raise",
        "    if name not in service.models:\n        return _first(service)\n        raise",
        tests="tests/serve/test_huggingface.py -k info",
    ),
    Fault(
        "dialects: maps are bytes, as colours are",
        "serve/dialects/own.py",
        'np.ascontiguousarray(array, dtype="<f2")',
        'np.ascontiguousarray(np.round(array * 255) / 255, dtype="<f2")',
        tests="tests/serve/test_own.py -k very_translation",
    ),
    Fault(
        "dialects: a look is of the best, whichever was asked for",
        "serve/dialects/own.py",
        "alternative=body.alternative,",
        "alternative=0,",
        tests="tests/serve/test_own.py -k very_translation",
    ),
    Fault(
        "dialects: a field is not what the document says",
        "serve/dialects/wire.py",
        "From1 = Annotated[int, Field(ge=1), as_whole]",
        "From1 = Annotated[int, as_whole, Field(ge=1)]",
        tests="tests/serve/test_openapi.py -k schemathesis",
    ),
    Fault(
        "page: tools show the head's neighbour",
        "serve/page_api.py",
        "else maps[head]",
        "else maps[head - 1]",
        tests="tests/serve/test_page_api.py -k looks",
    ),
    Fault(
        "page: Gradio logs what a caller sent",
        "serve/page_api.py",
        "gradio.routes.traceback = gradio.queueing.traceback = ",
        "_unused = ",
        tests="tests/serve/test_page_api.py -k not_logged",
    ),
    Fault(
        "handler: a language's tag is not forced",
        "serve/handler.py",
        'settings["forced_bos_token_id"] = self._tag(target)',
        "self._tag(target)",
        tests="tests/serve/test_huggingface.py -k handler",
    ),
]

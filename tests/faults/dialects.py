"""Faults of the wire: what each dialect reads and says."""

from . import Fault

FAULTS = [
    Fault(
        "dialects: a form is read as latin-1",
        "serve/dialects/libretranslate.py",
        'one.decode("utf-8")',
        'one.decode("latin-1")',
        tests="tests/serve/test_libretranslate.py -k escaped",
    ),
    Fault(
        "dialects: a form counts over the address",
        "serve/dialects/libretranslate.py",
        "dict(reversed(pairs))",
        "dict(pairs)",
        tests="tests/serve/test_libretranslate.py -k twice",
    ),
    Fault(
        "dialects: the best translation is among the alternatives",
        "serve/dialects/libretranslate.py",
        "for other in one.hypotheses[1:]]",
        "for other in one.hypotheses]",
        tests="tests/serve/test_libretranslate.py -k encodings",
    ),
    Fault(
        "dialects: a number stands for a text",
        "serve/dialects/bodies.py",
        "ConfigDict(strict=True, ",
        "ConfigDict(strict=False, ",
        tests="tests/serve/test_v1.py -k one_line",
    ),
    Fault(
        "dialects: a draw needs no do_sample",
        "serve/dialects/huggingface.py",
        "if not merged.do_sample:",
        "if merged.do_sample is False:",
        tests="tests/serve/test_huggingface.py -k generates_own",
    ),
    Fault(
        "dialects: max_length counts no start",
        "serve/dialects/huggingface.py",
        "merged.max_length - 1",
        "merged.max_length",
        tests="tests/serve/test_huggingface.py -k generates_own",
    ),
    Fault(
        "dialects: a model of any name answers",
        "serve/service.py",
        "        if model not in self.models:\n",
        "        if model not in self.models:\n            return self.models\n",
        tests="tests/serve/test_huggingface.py -k info",
    ),
    Fault(
        "dialects: a look is of the best, whichever was asked for",
        "serve/dialects/v1.py",
        "alternative=body.alternative,",
        "alternative=0,",
        tests="tests/serve/test_v1.py -k very_translation",
    ),
    Fault(
        "dialects: a field is not what the document says",
        "serve/dialects/bodies.py",
        "From0 = Annotated[int, Field(ge=0), as_whole]",
        "From0 = Annotated[int, as_whole, Field(ge=0)]",
        tests="tests/serve/test_openapi.py -k schemathesis",
    ),
    Fault(
        "dialects: a body is read as FastAPI reads it",
        "serve/dialects/bodies.py",
        "application/octet-stream",
        "application/json",
        tests="tests/serve/test_bodies.py",
    ),
    Fault(
        "page: tools show the head's neighbour",
        "lens/by_words.py",
        "else maps[head],",
        "else maps[head - 1],",
        tests="tests/serve/test_page_api.py -k looks",
    ),
    Fault(
        "page: Gradio logs what a caller sent",
        "serve/ui/gradio_patches.py",
        "gradio.routes.traceback = gradio.queueing.traceback = ",
        "_unused = ",
        tests="tests/serve/ui/test_raw_calls.py -k but_the_type",
    ),
    Fault(
        "handler: a language's tag is not forced",
        "translate/handler.py",
        'settings["forced_bos_token_id"] = self.tags[parameters["tgt_lang"]]',
        "pass",
        tests="tests/serve/test_huggingface.py -k handler",
    ),
    Fault(
        "dialects: a language that is a target only has no name",
        "serve/dialects/libretranslate.py",
        ", *(to for _, to in pairs)])",
        "])",
        tests="tests/serve/test_libretranslate.py -k lists",
    ),
]

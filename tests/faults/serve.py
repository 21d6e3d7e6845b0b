"""Faults of translating, scoring and exporting."""

from . import Fault

FAULTS = [
    Fault(
        "a score counts the language tag",
        "serve/translator.py",
        "given=0 if first is None else 1)\n\n    def _pair",
        "given=0)\n\n    def _pair",
        tests="tests/serve/test_scoring.py -k plain_forward",
    ),
    Fault(
        "a scored translation sees its neighbour's padding",
        "serve/scoring.py",
        "log_probs_BT.double().tolist(), strict=True):\n            counted = row[given : len(targets[index])]",
        "log_probs_BT.double().tolist(), strict=True):\n            counted = row[given:]",
        tests="tests/serve/test_scoring.py -k plain_forward",
    ),
    Fault(
        "serve: a prefix is not forced",
        "serve/torch_engine.py",
        "if step >= len(self.prefix):",
        "if step >= min(1, len(self.prefix)):",
        tests="tests/serve/test_plan.py -k begins",
    ),
    Fault(
        "serve: rows draw from one generator",
        "serve/torch_engine.py",
        "generator=one) for one in self.generators",
        "generator=self.generators[0]) for one in self.generators",
        tests="tests/serve/test_plan.py -k company",
    ),
    Fault(
        "serve: a draw ignores its temperature",
        "serve/torch_engine.py",
        "TemperatureLogitsWarper(float(plan.temperature or 1))",
        "TemperatureLogitsWarper(1.0)",
        tests="tests/serve/test_plan.py -k often",
    ),
    Fault(
        "serve: the score of a draw has its noise in it",
        "serve/torch_engine.py",
        "scores.float().log_softmax(-1).gather(-1, taken_B1)",
        "ranked.float().log_softmax(-1).gather(-1, taken_B1)",
        tests="tests/serve/test_plan.py -k models_own",
    ),
    Fault(
        "serve: an export does not know its weights",
        "serve/export.py",
        'digest.update(hashlib.file_digest(file, "sha256").digest())',
        "pass",
        tests="tests/serve/test_ctranslate2.py -k made_once",
    ),
    Fault(
        "serve: half an export can be met",
        "serve/export.py",
        'scratch / "model").rename(folder)',
        'scratch / "model").joinpath("model.bin").rename(folder)',
        tests="tests/serve/test_ctranslate2.py -k whole",
    ),
    Fault(
        "serve: the length penalty does not reach CTranslate2",
        "serve/ctranslate2_engine.py",
        "length_penalty=plan.length_penalty",
        "length_penalty=1",
        tests="tests/serve/test_ctranslate2.py -k float32",
    ),
    Fault(
        "serve: importing the translator imports torch",
        "serve/translator.py",
        "import unicodedata\n",
        "import torch\nimport unicodedata\n",
        tests="tests/serve/test_ctranslate2.py -k no_torch",
    ),
    Fault(
        "serve: the fast codec reads special tokens",
        "serve/codec.py",
        "self._tokenizer.encode_special_tokens = True",
        "self._tokenizer.encode_special_tokens = False",
        tests="tests/serve/test_ctranslate2.py -k codecs",
    ),
    Fault(
        "serve: CTranslate2's end is always Seq2See's",
        "serve/ctranslate2_engine.py",
        "ids[-1] in self.end",
        "ids[-1] == 2",
        tests="tests/serve/test_ctranslate2.py -k told_apart",
    ),
]

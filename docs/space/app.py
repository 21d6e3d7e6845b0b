"""A Hub Space: the page and the API of a model on the Hub."""

from functools import partial

from seq2see import Translator
from seq2see.serve.server import launch

MODEL = "OWNER/MODEL"

launch({MODEL: partial(Translator.from_pretrained, MODEL)}, host="0.0.0.0", port=7860)

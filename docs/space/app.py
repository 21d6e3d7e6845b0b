"""A Hub Space: the page and the API of a model on the Hub."""

from functools import partial

from seq2see import Translator
from seq2see.serve.server import Server
from seq2see.serve.settings import ServerSettings

MODEL = "OWNER/MODEL"
SITES = ("'self'", "https://huggingface.co", "https://*.hf.space")  # that show the page in a frame

Server({MODEL: partial(Translator.from_pretrained, MODEL)}, host="0.0.0.0", port=7860,
       settings=ServerSettings(frame_ancestors=SITES)).run()

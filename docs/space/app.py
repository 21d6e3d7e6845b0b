"""A Hub Space: the page of a model, the package's own or one on the Hub."""

from seq2see import Translator, page

MODEL = "everyday"  # or OWNER/MODEL

page(Translator.from_pretrained(MODEL)).launch()

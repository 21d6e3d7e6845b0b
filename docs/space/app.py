"""A Hub Space: the page with a packaged model or a model of the Hub."""

from seq2see import Translator, page

MODEL = "everyday"  # or a Hub id

page(Translator.from_pretrained(MODEL)).launch()

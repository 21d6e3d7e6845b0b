"""The tab Translate: a text, its translation, and what Look needs of it."""

from typing import Any

import gradio as gr

from seq2see.serve.dialects.names import NAMES
from seq2see.serve.service import Refusal, Request, Service
from seq2see.serve.ui.asking import refusal
from seq2see.serve.ui.shown import Shown

LONGEST_TEXT = 2_000  # characters; a page of maps is unreadable long before
EXAMPLES = [
    "The cat did not cross the street because it was too tired.",
    "The cat did not cross the street because it was too wide.",
    "The box did not fit in the bag because it was too big.",
    "The box did not fit in the bag because it was too small.",
]


def build_translate(service: Service, shown: gr.JSON) -> None:
    """In a tab; each translation leaves what Look looks into in `shown`."""
    pairs = service.language_pairs
    choices = [f"{NAMES.get(source, source)} → {NAMES.get(target, target)}" for source, target in pairs]
    longest = min(LONGEST_TEXT, service.settings.characters)

    async def translate(text: Any, choice: Any, request: gr.Request) -> tuple[str, dict[str, Any]]:
        if not isinstance(text, str) or not text.strip():
            raise refusal("Type a sentence first.")
        if len(text) > longest:
            raise refusal(f"The text has {len(text):,} characters; this page takes {longest:,} at most.")
        if choices and choice not in choices:
            raise refusal(f"This model does not have that pair of languages; it has {', '.join(choices)}.")
        source, target = pairs[choices.index(choice)] if choices else (None, None)
        asked = Request((text.strip(),), source, target)
        try:
            [result] = await service.translate(asked, caller=service.access.caller(request))
            found = Shown.of(result, model=service.model_for(asked, source, target))
        except Refusal as error:
            raise refusal(error.message) from None
        if not result.hypotheses[0].finished:
            gr.Warning("The translation stopped at the model's limit of length; its end is missing.")
        return result.text, found.plain()

    with gr.Row():
        with gr.Column(min_width=300):
            source = gr.Textbox(label="Text", lines=3, max_length=longest, elem_id="source", autofocus=True,
                                placeholder="Type a sentence, then press Ctrl-Enter")
        with gr.Column(min_width=300):
            target = gr.Textbox(label="Translation", lines=3, interactive=False, elem_id="translation",
                                buttons=["copy"])
    with gr.Row(equal_height=True):
        languages = gr.Dropdown(choices, value=choices[0] if choices else None, label="Languages", min_width=220,
                                interactive=True, visible=bool(choices), scale=1)
        languages.preprocess = lambda choice: choice  # our handler checks it; Gradio would log a traceback
        button = gr.Button("Translate", variant="primary", elem_id="translate", scale=1, min_width=160)
    if not pairs or pairs[0][0] == "en":
        gr.Examples([[text] for text in EXAMPLES], inputs=[source], label="Examples: one word changes what “it” is",
                    api_visibility="private")
    gr.on([button.click, source.submit], translate, [source, languages], [target, shown],
          show_progress="minimal", api_visibility="private", concurrency_limit=2)

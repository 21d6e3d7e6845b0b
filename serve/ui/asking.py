"""How the page's handlers ask the service, and how they say no."""

import gradio as gr


def refusal(message: str) -> gr.Error:
    return gr.Error(message, title="Not translated", print_exception=False, duration=8)

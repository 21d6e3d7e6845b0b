"""The tab Learn: the lessons, where they have been run."""

import gradio as gr


def build_learn() -> None:
    """In a tab."""
    gr.Markdown("The lessons have not been run here.")

"""Two traces or two models beside each other.

Imports data, show and trace.
Begin with `two_models.py`.
"""

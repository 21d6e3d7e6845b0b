"""What heads do: word links, roles, and how faithful their maps are.

Imports data, records and trace.
Begin with `alignment_choice.py`, then `role_scores.py`.
"""

"""Measurements as files beside a model: calibration, trust, the roles of heads; intervals.

Imports nothing of ours.
Begin with `plain_json.py`, then `roles.py`.
"""

"""Serving: HTTP, the APIs of other clients, the page, and engines on Ray."""

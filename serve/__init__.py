"""Serving: HTTP, the dialects of its clients, the page, and engines by Ray."""

"""The page in a browser: its scripts, a folder for each subject, its style, its colours; and what joins them."""

"""The command `translate`: documents, and files of lines.  `part.py` resumes one file on this machine;
`line_shards.py` resumes folders on Ray.

Imports every room but serve.
Begin with `request.py`, then `document_files.py`.
"""
